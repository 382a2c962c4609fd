import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CHANNELS, type Package, renderChannel } from "../../scripts/packaging/channels";
import { archived, dependenciesHash, flakeHash } from "../../scripts/packaging/nix";
import { type Repository, readRepository } from "../../scripts/packaging/repository";
import { TARGETS } from "../../scripts/packaging/targets";
import { zip } from "../../scripts/packaging/zip";
import { NEOVIMS, temporaryFolder } from "../support/neovim";
import { platformSkip } from "../support/platform-skip";
import { BUILD_MS, NATIVE, TestRelease } from "../support/release";
import { ROOT } from "../support/toolchain";

setDefaultTimeout(BUILD_MS);

/** What others distribute a release by: each read, and run where this machine can. */
let folder: string;
let repository: Repository;

beforeAll(async () => {
  folder = temporaryFolder();
  repository = { ...(await readRepository(ROOT)), version: "0.1.0" };
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (command: string[], env: Record<string, string> = {}) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { env: { ...process.env, ...env } });
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() };
};

const packages: Package[] = TARGETS.flatMap(({ name }, i) => {
  const file = `claude-code-nvim-0.1.0-${name}.tar.gz`;
  const archive = { target: name, file, sha256: `${i}`.repeat(64) };
  const zipped = {
    ...archive,
    file: file.replace("tar.gz", "zip"),
    sha256: "f".repeat(64),
    zip: true,
  };
  return name.startsWith("windows") ? [archive, zipped] : [archive];
});
const render = (channel: keyof typeof CHANNELS) =>
  renderChannel(CHANNELS[channel], repository, packages);

test("the PKGBUILD lays out the package from the archive, unstripped", async () => {
  const text = await render("aur");
  const file = join(folder, "PKGBUILD");
  writeFileSync(file, text);
  const unpacked = await (await TestRelease.build()).unpacked();
  const made = join(folder, "arch");
  const script = `set -eu; source ${file}; srcdir=${join(unpacked, "..")} pkgdir=${made}; package
    echo "$pkgver $options $sha256sums_x86_64 $source_aarch64"`;
  const CARCH = NATIVE.machine === "x64" ? "x86_64" : "aarch64";
  const { code, out, err } = run(["bash", "-c", script], { CARCH });
  expect([code, err]).toEqual([0, ""]);
  expect(out).toContain(
    `0.1.0 !strip ${"0".repeat(64)} ${repository.url}/releases/download/v0.1.0/`,
  );
  expect(run([join(made, "usr/bin/claude-code-nvim"), "--version"]).out).toContain("0.1.0");
  expect(existsSync(join(made, "usr/share/licenses/claude-code-nvim-bin/LICENSE"))).toBe(true);
  const candidate = { ...repository, version: "1.0.0-rc.1" };
  expect(await renderChannel(CHANNELS.aur, candidate, packages)).toContain("pkgver=1.0.0_rc.1");
});

test("scoop's manifest has both processors, and how the next version is found", async () => {
  const manifest = JSON.parse(await render("scoop"));
  for (const [machine, target] of [
    ["64bit", "windows-x64"],
    ["arm64", "windows-arm64"],
  ] as const) {
    const { url, hash, extract_dir } = manifest.architecture[machine];
    const asset = packages.find((each) => each.target === target && !each.zip);
    expect(url).toBe(`${repository.url}/releases/download/v0.1.0/${asset?.file}`);
    expect(hash).toBe(asset?.sha256);
    expect(url).toEndWith(`/${extract_dir}.tar.gz`);
    const next = manifest.autoupdate.architecture[machine].url.replaceAll("$version", "0.1.0");
    expect(next).toBe(url);
  }
  expect(manifest.bin).toBe("claude-code-nvim.exe");
});

