import { isBelow } from "../lib/paths";

/** Names about which the editing tools of Claude Code (2.1.330) ask each time; a nightly test compares them with it. */
export const CLI_FILES = (
  ".gitconfig .gitmodules .bashrc .bash_profile .zshrc .zprofile .profile .zshenv .zlogin .zlogout .bash_login " +
  ".bash_aliases .bash_logout .envrc .ripgreprc .mcp.json .claude.json .npmrc .yarnrc .yarnrc.yml .pnp.cjs " +
  ".pnp.loader.mjs .pnp.js .pnp.data.json .pnpmfile.cjs bunfig.toml .bunfig.toml .bazelrc .bazelversion .bazeliskrc " +
  ".pre-commit-config.yaml lefthook.yml .lefthook.yml lefthook.yaml .lefthook.yaml gradle-wrapper.properties " +
  "maven-wrapper.properties .devcontainer.json pyrightconfig.json"
).split(" ");
export const CLI_FOLDERS =
  ".git .vscode .idea .claude .husky .cargo .devcontainer .yarn .mvn .config/git".split(" ");
/** Files that configure other programs, or that these run; Neovim's own first. */
const OTHERS = (
  ".exrc _exrc .nvimrc .nvim.lua .vimrc _vimrc .lvimrc .lazy.lua .neoconf.json .nvim-claude .mise.toml mise.toml " +
  ".direnvrc .ssh"
).split(" ");
const PROTECTED = [...CLI_FILES, ...CLI_FOLDERS, ...OTHERS];

/**
 * Whether a path contains one of these files or folders. Claude's work trees are not configuration. A
 * project may itself lie in such a folder: only what is below it counts.
 */
export function isProtected(path: string, root: string): boolean {
  const below = isBelow(path, root) ? path.slice(root.length) : path;
  const folded = `/${below}/`
    .replaceAll("\\", "/")
    .replace(/\/{2,}/g, "/")
    .toLowerCase();
  // Some disks take these letters for others.
  const text = folded.replaceAll("ı", "i").replaceAll("ſ", "s");
  const named = text.replaceAll(/\/\.claude\/worktrees\/[^/]+(?=\/.)/g, "");
  return PROTECTED.some((name) => named.includes(`/${name}/`));
}
