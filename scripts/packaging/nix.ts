import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const HASH = /outputHash = "(.*)";/;

/** The hash of the dependencies that flake.nix pins. */
export async function flakeHash(root: string): Promise<string> {
  return HASH.exec(await readFile(join(root, "flake.nix"), "utf8"))?.[1] ?? "";
}

/** Pins the dependencies of bun.lock in flake.nix. */
export async function writeFlakeHash(root: string): Promise<void> {
  const file = join(root, "flake.nix");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace(HASH, `outputHash = "${await dependenciesHash(root)}";`));
}

/** The hash of what flake.nix's `dependencies` builds: the same command, without Nix. */
export async function dependenciesHash(root: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "claude-code-nvim-nix-"));
  try {
    for (const name of ["package.json", "bun.lock"]) await cp(join(root, name), join(folder, name));
    const options = ["--production", "--frozen-lockfile", "--ignore-scripts", "--no-cache"];
    const child = Bun.spawnSync([process.execPath, "install", ...options], { cwd: folder });
    if (child.exitCode !== 0) throw new Error(`bun install failed: ${child.stderr}`);
    const sum = new Bun.CryptoHasher("sha256").update(archived(join(folder, "node_modules")));
    return `sha256-${sum.digest("base64")}`;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A Nix archive (NAR) of a file, folder or symlink: names, contents and execute bits alone. */
export function archived(path: string): Buffer {
  return Buffer.concat([text("nix-archive-1"), ...node(path)]);
}

function node(path: string): Buffer[] {
  const stats = lstatSync(path);
  const parts = ["(", "type"].map(text);
  if (stats.isSymbolicLink()) {
    parts.push(...["symlink", "target", readlinkSync(path)].map(text));
  } else if (stats.isDirectory()) {
    parts.push(text("directory"));
    const names = readdirSync(path).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const name of names) {
      parts.push(...["entry", "(", "name", name, "node"].map(text));
      parts.push(...node(join(path, name)), text(")"));
    }
  } else {
    parts.push(text("regular"));
    if (stats.mode & 0o100) parts.push(text("executable"), text(""));
    parts.push(text("contents"), text(readFileSync(path)));
  }
  return [...parts, text(")")];
}

/** A length in eight bytes, and the bytes, filled up to eight. */
function text(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([length, bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)]);
}