test("winget's manifest names a program inside of each zip file", async () => {
  const manifest = Bun.YAML.parse(await render("winget")) as {
    ManifestType: string;
    Installers: Record<string, unknown>[];
  };
  expect(manifest.ManifestType).toBe("singleton");
  expect(manifest.Installers.map(({ Architecture }) => Architecture)).toEqual(["x64", "arm64"]);
  for (const { InstallerUrl, InstallerSha256, NestedInstallerFiles } of manifest.Installers) {
    const name = String(InstallerUrl).split("/").at(-1)?.replace(".zip", "");
    expect(InstallerSha256).toBe("f".repeat(64));
    expect(NestedInstallerFiles).toEqual([
      {
        RelativeFilePath: `${name}\\claude-code-nvim.exe`,
        PortableCommandAlias: "claude-code-nvim",
      },
    ]);
  }
});

test("aqua's registry entry gives the names of the archives", async () => {
  const { packages: entries } = Bun.YAML.parse(await render("aqua")) as {
    packages: { asset: string; files: { src: string }[]; replacements: Record<string, string> }[];
  };
  const { owner: repo_owner, name: repo_name, description } = repository;
  expect(entries[0]).toMatchObject({ repo_owner, repo_name, description });
  const asset = entries[0]?.asset ?? "";
  const named = asset
    .replace("{{trimV .Version}}", "0.1.0")
    .replace("{{.OS}}", "linux")
    .replace("{{.Arch}}", entries[0]?.replacements.amd64 ?? "");
  expect(named).toBe("claude-code-nvim-0.1.0-linux-x64.tar.gz");
  expect(`${entries[0]?.files[0]?.src}`).toBe(`${asset.replace(".tar.gz", "")}/claude-code-nvim`);
});

test("the flake pins the dependencies that bun.lock has now", async () => {
  expect(await flakeHash(ROOT)).toBe(await dependenciesHash(ROOT));
  if (!Bun.which("nix-hash"))
    return platformSkip("no nix, so its hashes are not compared with ours");
  const tree = join(folder, "tree/a b");
  mkdirSync(tree, { recursive: true });
  writeFileSync(join(tree, "run"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(tree, "ü"), "x".repeat(17));
  symlinkSync("run", join(tree, "link"));
  const hash = new Bun.CryptoHasher("sha256").update(archived(join(folder, "tree"))).digest("hex");
  expect(run(["nix-hash", "--type", "sha256", join(folder, "tree")]).out.trim()).toBe(hash);
});

test("every module that nixpkgs tries loads without another plugin", () => {
  const flake = readFileSync(join(ROOT, "flake.nix"), "utf8");
  const [, skipped = ""] = /nvimSkipModules = \[ "(.*)" \]/.exec(flake) ?? [];
  const script = join(folder, "modules.lua");
  writeFileSync(
    script,
    `vim.opt.rtp:prepend([[${ROOT}]])
     local files = vim.fn.globpath([[${ROOT}/lua]], "**/*.lua", true, true)
     for _, file in ipairs(files) do
       local name = file:sub(#[[${ROOT}/lua/]] + 1, -5):gsub("/init$", ""):gsub("/", ".")
       if not pcall(require, name) then print(name) end
     end
     print(#files > 100)`,
  );
  for (const { binary } of NEOVIMS) {
    const { err } = run([binary, "--clean", "--headless", "-l", script], { HOME: folder });
    expect(err.trim().split(/\r?\n/)).toEqual([skipped, "true"]);
  }
});

test("a zip file unpacks to the same bytes and modes, and is the same each time", () => {
  const entries = [
    { path: "top/program.exe", content: Buffer.from("MZ".repeat(5000)), executable: true },
    { path: "top/ü.txt", content: Buffer.from("text\r\n"), executable: false },
    { path: "top/empty", content: Buffer.alloc(0), executable: false },
  ];
  const file = join(folder, "x.zip");
  writeFileSync(file, zip(entries));
  expect(zip(entries.toReversed())).toEqual(zip(entries));
  const script = `import sys, zipfile
z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None
for i in z.infolist(): print(i.filename, len(z.read(i)), oct(i.external_attr >> 16), i.date_time[0])`;
  const { out, err } = run(["python3", "-c", script, file]);
  expect(err).toBe("");
  expect(out.trim().split("\n")).toEqual([
    "top/empty 0 0o100644 1980",
    "top/program.exe 10000 0o100755 1980",
    "top/ü.txt 6 0o100644 1980",
  ]);
});
