/** The steps of `scripts/release`, which describes its arguments. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { $ } from "bun";
import { type Asset, readManifest } from "./manifest";
import { buildExecutable, buildRelease } from "./release";
import { readRepository } from "./repository";
import { runtimeSum } from "./runtimes";
import { smoke } from "./smoke";
import { TARGETS, type Target, targetsNamed } from "./targets";

const root = join(import.meta.dir, "../..");
const out = join(root, "dist/release");
const pinned = join(root, "lua/claude-code/install/manifest.lua");
/** The level of libdeflate: 10 to 12 take seven times as long and save 2 %. */
const LEVEL = 9;

const [mode = "--prepare", ...names] = process.argv.slice(2);
const modes: Record<string, () => Promise<void>> = {
  "--prepare": prepare,
  "--build": async () => void (await release(chosen())),
  "--verify": verify,
  "--check": check,
  "--notes": notes,
  "--runtimes": runtimes,
  "--smoke": () => smoke(root, names[0] ?? "", process.env.NVIM ?? "nvim", false),
  "--first-light": () => smoke(root, names[0] ?? "", process.env.NVIM ?? "nvim", true),
};

try {
  const run = modes[mode];
  if (!run) throw new Error(`unknown option ${mode}; the head of scripts/release lists them`);
  await run();
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}

function chosen(): readonly Target[] {
  return names.length > 0 ? targetsNamed(names) : TARGETS;
}

/** Builds all archives, and pins their sums in the plugin. */
async function prepare(): Promise<void> {
  const { version } = await readRepository(root);
  await refuseUnready(version);
  await release(TARGETS);
  await writeFile(pinned, await readFile(join(out, "manifest.lua")));
  console.log(`
The manifest is written. Commit it, and push that commit to a branch of its own. When the release
is out, and with it the tag, bring the commit to main:

  git commit -m "Release ${version}" lua/claude-code/install/manifest.lua
  git push origin HEAD:release/${version}
  git push origin HEAD:main`);
}

/** Prints this version's section of CHANGELOG.md, without the heading. */
async function notes(): Promise<void> {
  const { version } = await readRepository(root);
  const changelog = await readFile(join(root, "CHANGELOG.md"), "utf8");
  const section = changelog.split(/^## /m).find((part) => part.startsWith(`[${version}]`));
  if (!section) throw new Error(`CHANGELOG.md has no section [${version}]`);
  console.log(section.slice(section.indexOf("\n")).trim());
}

/** Prints the table of scripts/packaging/runtimes.ts. */
async function runtimes(): Promise<void> {
  const { bun } = await readRepository(root);
  for (const target of TARGETS) {
    await buildExecutable(root, target);
    console.log(`  "${target.bun}": "${await runtimeSum(target.bun, bun)}",`);
  }
}

async function refuseUnready(version: string): Promise<void> {
  const changed = (await $`git status --porcelain`.cwd(root).text()).trim();
  if (changed) throw new Error(`the working tree is not clean:\n${changed}`);
  const changelog = await readFile(join(root, "CHANGELOG.md"), "utf8");
  if (!changelog.includes(`\n## [${version}]`)) {
    throw new Error(`CHANGELOG.md has no section [${version}]`);
  }
  const tags = await $`git tag --list v${version}`.cwd(root).text();
  if (tags.trim()) throw new Error(`v${version} is tagged already: raise the version`);
}

/** Builds all archives again and compares them with the pinned sums, so that no one must trust a single machine. */
async function verify(): Promise<void> {
  const expected = await readManifest(pinned);
  if (expected.length === 0) throw new Error(`${pinned} pins nothing: run scripts/release first`);
  const built = await release(TARGETS);
  const differing = TARGETS.map(({ name }) => name).filter((name) => {
    const [ours, theirs] = [built, expected].map((assets) =>
      assets.find(({ target }) => target === name),
    );
    return !Bun.deepEquals(ours, theirs);
  });
  if (differing.length > 0) {
    throw new Error(`these archives differ from the pinned ones: ${differing.join(", ")}`);
  }
  console.log("All archives are the pinned ones, byte for byte.");
}

/** Builds every executable twice. `buildExecutable` checks format and machine, and that macOS would load it. */
async function check(): Promise<void> {
  for (const target of chosen()) {
    const [first, second] = [
      await buildExecutable(root, target),
      await buildExecutable(root, target),
    ];
    if (!first.equals(second)) throw new Error(`two builds for ${target.name} differ`);
    const loader = target.loader ? `, loaded by ${target.loader}` : "";
    const { name, format, machine } = target;
    console.log(`ok  ${name}: ${format} for ${machine}${loader}, ${megabytes(first.length)}`);
  }
}

async function release(targets: readonly Target[]): Promise<Asset[]> {
  // Build in another folder, so that a failure does not mix two releases.
  const work = await mkdtemp(join(tmpdir(), "claude-code-nvim-release-"));
  try {
    const onBuilt = ({ file, size, sha256 }: Asset, executableBytes: number) =>
      console.log(`${file}  ${megabytes(size)} of ${megabytes(executableBytes)}  ${sha256}`);
    const assets = await buildRelease({ root, out: work, targets, level: LEVEL, onBuilt });
    await rm(out, { recursive: true, force: true });
    await $`mkdir -p ${out} && cp -r ${work}/. ${out}`;
    return assets;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
