import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Glob, gzipSync } from "bun";
import { helpTags } from "../help-tags";
import { type Entry, tar } from "./tar";
import { executableName, type Target } from "./targets";

/** Paths in the repository: the plugin, its help, and other texts for users. */
const FILES = ["lua/**/*.lua", "plugin/**/*.lua", "doc/*", "LICENSE", "README.md", "CHANGELOG.md"];
/**
 * An archive cannot contain the file with its own sum. If the file is missing, the plugin knows that it comes from an
 * archive, together with its executable.
 */
const MANIFEST = "lua/claude-code/install/manifest.lua";
/** We make these here: a checkout may have those of another version. */
const TAGS = "doc/tags";

export function archiveName(version: string, target: Target): string {
  return `claude-code-nvim-${version}-${target.name}.tar.gz`;
}

export interface ArchiveOptions {
  root: string;
  version: string;
  target: Target;
  executable: Uint8Array;
  /** The text of THIRD-PARTY-NOTICES. */
  notices: string;
  /** The level of libdeflate, 1 to 12. */
  level: number;
}

/**
 * A release archive has one folder with the executable and the plugin for Claude Code. The same input gives the same
 * bytes on every machine, since Bun's own libdeflate compresses it, not the system's gzip.
 */
export async function archive(options: ArchiveOptions): Promise<Uint8Array> {
  const zipped = gzipSync(tar(await archiveEntries(options)), {
    level: options.level,
    library: "libdeflate",
  } as never);
  // The system that wrote the archive is always "unknown".
  zipped[9] = 255;
  return zipped;
}

async function archiveEntries(options: ArchiveOptions): Promise<Entry[]> {
  const { root, target, version } = options;
  const folder = archiveName(version, target).replace(/\.tar\.gz$/, "");
  const entries: Entry[] = [];
  const add = (path: string, content: Uint8Array | string, executable = false) =>
    entries.push({ path: `${folder}/${path}`, content: Buffer.from(content), executable });
  add(executableName(target), options.executable, true);
  add("THIRD-PARTY-NOTICES", options.notices);
  for (const path of sources(root)) add(path, await readFile(join(root, path)));
  add(TAGS, helpTags(join(root, "doc")));
  return entries;
}

function sources(root: string): string[] {
  const found = FILES.flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: root })]);
  const paths = found.map((path) => path.replaceAll("\\", "/"));
  return paths.filter((path) => path !== MANIFEST && path !== TAGS);
}
