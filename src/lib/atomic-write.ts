import { chmod, mkdir, readlink, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/**
 * Writes `text` to `path` so that no reader ever sees half of it: a draft beside the file, then a
 * rename. Folders are made, a symlink stays one (its target is written), the mode is kept.
 * Rejects with the system's error; the file is then as it was.
 */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const target = await targetOf(path);
  await mkdir(dirname(target), { recursive: true });
  const mode = await stat(target).then(
    (stats) => stats.mode & 0o7777,
    () => undefined,
  );
  const draft = join(
    dirname(target),
    `.${basename(target)}.${crypto.randomUUID().slice(0, 8)}.tmp`,
  );
  try {
    // Never readable by more people than the file is, not even for a moment.
    await writeFile(draft, text, { flag: "wx", ...(mode !== undefined && { mode }) });
    if (mode !== undefined) await chmod(draft, mode);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Where a write to `path` ends: also behind a symlink whose target is still to be made. */
async function targetOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const link = await readlink(path).catch(() => undefined);
    return link === undefined ? path : resolve(dirname(path), link);
  }
}
