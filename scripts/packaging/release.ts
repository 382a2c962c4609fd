import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../build";
import { archive, archiveName } from "./archive";
import { bundledComponents } from "./components";
import { checkExecutable } from "./executable-file";
import { coversFormula, renderFormula } from "./formula";
import { INSTALLER, renderInstaller } from "./installer";
import { type Asset, renderManifest, renderSums } from "./manifest";
import { renderBill, renderNotices } from "./notices";
import { type Repository, readRepository } from "./repository";
import { executableName, type Target } from "./targets";

export interface ReleaseOptions {
  /** The sources: a checkout, or a copy of its src/, lua/, plugin/ and package.json. */
  root: string;
  /** Receives the archives, SHA256SUMS, manifest.lua, install.sh, the formula and the SBOM. */
  out: string;
  targets: readonly Target[];
  /** Of compression. */
  level: number;
  onBuilt?: (asset: Asset, executableBytes: number) => void;
}

/** Builds a release. Nothing outside of `out` is changed. */
export async function buildRelease(options: ReleaseOptions): Promise<Asset[]> {
  const { root, out } = options;
  const repository = await readRepository(root);
  await mkdir(out, { recursive: true });
  const components = await bundledComponents(root);
  const notices = renderNotices(components, repository.bun);
  const assets: Asset[] = [];
  for (const target of options.targets) {
    assets.push(await buildAsset(options, repository, target, notices));
  }
  await writeFile(join(out, "SHA256SUMS"), renderSums(assets));
  const manifest = renderManifest(repository, await contractNumber(root), assets);
  await writeFile(join(out, "manifest.lua"), manifest);
  const bill = renderBill(repository, components, repository.bun);
  await writeFile(join(out, `claude-code-nvim-${repository.version}.cdx.json`), bill);
  const script = await readFile(INSTALLER, "utf8");
  await writeFile(join(out, "install.sh"), renderInstaller(script, repository.version, assets));
  if (coversFormula(assets)) {
    await writeFile(join(out, "claude-code-nvim.rb"), await renderFormula(repository, assets));
  }
  return assets;
}

async function buildAsset(
  { root, out, level, onBuilt }: ReleaseOptions,
  { version }: Repository,
  target: Target,
  notices: string,
): Promise<Asset> {
  const executable = await buildExecutable(root, target);
  const bytes = await archive({ root, version, target, executable, notices, level });
  const file = archiveName(version, target);
  await writeFile(join(out, file), bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const asset = { target: target.name, file, sha256, size: bytes.length };
  onBuilt?.(asset, executable.length);
  return asset;
}

/** The executable for `target`, checked to be one. */
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
  const text = await readFile(join(root, "src/version.ts"), "utf8");
  const [, number] = /^export const CONTRACT = (\d+);$/m.exec(text) ?? [];
  if (!number) throw new Error("src/version.ts has no contract number");
  return Number(number);
}
