import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../build";
import { type ArchiveOptions, archive, archiveEntries, archiveName } from "./archive";
import { CHANNELS, type Package, renderChannel } from "./channels";
import { bundledComponents } from "./components";
import { deb, debName } from "./deb";
import { checkExecutable } from "./executable-file";
import { INSTALLER, renderInstaller } from "./installer";
import { type Asset, renderManifest, renderSums } from "./manifest";
import { renderBill, renderNotices } from "./notices";
import { type Repository, readRepository } from "./repository";
import { checkRuntime } from "./runtimes";
import { executableName, TARGETS, type Target } from "./targets";
import { zip } from "./zip";

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

/**
 * Builds a release: the archives, which the plugin pins, and where all targets are built also the
 * packages and files for other channels. Nothing outside of `out` is changed.
 */
export async function buildRelease(options: ReleaseOptions): Promise<Asset[]> {
  const { root, out } = options;
  const repository = await readRepository(root);
  await mkdir(out, { recursive: true });
  const components = await bundledComponents(root);
  const notices = renderNotices(components, repository.bun);
  const assets: Asset[] = [];
  const packages: Package[] = [];
  const isWhole = TARGETS.every((target) => options.targets.includes(target));
  for (const target of options.targets) {
    const executable = await buildExecutable(root, target);
    if (isWhole) await checkRuntime(target.bun, repository.bun);
    const content = { root, version: repository.version, target, executable, notices };
    assets.push(await writeArchive(options, content));
    if (isWhole) packages.push(...(await writePackages(options, repository, content)));
  }
  await writeFile(join(out, "SHA256SUMS"), renderSums([...assets, ...packages]));
  const manifest = renderManifest(repository, await contractNumber(root), assets);
  await writeFile(join(out, "manifest.lua"), manifest);
  const bill = renderBill(repository, components, repository.bun);
  await writeFile(join(out, `claude-code-nvim-${repository.version}.cdx.json`), bill);
  const script = await readFile(INSTALLER, "utf8");
  await writeFile(join(out, "install.sh"), renderInstaller(script, repository.version, assets));
  for (const file of isWhole ? Object.values(CHANNELS) : []) {
    await writeFile(
      join(out, file),
      await renderChannel(file, repository, [...assets, ...packages]),
    );
  }
  return assets;
}

type Content = Omit<ArchiveOptions, "level">;

async function writeArchive(options: ReleaseOptions, content: Content): Promise<Asset> {
  const bytes = await archive({ ...content, level: options.level });
  const asset = await writeAsset(options, archiveName(content.version, content.target), bytes);
  options.onBuilt?.({ ...asset, target: content.target.name }, content.executable.length);
  return { ...asset, target: content.target.name };
}

/** For Windows a zip file, for Linux with glibc a Debian package. */
async function writePackages(
  options: ReleaseOptions,
  repository: Repository,
  content: Content,
): Promise<Package[]> {
  const { target, version } = content;
  const { level } = options;
  if (target.format === "PE") {
    const name = archiveName(version, target).replace(/tar\.gz$/, "zip");
    const bytes = zip(await archiveEntries({ ...content, level }));
    return [{ ...(await writeAsset(options, name, bytes)), target: target.name, zip: true }];
  }
  if (target.format !== "ELF" || target.name.endsWith("-musl")) return [];
  const bytes = await deb({ ...content, repository, level });
  const asset = await writeAsset(options, debName(repository, target), bytes);
  return [{ ...asset, target: `${target.name}.deb` }];
}

async function writeAsset({ out }: ReleaseOptions, file: string, bytes: Uint8Array) {
  await writeFile(join(out, file), bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { file, sha256, size: bytes.length };
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
  const text = await readFile(join(root, "src/lib/version.ts"), "utf8");
  const [, number] = /^export const CONTRACT = (\d+);$/m.exec(text) ?? [];
  if (!number) throw new Error("src/lib/version.ts has no contract number");
  return Number(number);
}
