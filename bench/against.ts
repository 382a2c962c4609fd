import { rmSync } from "node:fs";
import { ROOT, temporaryFolder } from "../test/support/neovim";
import { FIGURES } from "./figures";
import { aligned, amount, ratio } from "./report";
import { type Machine, median, ownSubject, type Scenario } from "./scenario";

interface Pair {
  before: number[];
  now: number[];
}

/**
 * Measures the plugin of another commit and this one in turn, and returns a table with the ratio of each pair. They
 * alternate in going first. Throws an Error with the output of git or the build if the other commit cannot be built.
 */
export async function against(
  ref: string,
  rounds: number,
  machine: Machine,
  scenarios: readonly Scenario[],
): Promise<string> {
  const tree = temporaryFolder();
  try {
    await checkOut(ref, tree);
    const subjects = { before: ownSubject(tree), now: ownSubject(ROOT) };
    const pairs = new Map<string, Pair>();
    for (let round = 0; round < rounds; round++) {
      const order = ["before", "now"] as const;
      for (const scenario of scenarios) {
        for (const side of round % 2 === 0 ? order : order.toReversed()) {
          const name = side === "now" ? side : ref;
          process.stderr.write(`round ${round + 1} of ${rounds}: ${scenario.name}, ${name}\n`);
          const { values } = await scenario.measure(machine, subjects[side]);
          for (const [id, value] of Object.entries(values)) {
            const pair = pairs.get(id) ?? { before: [], now: [] };
            pair[side].push(value);
            pairs.set(id, pair);
          }
        }
      }
    }
    return table(ref, pairs);
  } finally {
    await run(["git", "worktree", "remove", "--force", tree], ROOT).catch(() => {});
    rmSync(tree, { recursive: true, force: true });
  }
}

async function checkOut(ref: string, folder: string): Promise<void> {
  await run(["git", "worktree", "add", "--quiet", "--detach", "--force", folder, ref], ROOT);
  await run(["bun", "install", "--frozen-lockfile", "--silent"], folder);
  await run(["bun", "run", "--silent", "build"], folder);
}

async function run(command: string[], cwd: string): Promise<void> {
  const child = Bun.spawn(command, { cwd, stdout: "ignore", stderr: "pipe" });
  const complaints = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed:\n${complaints}`);
}

/** Leaves out figures that only one of the two has. */
function table(ref: string, pairs: Map<string, Pair>): string {
  const rows = FIGURES.flatMap(({ id, title, unit }) => {
    const { before, now } = pairs.get(id) ?? { before: [], now: [] };
    if (before.length === 0 || before.length !== now.length) return [];
    const ratios = now.map((value, i) => value / (before[i] as number)).sort((a, b) => a - b);
    const [least, most] = [ratio(ratios[0], 1), ratio(ratios.at(-1), 1)];
    const values = [amount(median(before), unit), amount(median(now), unit)];
    return [[title, ...values, ratio(median(ratios), 1), `${least} – ${most}`]];
  });
  return aligned([["figure", ref, "now", "now ÷ before", "of the pairs"], ...rows]);
}
