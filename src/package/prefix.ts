import {
  chmod,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { contractFile, type Distribution, InstallError } from "./distribution";
import { helpTags } from "./help-tags";

/** Below a prefix: a Neovim package that is loaded by itself where PREFIX/share is searched. */
const PACK = "share/nvim/site/pack/claude-code.nvim";
export const PLUGIN = `${PACK}/start/claude-code.nvim`;
const MAN_PAGE = "claude-code-nvim.1";
/** It pins downloads; this copy has its executable already. */
const MANIFEST = "lua/claude-code/install/manifest.lua";

/** Lays out executable, plugin and man page below `prefix`; returns the paths of the three. */
export async function installBelow(
  prefix: string,
  distribution: Distribution,
): Promise<{ executable: string; plugin: string; manPage: string }> {
  const executable = join(prefix, "bin", basename(distribution.executable));
  const plugin = join(prefix, PLUGIN);
  const manPage = join(prefix, "share/man/man1", MAN_PAGE);
  await refuseForeign(plugin);
  await replaceFile(distribution.executable, executable, 0o755);
  await replacePlugin(distribution.root, plugin, executable, join(prefix, PACK));
  await replaceFile(join(distribution.root, "doc", MAN_PAGE), manPage, 0o644);
  return { executable, plugin, manPage };
}

/** A folder of somebody else at our place, or a checkout that somebody works in, stays. */
async function refuseForeign(plugin: string): Promise<void> {
  if (!(await exists(plugin))) return;
  const ours = await exists(contractFile(plugin));
  if (ours && !(await exists(join(plugin, ".git")))) return;
  const what = ours ? "is a git checkout" : "holds something else";
  throw new InstallError(`${plugin} ${what}, and is left alone: move it away first`);
}

/** By a rename, so that a program that runs keeps its file and no half one is ever seen. */
async function replaceFile(from: string, to: string, mode: number): Promise<void> {
  if (from === to) return;
  await mkdir(dirname(to), { recursive: true });
  const aside = `${to}.${process.pid}`;
  try {
    await copyFile(from, aside);
    await chmod(aside, mode);
    await rename(aside, to);
  } finally {
    await rm(aside, { force: true });
  }
}

/** As a whole: no file of an older version may stay behind, where Neovim would load it. */
async function replacePlugin(
  root: string,
  plugin: string,
  executable: string,
  work: string,
): Promise<void> {
  await mkdir(dirname(plugin), { recursive: true });
  const aside = await mkdtemp(join(work, ".new-"));
  try {
    const fresh = join(aside, "claude-code.nvim");
    for (const part of ["lua", "plugin", "doc"]) {
      await cp(join(root, part), join(fresh, part), { recursive: true });
    }
    await rm(join(fresh, MANIFEST), { force: true });
    await rm(join(fresh, "doc", MAN_PAGE), { force: true });
    await writeFile(join(fresh, "doc/tags"), helpTags(join(fresh, "doc")));
    await linkExecutable(plugin, executable, fresh);
    if (await exists(plugin)) await rename(plugin, join(aside, "old"));
    await rename(fresh, plugin);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/**
 * The plugin looks in its own dist/ first: so it finds the executable that it came with, even
 * where PREFIX/bin is not on the path. Relative, since packagers move the prefix. Windows has no
 * symbolic links for everyone; there it is found on the path.
 */
async function linkExecutable(plugin: string, executable: string, fresh: string): Promise<void> {
  if (process.platform === "win32") return;
  await mkdir(join(fresh, "dist"));
  const target = relative(join(plugin, "dist"), executable);
  await symlink(target, join(fresh, "dist", basename(executable)));
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
