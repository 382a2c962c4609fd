import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../test/support/toolchain";

/** A real code base: a package whose archive holds its TypeScript. */
export interface CodeBase {
  name: string;
  /** For npm; this repository's own commit if left out. */
  version?: string;
  /** The folder with the sources. */
  source: string;
}

export const CODE_BASES: CodeBase[] = [
  { name: "rxjs", version: "7.8.2", source: "src/internal" },
  { name: "zod", version: "4.1.12", source: "src/v4" },
  { name: "claude-code.nvim", source: "src" },
];

const CHAIN = process.env.CLAUDE_CODE_NVIM_TOOLCHAIN ?? join(ROOT, ".toolchain");

const OPTIONS = {
  target: "esnext",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["esnext", "dom"],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  types: [],
};

/** Puts the sources into a folder, as a project that git knows. */
export function copyCodeBase({ name, version, source }: CodeBase, folder: string): void {
  const from = version === undefined ? ROOT : unpacked(name, version);
  cpSync(join(from, source), join(folder, "src"), { recursive: true });
  const config = { compilerOptions: OPTIONS, include: ["src"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  git(folder, "init", "-q");
  git(folder, "add", "-A");
  git(folder, "commit", "-qm", "one");
}

export function git(folder: string, ...args: string[]): void {
  const options = ["-c", "user.name=measure", "-c", "user.email=measure@localhost"];
  Bun.spawnSync(["git", ...options, ...args], { cwd: folder });
}

function unpacked(name: string, version: string): string {
  const folder = join(CHAIN, "code-bases", `${name}-${version}`);
  if (existsSync(folder)) return folder;
  const work = `${folder}.new`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const packed = Bun.spawnSync(["npm", "pack", `${name}@${version}`, "--silent"], { cwd: work });
  const archive = packed.stdout.toString().trim();
  Bun.spawnSync(["tar", "xzf", archive, "--strip-components=1"], { cwd: work });
  renameSync(work, folder);
  return folder;
}
