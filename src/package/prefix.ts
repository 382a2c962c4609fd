import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { replace } from "../lib/atomic-write";
import { removeOld, removeOldDrafts } from "../lib/drafts";
import { UserError } from "../lib/errors";
import { contractFile } from "./distribution";
import { helpTags } from "./help-tags";

/** Below a prefix: a Neovim package that is loaded by itself where PREFIX/share is searched. */
const PACK = "share/nvim/site/pack/claude-code.nvim";
export const PLUGIN = `${PACK}/start/claude-code.nvim`;
const MAN_PAGE = "claude-code-nvim.1";
const DOCUMENTS = "share/doc/claude-code-nvim";
/** A checkout, which is no copy that we give away, lacks the second. */
const LEGAL = ["LICENSE", "THIRD-PARTY-NOTICES"];
/** What an installation that was killed leaves, beside executables of 100 MB: plugins. */
const DRAFT_FOLDER = /^\.new-/;
/** It pins downloads; this copy has its executable already. */
const MANIFEST = "lua/claude-code/install/manifest.lua";

export interface Installed {
  executable: string;
  plugin: string;
  manPage: string;
}

/**
 * Lays out executable, plugin and man page below `prefix`; returns the paths of the three. `program` is
 * the executable, `root` has the plugin's files (see findDistribution). Throws UserError, or the system's
 * error.
 */
export function installBelow(prefix: string, program: string, root: string): Installed {
  const executable = join(prefix, "bin", basename(program));
  const plugin = join(prefix, PLUGIN);
  const manPage = join(prefix, "share/man/man1", MAN_PAGE);
  // Everybody may read what is installed, and nobody else may change it, whatever the user's umask.
  process.umask(0o022);
  refuseOthers(plugin);
  removeOldDrafts(join(prefix, "bin"));
  removeOld(join(prefix, PACK), DRAFT_FOLDER);
  copy(program, executable, 0o755);
  replacePlugin(root, plugin, executable, join(prefix, PACK));
  copy(join(root, "doc", MAN_PAGE), manPage, 0o644);
  for (const name of LEGAL) {
    const file = join(root, name);
    if (existsSync(file)) copy(file, join(prefix, DOCUMENTS, name), 0o644);
  }
  return { executable, plugin, manPage };
}

/** The files and folders that `install --prefix` makes, whether they are there or not. */
export function packageFiles(prefix: string): string[] {
  const executable = process.platform === "win32" ? "claude-code-nvim.exe" : "claude-code-nvim";
  const plugin = join(prefix, PLUGIN);
  const isOurs = existsSync(contractFile(plugin)) && !existsSync(join(plugin, ".git"));
  return [
    join(prefix, "bin", executable),
    ...(isOurs ? [join(prefix, PACK)] : []),
    join(prefix, "share/man/man1", MAN_PAGE),
    join(prefix, DOCUMENTS),
  ];
}

/** Another program's folder at our place, or a checkout that somebody works in, stays. */
function refuseOthers(plugin: string): void {
  if (!existsSync(plugin)) return;
  const ours = existsSync(contractFile(plugin));
  if (ours && !existsSync(join(plugin, ".git"))) return;
  const what = ours ? "is a git checkout" : "holds something else";
  throw new UserError(`${plugin} ${what} and was not touched: move it away first`);
}

function copy(from: string, to: string, mode: number): void {
  if (from === to) return;
  mkdirSync(dirname(to), { recursive: true });
  replace(to, (draft) => {
    copyFileSync(from, draft);
    chmodSync(draft, mode);
  });
}

/** As a whole: no file of an older version may stay behind, where Neovim would load it. */
function replacePlugin(root: string, plugin: string, executable: string, work: string): void {
  mkdirSync(dirname(plugin), { recursive: true });
  const draft = mkdtempSync(join(work, ".new-"));
  try {
    const next = join(draft, "claude-code.nvim");
    for (const part of ["lua", "plugin", "doc"]) {
      cpSync(join(root, part), join(next, part), { recursive: true });
    }
    rmSync(join(next, MANIFEST), { force: true });
    rmSync(join(next, "doc", MAN_PAGE), { force: true });
    writeFileSync(join(next, "doc/tags"), helpTags(join(next, "doc")));
    setModes(next);
    linkExecutable(plugin, executable, next);
    exchange(next, plugin, join(draft, "old"));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Puts `next` in the place of `plugin`, which goes to `old`, or stays where it is if that fails. */
function exchange(next: string, plugin: string, old: string): void {
  if (existsSync(plugin)) renameSync(plugin, old);
  try {
    renameSync(next, plugin);
  } catch (error) {
    if (existsSync(old)) renameSync(old, plugin);
    throw error;
  }
}

/** tar has unpacked the files under the user's umask. */
function setModes(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  }
}

/**
 * The plugin looks in its own dist/ first: so it finds the executable that it came with, even
 * where PREFIX/bin is not on the path. Relative, since packagers move the prefix. Windows has no
 * symbolic links for everyone; there it is found on the path.
 */
function linkExecutable(plugin: string, executable: string, next: string): void {
  if (process.platform === "win32") return;
  mkdirSync(join(next, "dist"));
  const target = relative(join(plugin, "dist"), executable);
  symlinkSync(target, join(next, "dist", basename(executable)));
}
