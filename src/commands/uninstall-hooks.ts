import { planUninstall } from "../setup/plan";
import { converse } from "./setup";

/** `claude-code-nvim uninstall-hooks`: takes back what `install-hooks` did in a project. */
export function uninstallHooks(args: string[]): Promise<number> {
  return converse(args, (given) => planUninstall(given.root, given), false);
}
