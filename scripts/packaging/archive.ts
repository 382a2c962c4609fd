import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Glob, gzipSync } from "bun";
import { helpTags } from "../../src/package/help-tags";
import { claudePlugin } from "../claude-plugin";
import { type Entry, tar } from "./tar";
import { executableName, type Target } from "./targets";

/** Below the repository: the plugin, its help, the man page, and what a reader looks for. */
const FILES = ["lua/**/*.lua", "plugin/**/*.lua", "doc/*", "LICENSE", "README.md", "CHANGELOG.md"];
/**
 * Not in an archive, since it holds the archives' own sums. Its absence shows the plugin that it
 * was installed from an archive, executable included.
 */
const MANIFEST = "lua/claude-code/install/manifest.lua";
/** Made here: a checkout may have those of another version. */
const TAGS = "doc/tags";

/** On top of an archive, and in PREFIX/share/doc/claude-code-nvim (src/package/prefix.ts). */
const NOTICES = "THIRD-PARTY-NOTICES";

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
  /** libdeflate's, 1 to 12. */
  level: number;
}

/**
 * A release archive: one folder with the executable on top, and the plugin for Claude Code in it. The
 * same input gives the same bytes on every machine; Bun's own libdeflate, and no system's gzip,
 * compresses it.
 */
export async function archive(options: ArchiveOptions): Promise<Uint8Array> {
  const zipped = gzipSync(tar(await archiveEntries(options)), {
    level: options.level,
    library: "libdeflate",
  } as never);
  return withoutOrigin(zipped);
}

/** What is in a release archive, of whatever kind. */
export async function archiveEntries(options: ArchiveOptions): Promise<Entry[]> {
  const { root, target, version } = options;
  const folder = archiveName(version, target).replace(/\.tar\.gz$/, "");
  const entries: Entry[] = [
    {
      path: `${folder}/${executableName(target)}`,
      content: options.executable,
      executable: true,
    },
  ];
  entries.push({
    path: `${folder}/${NOTICES}`,
    content: bytes(options.notices),
    executable: false,
  });
  for (const path of await sources(root)) {
    const content = await readFile(join(root, path));
    entries.push({ path: `${folder}/${path}`, content, executable: false });
  }
  const tags = bytes(helpTags(join(root, "doc")));
  entries.push({ path: `${folder}/${TAGS}`, content: tags, executable: false });
  for (const { path, text, executable } of claudePlugin()) {
    entries.push({ path: `${folder}/claude-plugin/${path}`, content: bytes(text), executable });
  }
  return entries;
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function sources(root: string): Promise<string[]> {
  const found = FILES.flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: root })]);
  const paths = found.map((path) => path.replaceAll("\\", "/"));
  return paths.filter((path) => path !== MANIFEST && path !== TAGS);
}

/** Byte 9 of a gzip file names the system that wrote it: always "unknown". */
function withoutOrigin(zipped: Uint8Array<ArrayBuffer>): Uint8Array {
  zipped[9] = 255;
  return zipped;
}
