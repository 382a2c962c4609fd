import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { Glob } from "bun";
import { ROOT, run, temporaryFolder } from "#test";
import { join } from "../../src/lib/platform";

/* scripts/toolchain and other scripts on a Mac, which has bash 3.2 and neither apt nor flock. */

const BASH = process.env.BASH_3_2 ?? "bash";
const HASHER = Bun.which("sha256sum") ? "sha256sum" : "shasum";
const USUAL = `bash sh sed mkdir mktemp rm cat mv ln cut grep tar gzip curl ${HASHER} dirname head cmp`;
const PROGRAM = "#!/bin/sh\necho NVIM v0.12.5\n";
const FILE = "v0.12.5/nvim-macos-arm64.tar.gz";

let folder: string;
let bin: string;

beforeEach(() => {
  folder = temporaryFolder();
  bin = join(folder, "path");
  for (const name of ["path", "scripts", "chain/bun"])
    mkdirSync(join(folder, name), { recursive: true });
  for (const name of USUAL.split(" ")) symlinkSync(Bun.which(name) ?? "", join(bin, name));
  program("uname", "#!/bin/sh\necho Darwin arm64\n");
});

function program(name: string, text: string): void {
  writeFileSync(join(bin, name), text);
  chmodSync(join(bin, name), 0o755);
}

/** Runs scripts/toolchain, which downloads the archive from `url` and expects it to have the sum of `expected`. */
async function toolchain(names: string[], url = "", expected = Buffer.alloc(0)) {
  const sum = createHash("sha256").update(expected).digest("hex");
  const text = readFileSync(join(ROOT, "scripts/toolchain"), "utf8")
    .replace(/^neovim_releases=.*$/m, `neovim_releases=${url}`)
    .replace(new RegExp(`^[0-9a-f]{64} ${FILE}$`, "m"), `${sum} ${FILE}`);
  writeFileSync(join(folder, "scripts/toolchain"), text);
  writeFileSync(join(folder, "package.json"), '"packageManager": "bun@1.0.0"');
  const env = { PATH: bin, HOME: folder, CLAUDE_CODE_NVIM_TOOLCHAIN: join(folder, "chain") };
  return run([Bun.which(BASH) ?? BASH, join(folder, "scripts/toolchain"), ...names], { env });
}

async function archive(): Promise<Buffer<ArrayBuffer>> {
  const home = join(folder, "nvim-macos-arm64/bin");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "nvim"), PROGRAM);
  chmodSync(join(home, "nvim"), 0o755);
  await run(["tar", "-czf", join(folder, "archive"), "-C", folder, "nvim-macos-arm64"]);
  return readFileSync(join(folder, "archive"));
}

function serve(bytes: Buffer<ArrayBuffer>) {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      url.endsWith(`/${FILE}`) ? new Response(bytes) : new Response("", { status: 404 }),
  });
}

describe("without apt, the toolchain", () => {
  beforeEach(() => writeFileSync(join(folder, "chain/bun/.version"), "1.0.0"));

  test("takes Neovim from its own release, once", async () => {
    const bytes = await archive();
    await using server = serve(bytes);
    const url = `http://127.0.0.1:${server.port}`;
    const { code, stdout, stderr } = await toolchain(["neovim-0.12"], url, bytes);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toStartWith("toolchain: installed neovim-0.12 (");
    expect(await run([join(folder, "chain/neovim-0.12/bin/nvim")])).toMatchObject({
      stdout: "NVIM v0.12.5\n",
    });
    expect(await toolchain(["neovim-0.12"], "http://127.0.0.1:1", bytes)).toMatchObject({
      code: 0,
      stdout: "",
    });
  });

  test("takes a Neovim of the right version from PATH", async () => {
    program("nvim", PROGRAM);
    expect(await toolchain(["neovim-0.12"])).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(readlinkSync(join(folder, "chain/neovim-0.12/bin/nvim"))).toBe(join(bin, "nvim"));
    expect((await toolchain(["neovim-0.10"])).stderr).toContain("cannot download");
  });

  test("refuses an archive with another sum, and keeps nothing of it", async () => {
    const bytes = await archive();
    await using server = serve(bytes);
    const url = `http://127.0.0.1:${server.port}`;
    const { code, stderr } = await toolchain(["neovim-0.12"], url);
    expect(code).toBe(1);
    expect(stderr).toContain(`${FILE} is damaged or was tampered with: its SHA-256 is`);
    expect(readdirSync(join(folder, "chain")).sort()).toEqual(["bin", "bun"]);
  });

  test("names the variables for another Neovim if it cannot download one", async () => {
    await using server = serve(await archive());
    const { code, stderr } = await toolchain(["neovim-0.10"], `http://127.0.0.1:${server.port}`);
    expect(code).toBe(1);
    expect(stderr).toContain("NVIM_0_10 and NVIM_0_12 may name Neovims of your own");
    program("uname", "#!/bin/sh\necho Haiku x86_64\n");
    expect((await toolchain(["neovim-0.12"])).stderr).toContain(
      "no release of Neovim is for Haiku",
    );
  });
});

test("names all missing programs in one message, with one command", async () => {
  program("go", "#!/bin/sh\n");
  expect(await toolchain(["bun", "deps", "tools", "servers", "neovim-0.12"])).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "toolchain: programs are missing. With Homebrew: " +
      "brew install node llvm gopls rust-analyzer luacheck shellcheck tmux ruby\n",
  });
});

describe("bash 3.2", () => {
  const scripts = ["install.sh", ...new Glob("{scripts,.ci}/*").scanSync({ cwd: ROOT, dot: true })]
    .map((name) => ({ name, text: readFileSync(join(ROOT, name), "utf8") }))
    .filter(({ text }) => /^#!.*\b(ba)?sh\n/.test(text));
  const newer =
    /\b(declare|local|typeset) -\w*[Angu]|\b(mapfile|readarray|coproc)\b|\bwait -n|\b(EPOCH\w+|SRANDOM|BASHPID)\b|\$\{\w+(\[[^\]]*\])?(,|\^|@[A-Za-z])|&>>|\|&|\bexec \{|;;?&|\[\[ -v|%\([^)]*\)T|\binherit_errexit|\bglobstar/;

  test.each(scripts)("is enough for $name", async ({ name, text }) => {
    const code = text.replaceAll(/^\s*#.*$/gm, "").split("\n");
    expect(code.filter((line) => newer.test(line))).toEqual([]);
    expect(await run([BASH, "-n", join(ROOT, name)])).toMatchObject({ code: 0, stderr: "" });
  });
});
