/** `scripts/soak`: its head says what it does. */
import { NEOVIMS } from "../../test/support/neovim";
import { BOUNDED, FULL, leftBehind, soak } from "./soak";

const amounts = process.argv.includes("--full") ? FULL : BOUNDED;
let failed = false;
for (const version of NEOVIMS) {
  const result = await soak(version, amounts);
  const left = leftBehind(result);
  failed ||= left.length > 0;
  const names = Object.keys({ ...result.before, ...result.after }).sort();
  const rows = names.map(
    (name) =>
      `  ${name.padEnd(44)}${result.before[name] ?? 0}`.padEnd(58) + (result.after[name] ?? 0),
  );
  // Not console.log: the neovim package takes the console over.
  process.stdout.write(
    [
      `${version.name}: ${JSON.stringify(amounts)} in ${result.seconds.toFixed(0)} s`,
      `${"".padEnd(46)}before      after`,
      ...rows,
      left.length > 0 ? `LEFT BEHIND: ${left.join("; ")}` : "nothing left behind",
      "",
      "",
    ].join("\n"),
  );
}
process.exit(failed ? 1 : 0);
