import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { chmod, lchown, mkdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import {
  claims,
  eventually,
  first,
  isolatedEnv,
  NEOVIMS,
  nightly,
  OLDEST,
  perBlock,
  ROOT,
  run as runProgram,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { renderInstaller } from "../../scripts/packaging/manifest";
import { join } from "../../src/lib/platform";
import { CERTIFICATE, KEY } from "../support/certificate";
import { type HostileEntry, hostileArchive } from "../support/hostile-archive";
import { Publication } from "../support/installer";
import { inMount } from "../support/mount";
import { platformSkip } from "../support/platform-skip";
import { mayBuild, NATIVE, TestRelease } from "../support/release";

mayBuild();
let unpacked: string;
/** The folder of a user's data, and their home folder. */
let data: string;

const published = perBlock(async () => Publication.start(await TestRelease.build()));
beforeAll(async () => {
  unpacked = await published.release.unpacked();
});
beforeEach(() => {
  data = temporaryFolder();
  published.server.reset("good");
});
afterEach(() => rm(data, { recursive: true, force: true }));

const ROOM = "claude-code.nvim";
const STABLE = `${ROOM}/bin/claude-code-nvim`;
const START = "nvim/site/pack/claude-code.nvim/start";
const VERSION = `${ROOM}/0.1.0-${NATIVE.name}`;
/** The folders that it makes before anything is downloaded. */
const EMPTY = [`${ROOM}/bin`, `${ROOM}/download`, START];

/** The programs that install.sh needs in any case, and beside `curl` or `wget` and `sha256sum`. */
const NEEDED = "sh tar gzip uname mkdir head grep env cat mv ln readlink".split(" ");
const HASHER = Bun.which("sha256sum") ? "sha256sum" : "shasum";
const COMMON = [HASHER, ..."mktemp rm sed cut find id".split(" ")];
/** install.sh gives wget its time limit by timeout(1), which macOS lacks. */
const hasWget = Bun.which("wget") !== null && Bun.which("timeout") !== null;

const run = (command: string[], env: Record<string, string> = {}, cwd = "/") =>
  runProgram(command, { cwd, env: { ...isolatedEnv(data), XDG_DATA_HOME: data, ...env } });

const refusal = (message: string) => ({ code: 1, stderr: expect.stringContaining(message) });

const leaves = () =>
  readdirSync(data, { recursive: true, encoding: "utf8" })
    .filter((path, _, all) => !all.some((other) => other.startsWith(`${path}/`)))
    .sort();

describe("install.sh", () => {
  const script = join(ROOT, "install.sh");
  const small = perBlock(async () => Publication.start(await TestRelease.standIn()));
  beforeEach(() => small.server.reset("good"));

  const words = ({ server } = small) => [script, "--version", "0.1.0", "--mirror", server.url];
  const installer = (env: Record<string, string> = {}, from = small) =>
    run(["sh", ...words(from)], env);

  /** A folder with what the script needs beside those programs, and them. */
  const programs = async (...names: string[]) => {
    const bin = join(data, "path");
    await mkdir(bin);
    for (const program of [...NEEDED, ...names]) {
      await symlink(Bun.which(program) ?? "", join(bin, program));
    }
    return bin;
  };

  test("installs a checked archive, even if BUN_OPTIONS would run other code", async () => {
    const hostile = join(data, "hostile.js");
    await writeFile(hostile, `require("fs").writeFileSync("${data}/owned", "")`);
    const env = { BUN_OPTIONS: `--preload ${hostile}`, BUN_BE_BUN: "1" };
    const { code, stdout } = await installer(env, published);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("claude-code.nvim 0.1.0 is installed"),
    ]);
    expect(existsSync(join(data, "owned"))).toBe(false);
    expect(readlinkSync(join(data, STABLE))).toBe(`../0.1.0-${NATIVE.name}/claude-code-nvim`);
    expect(readdirSync(join(data, ROOM, "download"))).toEqual([]);
    for (const part of ["LICENSE", "THIRD-PARTY-NOTICES", "doc/tags"]) {
      expect(existsSync(join(data, VERSION, part))).toBe(true);
    }
    const { stdout: version } = await run([join(data, STABLE), "--version"]);
    expect(version).toBe("claude-code.nvim 0.1.0\n");
  });

  test("prints what makes Neovim load the plugin, which serves", async () => {
    const env = { NVIM_APPNAME: "other" };
    const { stdout } = await installer(env, published);
    const init = join(data, "init.lua");
    await writeFile(init, stdout.slice(stdout.indexOf("init.lua:") + "init.lua:".length));
    const check = `lua
      local plugin = require("claude-code")
      plugin.start()
      vim.wait(20000, function() return plugin.status().state == "ready" end, 20)
      vim.cmd.help("claude-code")
      local _, refused = require("claude-code.install").wait({})
      io.write(vim.json.encode({ binary = plugin.status().binary, refused = refused }))`;
    const args = ["-u", init, "-i", "NONE", "--headless", "-c", check.replaceAll("\n", " ")];
    for (const { binary } of NEOVIMS) {
      const found = await run([binary, ...args, "-c", "qa!"], env);
      expect(JSON.parse(found.stdout)).toEqual({
        binary: { path: join(data, VERSION, "claude-code-nvim"), source: "managed" },
        refused: expect.stringContaining("was installed together with its executable"),
      });
    }
  });

  test("replaces an older version as a whole, keeps the previous one, and removes older ones", async () => {
    await installer();
    const stale = join(data, VERSION, "lua/claude-code/stale.lua");
    await writeFile(stale, "return 1");
    const hour = new Date(Date.now() - 3_600_000);
    for (const version of ["0.0.8", "0.0.9"]) {
      const folder = join(data, ROOM, `${version}-${NATIVE.name}`);
      await mkdir(folder);
      await writeFile(join(folder, "claude-code-nvim"), "");
      await utimes(folder, hour, hour);
    }
    await rm(join(data, STABLE));
    await symlink(`../0.0.9-${NATIVE.name}/claude-code-nvim`, join(data, STABLE));
    expect((await installer()).code).toBe(0);
    expect(existsSync(stale)).toBe(false);
    expect(readdirSync(join(data, ROOM)).sort()).toEqual(
      ["0.0.9", "0.1.0"].map((version) => `${version}-${NATIVE.name}`).concat("bin", "download"),
    );
    expect(readlinkSync(join(data, STABLE))).toBe(`../0.1.0-${NATIVE.name}/claude-code-nvim`);
  });

  test("leaves alone a plugin that is not its own", async () => {
    const plugin = join(data, START, "claude-code.nvim");
    await mkdir(join(plugin, ".git"), { recursive: true });
    expect(await installer()).toMatchObject(refusal(`${plugin} is not a symlink of this`));
    expect(small.server.requests).toEqual([]);
  });

  nightly.test.each(["077", "002"])(
    "lets everyone read with umask %s, and no one else write",
    async (umask) => {
      const command = `umask ${umask} && exec sh "$@"`;
      expect((await run(["sh", "-c", command, "sh", ...words()])).code).toBe(0);
      const modes = readdirSync(data, { recursive: true, encoding: "utf8" }).map((name) => {
        const stats = statSync(join(data, name));
        const isRun = stats.isDirectory() || /claude-code-nvim$|run\.sh$/.test(name);
        return { name, mode: stats.mode & 0o777, wanted: isRun ? 0o755 : 0o644 };
      });
      expect(modes.filter(({ mode, wanted }) => mode !== wanted)).toEqual([]);
    },
  );

  test.each(first(3, ["tampered", "truncated", "404", "cut off", "redirect to http"] as const))(
    "refuses a server's answer that is %s",
    async (behaviour) => {
      claims("`install.sh` installs nothing that it cannot check");
      small.server.onlyFor(".tar.gz", behaviour);
      const { code, stderr } = await installer();
      expect(code).toBe(1);
      expect(stderr).toMatch(/cannot download|is damaged or was tampered with/);
      expect(leaves()).toEqual(EMPTY);
    },
  );

  if (!hasWget) platformSkip("wget or timeout is missing");
  test.skipIf(!hasWget)("refuses sums that wget gets through a redirect to http", async () => {
    const bin = await programs("wget", "timeout", ...COMMON);
    small.server.onlyFor("SHA256SUMS", "redirect to http");
    expect(await installer({ PATH: bin })).toMatchObject(
      refusal("redirects to an address that is not"),
    );
    small.server.reset("good");
    expect(await installer({ PATH: bin })).toMatchObject({ code: 0 });
  });

  test("does not fill the disk with an endless answer", async () => {
    const bin = await programs(...COMMON);
    // In units of 512 bytes.
    const curl = `#!/bin/sh\nulimit -f >${data}/limit\nexit 22\n`;
    await writeFile(join(bin, "curl"), curl, { mode: 0o755 });
    expect((await installer({ PATH: bin })).stderr).toContain("cannot download");
    expect(Number(readFileSync(join(data, "limit"), "utf8"))).toBeLessThan(2 ** 21);
  });

  test.each([
    ["everybody may change", ROOM, 0o777, 0],
    ["belongs to another user", ROOM, 0o755, 65_534],
    ["has packages that everybody may change", "nvim/site/pack", 0o777, 0],
    ["is a symlink of another user", "link", 0o755, 65_534],
  ])("refuses a folder that %s", async (_, name, mode, owner) => {
    if (owner && process.getuid?.() !== 0) return platformSkip("only root can chown");
    const folder = join(data, name);
    const isLink = name === "link";
    if (isLink) await symlink(data, folder);
    else await mkdir(folder, { recursive: true });
    if (!isLink) await chmod(folder, mode);
    if (owner) await lchown(folder, owner, owner);
    expect(await installer(isLink ? { XDG_DATA_HOME: folder } : {})).toMatchObject(
      refusal(`can write to ${folder} and`),
    );
    expect(small.server.requests).toEqual([]);
  });

  const hostile: [what: string, entry: (top: string) => HostileEntry][] = [
    ["a path out of its folder", (top) => ({ path: `${top}/../../owned` })],
    ["a symlink", (top) => ({ path: `${top}/lua/link`, kind: "2", link: data })],
    ["a setuid bit", (top) => ({ path: `${top}/lua/program`, mode: 0o4755 })],
    ["a path beside its folder", () => ({ path: "owned" })],
    ["an absolute path", () => ({ path: join(data, "owned") })],
    ["a hard link", (top) => ({ path: `${top}/lua/link`, kind: "1", link: "/etc/hostname" })],
    ["a device", (top) => ({ path: `${top}/lua/null`, kind: "3" })],
  ];
  test.each(first(3, hostile))(
    "does not unpack an archive with %s, whatever its sum",
    async (_, entry) => {
      claims("`install.sh` installs nothing that it cannot check");
      const { file } = small.release.asset;
      const archive = hostileArchive(entry(file.replace(".tar.gz", "")), small.release.archive);
      small.server.replace(file, archive.bytes);
      small.server.replace("SHA256SUMS", Buffer.from(`${archive.sha256}  ${file}\n`));
      expect(await installer()).toMatchObject(refusal("the archive was not unpacked"));
      expect(leaves()).toEqual(EMPTY);
    },
  );

  const downloaders = ["curl", ...(hasWget ? ["wget"] : [])];
  /** The same programs, for which half an hour is over after a second. */
  const hasty = {
    curl: `for a; do shift; [ "$a" != 1800 ] || a=1; set -- "$@" "$a"; done; exec curl "$@"`,
    wget: `[ "$1" != 1800 ] || { shift && set -- 1 "$@"; }; exec timeout "$@"`,
  };
  test.each(first(1, downloaders))("gives up with %s on a server that drips", async (tool) => {
    const bin = await programs(...COMMON);
    if (tool === "wget") await symlink(Bun.which("wget") ?? "", join(bin, "wget"));
    const [name, body] = tool === "curl" ? ["curl", hasty.curl] : ["timeout", hasty.wget];
    const text = `#!/bin/sh\nPATH=${process.env.PATH}\n${body}\n`;
    await writeFile(join(bin, name), text, { mode: 0o755 });
    small.server.onlyFor(".tar.gz", "drip");
    expect(await installer({ PATH: bin })).toMatchObject(refusal("cannot download"));
    expect(existsSync(join(data, STABLE))).toBe(false);
  });

  test.each(first(1, downloaders))(
    "gives up with %s on a server that redirects endlessly",
    async (tool) => {
      let requests = 0;
      using server = Bun.serve({
        port: 0,
        tls: { cert: CERTIFICATE, key: KEY },
        fetch: ({ url }) => Response.redirect(new URL(`/${requests++}`, url).href),
      });
      const authority = join(data, "authority.pem");
      await writeFile(authority, CERTIFICATE);
      await writeFile(join(data, ".wgetrc"), `ca_certificate = ${authority}\n`);
      const more = tool === "wget" ? ["timeout"] : [];
      const env = { PATH: await programs(tool, ...more, ...COMMON), CURL_CA_BUNDLE: authority };
      const args = ["--mirror", `https://localhost:${server.port}`];
      expect(await run(["sh", script, "--version", "0.1.0", ...args], env)).toMatchObject(
        refusal("cannot download"),
      );
      expect([requests > 5, requests < 100]).toEqual([true, true]);
    },
  );

  test.each(first(1, ["$(id)", "../1.0", "1 0"]))("refuses the version %s", async (version) => {
    expect(await run(["sh", script, "--version", version])).toMatchObject(
      refusal("is not a version such as"),
    );
  });

  test.each(first(1, ["SIGKILL", "SIGTERM"] as const))(
    "keeps what was installed when ended by %s",
    async (signal) => {
      await installer();
      const executable = join(data, STABLE);
      const before = readFileSync(executable);
      small.server.onlyFor(".tar.gz", "held");
      const env = { ...process.env, XDG_DATA_HOME: data };
      const stdio = ["ignore", "ignore", "ignore"] as const;
      const child = Bun.spawn(["sh", ...words()], { env, stdio: [...stdio] });
      // The sums of either run, and then its archive.
      await eventually("the download", () => small.server.requests.length === 4);
      process.kill(child.pid, signal);
      small.server.letGo();
      await child.exited;
      expect(readFileSync(executable)).toEqual(before);
      if (signal === "SIGTERM") expect(readdirSync(join(data, ROOM, "download"))).toEqual([]);
      small.server.reset("good");
      expect(await installer()).toMatchObject({ code: 0 });
    },
  );

  test("refuses when it cannot check", async () => {
    claims("`install.sh` installs nothing that it cannot check");
    const bin = await programs("curl", "mktemp", "rm", "sed", "cut");
    expect(await installer({ PATH: bin })).toMatchObject(refusal("could not be checked"));
    expect(small.server.requests).toEqual([]);
  });

  test("refuses sums that do not name the archive, and a host that is not https", async () => {
    small.server.replace("SHA256SUMS", Buffer.from("0".repeat(64)));
    expect(await installer()).toMatchObject(refusal("so it cannot be checked"));
    const plain = await run(["sh", script, "--version", "1", "--mirror", "http://example.com"]);
    expect([plain.code, plain.stderr]).toEqual([1, expect.stringContaining("is not https")]);
  });

  nightly.test("needs only the archive in the release's own copy", async () => {
    const own = join(data, "install.sh");
    const { version, assets } = small.release;
    await writeFile(own, renderInstaller(readFileSync(script, "utf8"), version, assets));
    const args = ["--mirror", small.server.url];
    expect(await run(["sh", own, ...args])).toMatchObject({ code: 0 });
    expect(small.server.requests.map((url) => url.split("/").at(-1))).toEqual([
      small.release.asset.file,
    ]);
    small.server.onlyFor(".tar.gz", "tampered");
    expect((await run(["sh", own, ...args])).stderr).toContain("is damaged or was tampered with");
  });

  nightly.test(
    "removes what a killed run has left, but not the files of a running one",
    async () => {
      for (const [name, minutes] of [
        ["0ldOne", 61],
        ["yoUng1", 1],
      ] as const) {
        const folder = join(data, ROOM, "download", `install.${name}`);
        await mkdir(folder, { recursive: true });
        const then = new Date(Date.now() - minutes * 60_000);
        await utimes(folder, then, then);
      }
      await installer();
      expect(readdirSync(join(data, ROOM, "download"))).toEqual(["install.yoUng1"]);
    },
  );

  test("names both without curl and wget", async () => {
    const { stderr } = await installer({ PATH: await programs() });
    expect(stderr).toContain("neither curl nor wget is installed");
  });

  const disks: [name: string, options: (archive: number) => string, message: string][] = [
    ["is full before all has come", (size) => `size=${size >> 1}`, "has no room for http"],
    ["runs no programs", () => "noexec", "does not run programs (noexec); set $XDG_DATA_HOME"],
    ["is full before all is unpacked", (size) => `size=${size + 50_000}`, "(is the disk full?)"],
    ["is read-only", () => "ro", "cannot be made"],
  ];
  test.each(first(2, disks))("names a file system that %s, and leaves it alone", async (...row) => {
    const [, options, message] = row;
    const folder = temporaryFolder();
    const mounted = await inMount(folder, options(small.release.asset.size), "/bin/sh", data);
    if (!mounted) return;
    const command = `sh ${words().join(" ")}; echo $?; find ${folder} ! -type d`;
    const { stdout, stderr } = await run([mounted, "-c", command], { XDG_DATA_HOME: folder });
    await rm(folder, { recursive: true });
    expect([stdout, stderr]).toEqual(["1\n", expect.stringContaining(message)]);
  });

  test("says that a program does not run here", async () => {
    await using broken = await Publication.start(
      await TestRelease.standIn({ program: "exit 127" }),
    );
    expect(await installer({}, broken)).toMatchObject(refusal("does not run on this machine"));
    expect(existsSync(join(data, STABLE))).toBe(false);
  });
});

