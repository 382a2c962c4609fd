import { converse } from "../settings/dialogue";
import { planInstall } from "../settings/installation";

/** `claude-code-nvim install-hooks`: sets a project up for a Claude CLI outside of Neovim. */
export function installHooks(args: string[]): Promise<number> {
  return converse(args, (given) => planInstall(given.root, given), true);
}
