import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { gzipSync } from "bun";
import { installBelow } from "../../src/package/prefix";
import type { Repository } from "./repository";
import { type Entry, tar } from "./tar";
import type { Target } from "./targets";

const MACHINES = { x64: "amd64", arm64: "arm64" } as const;

export interface DebOptions {
  root: string;
  repository: Repository;
  target: Target;
  executable: Uint8Array;
  notices: string;
  /** libdeflate's, 1 to 12. */
  level: number;
}

/** Debian's own sign for "before": 1.0.0~rc.1 is older than 1.0.0. */
function debVersion({ version }: Repository): string {
  return version.replace("-", "~");
}

export function debName(repository: Repository, target: Target): string {
  return `claude-code-nvim_${debVersion(repository)}_${MACHINES[target.machine]}.deb`;
}

/**
 * A Debian package with what `install --prefix /usr` lays out, for systems with glibc. Two archives in
 * an ar file, as deb(5) has it: some 40 lines, and the same bytes on every machine.
 */
export async function deb(options: DebOptions): Promise<Buffer> {
  const tree = mkdtempSync(join(tmpdir(), "claude-code-nvim-deb-"));
  try {
    await layOut(options, tree);
    const data = entriesBelow(tree);
    const control = [entry("control", controlText(options, data)), entry("md5sums", sums(data))];
    const packed = (entries: Entry[]) => {
      const zipped = gzipSync(tar(entries), {
        level: options.level,
        library: "libdeflate",
      } as never);
      zipped[9] = 255;
      return zipped;
    };
    return ar([
      ["debian-binary", Buffer.from("2.0\n")],
      ["control.tar.gz", packed(control)],
      ["data.tar.gz", packed(data)],
    ]);
  } finally {
    rmSync(tree, { recursive: true });
  }
}

async function layOut({ root, executable, notices }: DebOptions, tree: string): Promise<void> {
  const source = join(tree, ".source");
  await mkdir(source);
  for (const part of ["lua", "plugin", "doc"])
    Bun.spawnSync(["cp", "-R", join(root, part), source]);
  await copyFile(join(root, "LICENSE"), join(source, "LICENSE"));
  writeFileSync(join(source, "THIRD-PARTY-NOTICES"), notices);
  const program = join(source, "claude-code-nvim");
  writeFileSync(program, executable);
  installBelow(join(tree, "usr"), program, source);
  rmSync(source, { recursive: true });
}

function entriesBelow(tree: string): Entry[] {
  const paths = readdirSync(tree, { recursive: true, encoding: "utf8" });
  return paths.map((path) => {
    const full = join(tree, path);
    const stats = lstatSync(full);
    const common = { path: `./${relative(tree, full)}`, executable: (stats.mode & 0o100) !== 0 };
    if (stats.isDirectory())
      return { ...common, path: `${common.path}/`, content: Buffer.alloc(0) };
    if (stats.isSymbolicLink())
      return { ...common, content: Buffer.alloc(0), link: readlinkSync(full) };
    return { ...common, content: readFileSync(full) };
  });
}

function controlText({ repository, target }: DebOptions, data: Entry[]): string {
  const kilobytes = Math.ceil(data.reduce((sum, { content }) => sum + content.length, 0) / 1024);
  return `Package: claude-code-nvim
Version: ${debVersion(repository)}
Architecture: ${MACHINES[target.machine]}
Maintainer: ${repository.owner} <${repository.owner}@users.noreply.github.com>
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.17)
Recommends: neovim (>= 0.10)
Section: editors
Priority: optional
Homepage: ${repository.url}
Description: ${repository.description}
 The executable and the Neovim plugin, which :packadd claude-code.nvim loads.
`;
}

function sums(data: Entry[]): string {
  const files = data.filter(({ path, link }) => !path.endsWith("/") && link === undefined);
  const sum = (content: Uint8Array) => new Bun.CryptoHasher("md5").update(content).digest("hex");
  return files.map(({ path, content }) => `${sum(content)}  ${path.slice(2)}\n`).join("");
}

function entry(name: string, text: string): Entry {
  return { path: `./${name}`, content: Buffer.from(text), executable: false };
}

function ar(members: [name: string, content: Uint8Array][]): Buffer {
  const parts: Uint8Array[] = [Buffer.from("!<arch>\n")];
  for (const [name, content] of members) {
    const size = String(content.length).padEnd(10);
    const head = `${name.padEnd(16)}${"946684800".padEnd(12)}0     0     100644  ${size}\`\n`;
    parts.push(Buffer.from(head), content, Buffer.alloc(content.length % 2, "\n"));
  }
  return Buffer.concat(parts);
}
