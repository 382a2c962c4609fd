import { resolve } from "node:path";
import { message } from "../lib/errors";
import { print, printError } from "../lib/output";
import { visibleName } from "../lib/visible";
import { planRemoval, type Removal } from "../uninstall/removal";
import { parseOptions } from "./arguments";
import { isConfirmed } from "./confirm";

const OPTIONS = {
  prefix: { type: "string" },
  claude: { type: "string" },
  yes: { type: "boolean", short: "y" },
  "dry-run": { type: "boolean" },
} as const;
const USAGE = "uninstall [--prefix DIR] [--dry-run] [--yes]";

/**
 * `claude-code-nvim uninstall`: removes what this program, the plugin and install.sh put on the disk,
 * and takes the hooks out of the projects that were set up. Shows it first, and asks unless --yes is
 * given. Returns the exit code: 0 done or nothing to do, 1 declined, or some of it failed.
 */
export async function uninstall(args: string[]): Promise<number> {
  const options = parseOptions(args, OPTIONS, USAGE);
  const prefix = options.prefix === undefined ? undefined : resolve(options.prefix);
  const { removals, notes } = planRemoval({ prefix, claude: options.claude });
  const head = removals.length === 0 ? "Nothing of claude-code.nvim is installed." : "To remove:";
  const lines = [head, ...removals.map(({ what }) => `  ${what}`), ...notes];
  print(`${lines.map(visibleName).join("\n")}\n`);
  if (removals.length === 0 || options["dry-run"]) return 0;
  if (!options.yes && !isConfirmed()) return 1;
  const failed = await removeAll(removals);
  print(failed === 0 ? "Done.\n" : `${failed} of ${removals.length} could not be removed.\n`);
  return failed === 0 ? 0 : 1;
}

/** One that fails does not keep the others. */
async function removeAll(removals: Removal[]): Promise<number> {
  let failed = 0;
  for (const { what, remove } of removals) {
    try {
      await remove();
    } catch (error) {
      failed += 1;
      printError(`${what}: ${message(error)}\n`);
    }
  }
  return failed;
}
