import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../build";
import { archive, archiveName } from "./archive";
import { checkExecutable } from "./executable-file";
import { FORMULA, renderFormula } from "./formula";
import { type Asset, INSTALLER, renderInstaller, renderManifest, renderSums } from "./manifest";
import { bundledComponents, renderNotices } from "./notices";
import { readRepository } from "./repository";
import { checkRuntime } from "./runtimes";
import { executableName, TARGETS, type Target } from "./targets";

interface ReleaseOptions {
  /** The folder of the sources: a checkout, or a copy of its src/, lua/, plugin/ and package.json. */
  root: string;
  /** Receives the archives, SHA256SUMS, manifest.lua, install.sh, and with all targets the formula. */
  out: string;
  targets: readonly Target[];
  level: number;
  onBuilt?: (asset: Asset, executableBytes: number) => void;
}

/** Builds a release, and changes nothing outside of `out`. */
export async function buildRelease(options: ReleaseOptions): Promise<Asset[]> {
  const { root, out, targets, level } = options;
  const repository = await readRepository(root);
  const { version, bun } = repository;
  await mkdir(out, { recursive: true });
  const notices = renderNotices(await bundledComponents(root), bun);
  const assets: Asset[] = [];
  const isWhole = TARGETS.every((target) => targets.includes(target));
  for (const target of targets) {
    const executable = await buildExecutable(root, target);
    if (isWhole) await checkRuntime(target.bun, bun);
    const bytes = await archive({ root, version, target, executable, notices, level });
    const file = archiveName(version, target);
    await writeFile(join(out, file), bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const asset = { target: target.name, file, sha256, size: bytes.length };
    options.onBuilt?.(asset, executable.length);
    assets.push(asset);
  }
  const write = (file: string, text: string) => writeFile(join(out, file), text);
  await write("SHA256SUMS", renderSums(assets));
  await write("manifest.lua", renderManifest(repository, await contractNumber(root), assets));
  await write("install.sh", renderInstaller(await readFile(INSTALLER, "utf8"), version, assets));
  if (isWhole) await write(FORMULA, await renderFormula(repository, assets));
  return assets;
}

/** Builds and checks the executable for `target`. */
export async function buildExecutable(root: string, target: Target): Promise<Buffer> {
  const work = await mkdtemp(join(tmpdir(), "claude-code-nvim-release-"));
  try {
    const outfile = join(work, executableName(target));
    await build(outfile, target.bun, root);
    const executable = await readFile(outfile);
    checkExecutable(executable, target);
    return executable;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function contractNumber(root: string): Promise<number> {
  const text = await readFile(join(root, "src/lib/version.ts"), "utf8");
  const [, number] = /^export const CONTRACT = (\d+);$/m.exec(text) ?? [];
  if (!number) throw new Error("src/lib/version.ts has no contract number");
  return Number(number);
}
