import { setDefaultTimeout } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { cp, link, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { archive, archiveName } from "../../scripts/packaging/archive";
import { type Asset, renderManifest, renderSums } from "../../scripts/packaging/manifest";
import { buildRelease } from "../../scripts/packaging/release";
import { readRepository } from "../../scripts/packaging/repository";
import { nativeTarget, type Target } from "../../scripts/packaging/targets";
import { waitForLock } from "../../src/lib/lock";
import { join } from "../../src/lib/platform";
import { CONTRACT } from "../../src/lib/version";
import { temporaryFolder } from "./neovim";
import { EXECUTABLE, ROOT } from "./toolchain";

export const NATIVE = nativeTarget();

/** The fastest compression. */
const LEVEL = 1;

/** How long a test or hook that builds or installs may take on a busy machine. */
const BUILD_MS = 300_000;

/** Gives the tests of the file that calls it the time to build and install. */
export function mayBuild(): void {
  setDefaultTimeout(BUILD_MS);
}

interface Options {
  version?: string;
  contract?: number;
  targets?: Target[];
}

interface StandIn extends Omit<Options, "targets"> {
  /** Shell commands that come first. */
  program?: string;
}

/** A release of this checkout's sources, of any version, as scripts/release makes it. */
export class TestRelease {
  private constructor(
    readonly version: string,
    readonly contract: number,
    /** The sources, stamped with version and contract. */
    readonly source: string,
    /** The archives, named as on the server, and SHA256SUMS. */
    readonly folder: string,
    readonly assets: Asset[],
  ) {}

  /** The one that this test run has already built, if any: no test changes it. */
  static build(options: Options = {}): Promise<TestRelease> {
    return TestRelease.shared(["built", options], () => TestRelease.create(options));
  }

  /**
   * A release whose executable is a script of about 100 KB instead of a program of about 100 MB. The script reports the
   * release's version and contract, and runs the executable that was built before for everything else.
   */
  static standIn(options: StandIn = {}): Promise<TestRelease> {
    return TestRelease.shared(["stand-in", options], () => TestRelease.scripted(options));
  }

  private static async shared(key: unknown, make: () => Promise<TestRelease>) {
    const { version, contract, source, folder, assets } = await once(key, make);
    return new TestRelease(version, contract, source, folder, assets);
  }

  private static async scripted({ version = "0.1.0", contract = CONTRACT, program = "" }: StandIn) {
    const [source, folder, file] = [
      await sources(version, contract),
      newFolder(),
      archiveName(version, NATIVE),
    ];
    const executable = Buffer.from(script(version, contract, program));
    const notices = "Notices\n";
    const input = { root: source, version, target: NATIVE, executable, notices, level: LEVEL };
    const bytes = await archive(input);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const assets = [{ target: NATIVE.name, file, sha256, size: bytes.length }];
    await writeFile(join(folder, file), bytes);
    await writeFile(join(folder, "SHA256SUMS"), renderSums(assets));
    return new TestRelease(version, contract, source, folder, assets);
  }

  static async create(options: Options = {}): Promise<TestRelease> {
    const { version = "0.1.0", contract = CONTRACT, targets = [NATIVE] } = options;
    const source = await sources(version, contract);
    const folder = newFolder();
    const assets = await buildRelease({ root: source, out: folder, targets, level: LEVEL });
    return new TestRelease(version, contract, source, folder, assets);
  }

  get asset(): Asset {
    const asset = this.assets.find(({ target }) => target === NATIVE.name);
    if (!asset) throw new Error(`the release has no archive for ${NATIVE.name}`);
    return asset;
  }

  get archive(): string {
    return join(this.folder, this.asset.file);
  }

  /** The plugin as a plugin manager has it at the release's tag: with the sums, and no build. */
  async checkout(folder: string = newFolder()): Promise<string> {
    for (const part of ["lua", "plugin", "package.json"]) {
      await rm(join(folder, part), { recursive: true, force: true });
      await cp(join(this.source, part), join(folder, part), { recursive: true });
    }
    const manifest = renderManifest(await readRepository(this.source), this.contract, this.assets);
    await writeFile(join(folder, "lua/claude-code/install/manifest.lua"), manifest);
    return folder;
  }

  /** The unpacked archive, the same for a whole test run: no test changes it. */
  unpacked(): Promise<string> {
    return once(["unpacked", this.archive], async () => {
      const folder = newFolder();
      Bun.spawnSync(["tar", "-xzf", this.archive, "-C", folder]);
      return join(folder, this.asset.file.replace(".tar.gz", ""));
    });
  }

  /** Copies the unpacked executable there, even over a running one. */
  async place(path: string): Promise<void> {
    await link(join(await this.unpacked(), "claude-code-nvim"), `${path}.new`);
    await rename(`${path}.new`, path);
  }
}

/** A folder of the test run: scripts/test makes it, and removes it at the end. Without it, one process runs all. */
process.env.CLAUDE_CODE_NVIM_TEST_RUN ??= temporaryFolder();
const RUN = process.env.CLAUDE_CODE_NVIM_TEST_RUN;

/** Test files run in several processes: the first one that needs something with this key makes it. */
async function once<Made>(key: unknown, make: () => Promise<Made>): Promise<Made> {
  const path = join(RUN, `release-${Bun.hash(JSON.stringify(key)).toString(16)}`);
  using lock = await waitForLock(`${path}.lock`, BUILD_MS);
  if (!lock) throw new Error(`another process has made ${JSON.stringify(key)} for too long`);
  if (existsSync(path)) return JSON.parse(readFileSync(path, "utf8"));
  const made = await make();
  await writeFile(path, JSON.stringify(made));
  return made;
}

/** An empty folder that exists until the test run ends. */
function newFolder(): string {
  return realpathSync(mkdtempSync(join(RUN, "folder-")));
}

/** Refuses to serve, as the executable does, if the plugin has another contract. */
function script(version: string, contract: number, first: string): string {
  return `#!/bin/sh
${first}
case $1 in
  --version) echo "claude-code.nvim ${version}" && exit ;;
  serve) [ ${contract} = ${CONTRACT} ] || { echo "this executable ${version} has contract ${contract}" >&2; exit 3; } ;;
esac
exec "${EXECUTABLE}" "$@"
# ${randomBytes(75_000).toString("base64")}
`;
}

async function sources(version: string, contract: number): Promise<string> {
  const folder = newFolder();
  for (const part of ["src", "lua", "plugin", "doc", "package.json", "LICENSE", "README.md"]) {
    await cp(join(ROOT, part), join(folder, part), { recursive: true });
  }
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const stamp = async (path: string, pattern: RegExp, text: string) => {
    const before = await readFile(join(folder, path), "utf8");
    if (!pattern.test(before)) throw new Error(`${path} has nothing like ${pattern}`);
    await writeFile(join(folder, path), before.replace(pattern, text));
  };
  await stamp("package.json", /"version": ".*"/, `"version": "${version}"`);
  await stamp("src/lib/version.ts", /CONTRACT = \d+/, `CONTRACT = ${contract}`);
  const lua = `number = ${contract}, version = "${version}"`;
  await stamp("lua/claude-code/install/contract.lua", /number = \d+, version = ".*?"/, lua);
  return folder;
}