describe("in a folder full of traps", () => {
  let trap: string;
  beforeAll(async () => {
    trap = temporaryFolder();
    const owned = `require("fs").writeFileSync("${trap}/owned", "")`;
    const files: Record<string, string> = {
      "hostile.js": owned,
      "bunfig.toml": 'preload = ["./hostile.js"]\n',
      ".env": `BUN_OPTIONS=--preload ${trap}/hostile.js\nNVIM=/evil\n`,
      "package.json": '{ "name": "x", "type": "commonjs", "main": "hostile.js" }',
      "tsconfig.json": '{ "compilerOptions": { "paths": { "*": ["./hostile.js"] } } }',
      "claude-code-nvim": `#!/bin/sh\ntouch ${trap}/owned\n`,
    };
    for (const name of ["neovim", "valibot", "winston", "@msgpack/msgpack"])
      files[`node_modules/${name}/index.js`] = owned;
    for (const [name, text] of Object.entries(files))
      await Bun.write(join(trap, name), text, { mode: 0o755 });
  });

  test("runs in other Bun programs what BUN_OPTIONS names", async () => {
    const BUN_OPTIONS = `--preload ${trap}/hostile.js`;
    await run([join(unpacked, "claude-code-nvim"), "--version"], { BUN_OPTIONS });
    expect(existsSync(join(trap, "owned"))).toBe(true);
    await rm(join(trap, "owned"));
  });

  test.each([
    [["--version"], 0, "claude-code.nvim 0.1.0\n"],
    [["serve"], 2, ""],
  ])("runs none of it with %p", async (args, code, stdout) => {
    const result = await run([join(unpacked, "claude-code-nvim"), ...args], {}, trap);
    expect(result).toMatchObject({ code, stdout });
    expect(result.stderr).not.toContain("/evil");
    expect(existsSync(join(trap, "owned"))).toBe(false);
  });

  test("runs none of it in a session, whatever BUN_OPTIONS says", async () => {
    claims("A project runs no code in the executable");
    const plugin = await published.release.checkout();
    await mkdir(join(plugin, "dist"));
    await published.release.place(join(plugin, "dist/claude-code-nvim"));
    await using neovim = await TestNeovim.start({
      version: OLDEST,
      runtimepath: plugin,
      cwd: trap,
      env: {
        BUN_OPTIONS: `--preload ${trap}/hostile.js`,
        BUN_BE_BUN: "1",
        PATH: `.:${process.env.PATH}`,
      },
    });
    expect((await neovim.lock()).content.workspaceFolders).toEqual([trap]);
    await neovim.lua(`require("port").install.ORDER = { "system" }`);
    const found = await neovim.lua(`return (require("port").install.find())`);
    expect(found).toBeNull();
    expect(existsSync(join(trap, "owned"))).toBe(false);
  });
});
