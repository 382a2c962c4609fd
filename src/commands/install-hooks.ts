import { planInstall } from "../setup/plan";
import { converse } from "./setup";

/** `claude-code-nvim install-hooks`: sets a project up for a Claude CLI outside of Neovim. */
export function installHooks(args: string[]): Promise<number> {
  return converse(args, (given) => planInstall(given.root, given), true);
}
