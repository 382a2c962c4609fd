import { converse } from "../settings/dialogue";
import { planUninstall } from "../settings/installation";

/** `claude-code-nvim uninstall-hooks`: takes back what `install-hooks` did in a project. */
export function uninstallHooks(args: string[]): Promise<number> {
  return converse(args, (given) => planUninstall(given.root, given), false);
}
