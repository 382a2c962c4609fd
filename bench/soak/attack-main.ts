/** `scripts/soak --attack`: its head says what it does. */
import { NEOVIMS } from "../../test/support/neovim";
import { attack, table } from "./attack";

const [seconds = "60", given] = process.argv.slice(2);
let failed = false;
for (const version of NEOVIMS) {
  const seed = given ? Number(given) : Math.floor(Math.random() * 1e9);
  const result = await attack(version, Number(seconds), seed);
  failed ||= Object.values(result.kinds).some(({ failures }) => failures.length > 0);
  process.stdout.write(`${version.name}, ${seconds} s\n${table(result).join("\n")}\n\n`);
}
process.exit(failed ? 1 : 0);
