import { isBelow } from "../lib/paths";

/** Claude Code (2.1.330) asks before every edit of these. A nightly test compares the list with the CLI. */
export const CLI_FILES = (
  ".gitconfig .gitmodules .bashrc .bash_profile .zshrc .zprofile .profile .zshenv .zlogin .zlogout .bash_login " +
  ".bash_aliases .bash_logout .envrc .ripgreprc .mcp.json .claude.json .npmrc .yarnrc .yarnrc.yml .pnp.cjs " +
  ".pnp.loader.mjs .pnp.js .pnp.data.json .pnpmfile.cjs bunfig.toml .bunfig.toml .bazelrc .bazelversion .bazeliskrc " +
  ".pre-commit-config.yaml lefthook.yml .lefthook.yml lefthook.yaml .lefthook.yaml gradle-wrapper.properties " +
  "maven-wrapper.properties .devcontainer.json pyrightconfig.json"
).split(" ");
export const CLI_FOLDERS =
  ".git .vscode .idea .claude .husky .cargo .devcontainer .yarn .mvn .config/git".split(" ");
/** Neovim and other programs read their configuration from these, or run them. */
const OTHERS = (
  ".exrc _exrc .nvimrc .nvim.lua .vimrc _vimrc .lvimrc .lazy.lua .neoconf.json .nvim-claude .mise.toml mise.toml " +
  ".direnvrc .ssh"
).split(" ");
const PROTECTED = [...CLI_FILES, ...CLI_FOLDERS, ...OTHERS];

/**
 * Says whether a path contains one of these names below `root`: the project itself may lie in such a folder. Claude's
 * work trees in `.claude/worktrees` do not count.
 */
export function isProtected(path: string, root: string): boolean {
  const below = isBelow(path, root) ? path.slice(root.length) : path;
  const folded = `/${below}/`
    .replaceAll("\\", "/")
    .replace(/\/{2,}/g, "/")
    .toLowerCase();
  // Disks that ignore case take these letters for i and s.
  const text = folded.replaceAll("ı", "i").replaceAll("ſ", "s");
  const named = text.replaceAll(/\/\.claude\/worktrees\/[^/]+(?=\/.)/g, "");
  return PROTECTED.some((name) => named.includes(`/${name}/`));
}
