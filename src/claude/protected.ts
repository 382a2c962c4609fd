import { isBelow } from "../lib/paths";

/**
 * Names, in lower case, that run or configure programs, by themselves or once somebody opens the folder: Claude
 * Code's own editing tools ask about most of them each time. Its work trees are no configuration.
 */
const PROTECTED =
  /\/(\.(git|vscode|idea|husky|devcontainer|nvim-claude|gitconfig|gitmodules|mcp\.json|claude\.json|exrc|nvimrc|nvim\.lua|lazy\.lua|envrc|profile|bashrc|bash_profile|bash_login|zshrc|zprofile|zshenv|ripgreprc)|\.claude(?!\/worktrees\/[^/]+\/))(\/|$)/;

/** A project may itself lie in such a folder: only what is below it counts. */
export function isProtected(path: string, root: string): boolean {
  const below = isBelow(path, root) ? path.slice(root.length) : path;
  return PROTECTED.test(`/${below}`.replaceAll("\\", "/").toLowerCase());
}
