import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { deb } from "../../scripts/packaging/deb";
import { readRepository } from "../../scripts/packaging/repository";
import { PLUGIN } from "../../src/package/prefix";
import { EXECUTABLE, temporaryFolder } from "../support/neovim";
import { platformSkip } from "../support/platform-skip";
import { BUILD_MS, NATIVE } from "../support/release";
import { ROOT } from "../support/toolchain";

setDefaultTimeout(BUILD_MS);

/** Packages that are built here, of the whole executable. */
let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (command: string[], env: Record<string, string> = {}) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { env: { ...process.env, ...env } });
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() };
};

test("the flake builds executable and plugin", () => {
  if (!Bun.which("nix")) return platformSkip("no nix, so flake.nix is not built");
  const nix = join(folder, "nix");
  const source = join(nix, "source");
  mkdirSync(source, { recursive: true });
  for (const name of [
    "flake.nix",
    "package.json",
    "bun.lock",
    "lua",
    "plugin",
    "doc",
    "src",
    "scripts",
  ]) {
    cpSync(join(ROOT, name), join(source, name), { recursive: true });
  }
  const places = ["STORE", "STATE", "LOG", "CONF"].map((name) => [
    `NIX_${name}_DIR`,
    join(nix, name),
  ]);
  const built = run(
    [
      ...["nix", "--extra-experimental-features", "nix-command flakes", "build", "--impure"],
      ...[`path:${source}#vimPlugin`, "--out-link", join(nix, "result"), "--no-write-lock-file"],
      ...["--override-input", "nixpkgs", `path:${join(ROOT, "test/support/nixpkgs")}`],
      ...["--option", "sandbox", "false", "--option", "substitute", "false"],
      ...["--option", "build-users-group", ""],
    ],
    { ...Object.fromEntries(places), HOME: nix },
  );
  expect([built.code, built.code === 0 ? "" : built.err]).toEqual([0, ""]);
  const { out } = run([join(nix, "result/dist/claude-code-nvim"), "--version"]);
  expect(out).toBe("claude-code.nvim 0.1.0\n");
  // The store is read-only.
  run(["chmod", "-R", "u+w", nix]);
});

describe.skipIf(!Bun.which("dpkg-deb"))("the Debian package", () => {
  let file: string;
  beforeAll(async () => {
    file = join(folder, "x.deb");
    const repository = { ...(await readRepository(ROOT)), version: "0.1.0" };
    const executable = readFileSync(EXECUTABLE);
    const options = { root: ROOT, repository, target: NATIVE, executable, notices: "x", level: 1 };
    const bytes = await deb(options);
    writeFileSync(file, bytes);
    const sum = (data: Uint8Array) => createHash("sha256").update(data).digest("hex");
    expect(sum(await deb(options))).toBe(sum(bytes));
  });

  test("says what it is", () => {
    const field = (name: string) => run(["dpkg-deb", "--field", file, name]).out.trim();
    expect(field("Package")).toBe("claude-code-nvim");
    expect(field("Version")).toBe("0.1.0");
    expect(field("Architecture")).toBe(NATIVE.machine === "x64" ? "amd64" : "arm64");
    expect(Number(field("Installed-Size"))).toBeGreaterThan(50_000);
  });

  test("unpacks to a program that runs and a plugin that finds it", () => {
    const root = join(folder, "debian");
    expect(run(["dpkg-deb", "--extract", file, root])).toMatchObject({ code: 0, err: "" });
    expect(run([join(root, "usr/bin/claude-code-nvim"), "--version"]).code).toBe(0);
    expect(run([join(root, "usr", PLUGIN, "dist/claude-code-nvim"), "--version"]).code).toBe(0);
    expect(existsSync(join(root, "usr", PLUGIN, "doc/tags"))).toBe(true);
    expect(existsSync(join(root, "usr/share/man/man1/claude-code-nvim.1"))).toBe(true);
    expect(readdirSync(root)).toEqual(["usr"]);
    const control = join(folder, "control");
    run(["dpkg-deb", "--control", file, control]);
    const check = run(["sh", "-c", `cd ${root} && md5sum --check --quiet ${control}/md5sums`]);
    expect([check.code, check.out]).toEqual([0, ""]);
  });
});
if (!Bun.which("dpkg-deb")) platformSkip("no dpkg-deb, so the Debian package is not tried");
