import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import {
  chmod,
  copyFile,
  cp,
  lchown,
  mkdir,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { basename, join } from "node:path";
import { renderInstaller } from "../../scripts/packaging/installer";
import { CERTIFICATE, KEY } from "../support/certificate";
import { claims } from "../support/claims";
import { eventually } from "../support/eventually";
import { type HostileEntry, hostileArchive } from "../support/hostile-archive";
import { Publication } from "../support/installer";
import { inMount } from "../support/mount";
import {
  isolatedEnv,
  NEOVIMS,
  NEWEST,
  nightly,
  OLDEST,
  TestNeovim,
  temporaryFolder,
} from "../support/neovim";
import { platformSkip } from "../support/platform-skip";
import { BUILD_MS, TestRelease } from "../support/release";
import { first, ROOT } from "../support/toolchain";

setDefaultTimeout(BUILD_MS);

/** Installations without a plugin manager: `claude-code-nvim install` and install.sh. */
let published: Publication;
let unpacked: string;
let prefix: string;

beforeAll(async () => {
  published = await Publication.start(await TestRelease.build());
  unpacked = await published.release.unpacked();
});
afterAll(() => published[Symbol.asyncDispose]());
beforeEach(() => {
  prefix = temporaryFolder();
  published.server.reset("good");
});
afterEach(() => rm(prefix, { recursive: true, force: true }));

const PLUGIN = "share/nvim/site/pack/claude-code.nvim/start/claude-code.nvim";

async function run(command: string[], env: Record<string, string> = {}, cwd = "/") {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...isolatedEnv(prefix), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, out, err };
}

const install = (...args: string[]) =>
  run([join(unpacked, "claude-code-nvim"), "install", ...args]);

describe("claude-code-nvim install", () => {
  test("lays out executable, plugin and man page", async () => {
    const { code, out } = await install("--prefix", prefix);
    expect(code).toBe(0);
    const paths = ["bin/claude-code-nvim", PLUGIN, "share/man/man1/claude-code-nvim.1"];
    expect(out).toBe(paths.map((path) => `${join(prefix, path)}\n`).join(""));
    expect(statSync(join(prefix, "bin/claude-code-nvim")).mode & 0o777).toBe(0o755);
    const plugin = join(prefix, PLUGIN);
    expect(existsSync(join(plugin, "lua/claude-code/install/manifest.lua"))).toBe(false);
    expect(existsSync(join(plugin, "doc/claude-code-nvim.1"))).toBe(false);
    const { out: version } = await run([join(prefix, "bin/claude-code-nvim"), "--version"]);
    expect(version).toBe("claude-code.nvim 0.1.0\n");
  });

  nightly.test("brings the licenses, and sweeps what a killed installation has left", async () => {
    const bin = join(prefix, "bin/.claude-code-nvim.0a1b2c3d.tmp");
    const pack = join(prefix, PLUGIN, "../../.new-x/claude-code.nvim/lua");
    await mkdir(join(prefix, "bin"), { recursive: true });
    await mkdir(pack, { recursive: true });
    await writeFile(bin, "half");
    const young = bin.replace("0a1b", "ffff");
    await writeFile(young, "being written");
    const old = new Date(Date.now() - 3_600_000);
    for (const path of [bin, join(pack, "../..")]) await utimes(path, old, old);
    await install("--prefix", prefix);
    expect([existsSync(bin), existsSync(pack), existsSync(young)]).toEqual([false, false, true]);
    expect(readdirSync(join(prefix, "share/doc/claude-code-nvim")).sort()).toEqual([
      "LICENSE",
      "THIRD-PARTY-NOTICES",
    ]);
  });

  test.each(NEOVIMS)("$name loads it as a package, and serves a session", async (version) => {
    await install(`--prefix=${prefix}`);
    // As the formula's caveats say it; nothing else makes Neovim load the plugin.
    const site = join(prefix, "share/nvim/site");
    const setup = `lua vim.opt.packpath:append([[${site}]]) require("claude-code").setup({})`;
    const init = join(prefix, "init.lua");
    await writeFile(init, setup.replace(/^lua /, ""));
    await using neovim = await TestNeovim.start({
      version,
      runtimepath: prefix,
      setup: false,
      args: ["-u", init],
    });
    await neovim.lock();
    const { binary } = await neovim.lua<{ binary: { path: string; source: string } }>(
      `return require("claude-code").status()`,
    );
    expect(binary.source).toBe("build");
    expect(await neovim.lua(`return vim.uv.fs_realpath(...)`, binary.path)).toBe(
      join(prefix, "bin/claude-code-nvim"),
    );
    await neovim.command("help claude-code");
    const refused = await neovim.lua(`
      local _, message = require("port").install.wait({})
      return message`);
    expect(refused).toContain("came together with its executable");
  });

  nightly.test("writes the help tags that Neovim would", async () => {
    await install("--prefix", prefix);
    const doc = join(prefix, PLUGIN, "doc");
    const ours = readFileSync(join(doc, "tags"), "utf8");
    expect(ours.split("\n").length).toBeGreaterThan(10);
    const nvim = NEWEST.binary;
    await run([nvim, "--clean", "--headless", "-c", `helptags ${doc}`, "-c", "qa!"]);
    expect(ours).toBe(readFileSync(join(doc, "tags"), "utf8"));
  });

  nightly.test("replaces an older version as a whole", async () => {
    await install("--prefix", prefix);
    const stale = join(prefix, PLUGIN, "lua/claude-code/stale.lua");
    await writeFile(stale, "return 1");
    expect((await install("--prefix", prefix)).code).toBe(0);
    expect(existsSync(stale)).toBe(false);
  });

  nightly.test("leaves alone what is not its own", async () => {
    const plugin = join(prefix, PLUGIN);
    await mkdir(plugin, { recursive: true });
    const other = await install("--prefix", prefix);
    expect([other.code, other.err]).toEqual([1, expect.stringContaining("holds something else")]);
    await rm(plugin, { recursive: true });
    await install("--prefix", prefix);
    await mkdir(join(plugin, ".git"));
    const checkout = await install("--prefix", prefix);
    expect([checkout.code, checkout.err]).toEqual([
      1,
      expect.stringContaining("is a git checkout"),
    ]);
  });

  test("on a file system that runs no programs: says so", async () => {
    const folder = temporaryFolder();
    const program = join(unpacked, "claude-code-nvim");
    const mounted = await inMount(folder, "noexec", program, prefix);
    if (!mounted) return;
    const { code, out, err } = await run([mounted, "install", "--prefix", folder]);
    await rm(folder, { recursive: true });
    expect([code, out]).toEqual([0, expect.stringContaining("bin/claude-code-nvim\n")]);
    expect(err).toContain(`the file system of ${folder} does not run programs (noexec)`);
  });

  nightly.test.each(["077", "002"])(
    "umask %s: everybody may read it, nobody else write",
    async (umask) => {
      const target = join(prefix, "a/new folder");
      const command = `umask ${umask} && exec "$0" install --prefix "$1"`;
      const program = join(unpacked, "claude-code-nvim");
      expect((await run(["sh", "-c", command, program, target])).code).toBe(0);
      const names = readdirSync(join(prefix, "a"), { recursive: true, encoding: "utf8" });
      const modes = ["", ...names].map((name) => {
        const stats = lstatSync(join(prefix, "a", name));
        const isRun = stats.isDirectory() || name.endsWith("bin/claude-code-nvim");
        const wanted = stats.isSymbolicLink() ? stats.mode & 0o777 : isRun ? 0o755 : 0o644;
        return { name, mode: (stats.mode & 0o777).toString(8), wanted: wanted.toString(8) };
      });
      expect(modes.filter(({ mode, wanted }) => mode !== wanted)).toEqual([]);
    },
  );

  nightly.test("cannot do it: says why", async () => {
    expect((await install()).code).toBe(2);
    expect((await install("--prefix", prefix, "more")).code).toBe(2);
    const file = join(prefix, "file");
    await writeFile(file, "");
    const below = await install("--prefix", file);
    expect([below.code, below.err]).toEqual([1, expect.stringContaining(file)]);
    const alone = join(prefix, "claude-code-nvim");
    await copyFile(join(unpacked, "claude-code-nvim"), alone);
    const lonely = await run([alone, "install", "--prefix", prefix]);
    expect([lonely.code, lonely.err]).toEqual([1, expect.stringContaining("are not beside")]);
    const copy = join(prefix, "copy");
    await cp(unpacked, copy, { recursive: true });
    const contract = join(copy, "lua/claude-code/install/contract.lua");
    await writeFile(contract, readFileSync(contract, "utf8").replace('"0.1.0"', '"0.0.9"'));
    const mixed = await run([join(copy, "claude-code-nvim"), "install", "--prefix", prefix]);
    expect([mixed.code, mixed.err]).toEqual([1, expect.stringContaining("have version 0.0.9")]);
  });
});

describe("install.sh", () => {
  const script = join(ROOT, "install.sh");
  /** For what install.sh itself does, whatever is in the archive. */
  let small: Publication;
  beforeAll(async () => {
    small = await Publication.start(await TestRelease.standIn());
  });
  afterAll(() => small[Symbol.asyncDispose]());
  beforeEach(() => small.server.reset("good"));

  const installer = (env: Record<string, string> = {}, { server } = small) => {
    const args = ["--version", "0.1.0", "--prefix", prefix, "--mirror", server.url];
    return run(["sh", script, ...args], env);
  };

  /** A folder with what the script needs beside those programs, and them. */
  const programs = async (...names: string[]) => {
    const bin = join(prefix, "path");
    await mkdir(bin);
    const needed = ["sh", "tar", "gzip", "uname", "mkdir", "head", "grep", "env", "cat", "dirname"];
    for (const program of [...needed, "cp", ...names]) {
      await symlink(Bun.which(program) ?? "", join(bin, program));
    }
    return bin;
  };

  test("installs a checked archive, also where BUN_OPTIONS would run other code", async () => {
    const hostile = join(prefix, "hostile.js");
    await writeFile(hostile, `require("fs").writeFileSync("${prefix}/owned", "")`);
    const env = { BUN_OPTIONS: `--preload ${hostile}`, BUN_BE_BUN: "1" };
    const { code, out } = await installer(env, published);
    expect([code, out]).toEqual([
      0,
      expect.stringContaining("claude-code.nvim 0.1.0 is installed"),
    ]);
    expect(existsSync(join(prefix, "owned"))).toBe(false);
    expect(existsSync(join(prefix, "bin/claude-code-nvim"))).toBe(true);
  });

  const places: [name: string, env: (prefix: string) => Record<string, string>, append: boolean][] =
    [
      ["XDG_DATA_HOME is below the prefix", (at) => ({ XDG_DATA_HOME: `${at}/share` }), false],
      ["it is nowhere", () => ({ XDG_DATA_HOME: "/elsewhere" }), true],
      ["XDG_DATA_DIRS has it", (at) => ({ XDG_DATA_DIRS: `/usr/share:${at}/share/` }), false],
      [
        "NVIM_APPNAME is another",
        (at) => ({ XDG_DATA_HOME: `${at}/share`, NVIM_APPNAME: "other" }),
        true,
      ],
    ];
  test.each(first(1, places))(
    "%s: what it says makes Neovim load the plugin",
    async (_, env, append) => {
      const { out } = await installer(env(prefix));
      const [, ...lines] = out.slice(out.indexOf("is installed")).split("\n");
      expect(lines.some((line) => line.includes("packpath"))).toBe(append);
      const init = join(prefix, "init.lua");
      await writeFile(init, lines.join("\n"));
      for (const { binary } of NEOVIMS) {
        const print = `lua io.write(tostring(package.loaded["claude-code"]), vim.fn.exists(":Claude"))`;
        const found = await run(
          [binary, "-u", init, "-i", "NONE", "--headless", "-c", print, "-c", "qa!"],
          env(prefix),
        );
        expect(found.out).toMatch(/^table: .*2$/);
      }
    },
  );

  test.each(first(3, ["tampered", "truncated", "404", "cut off", "redirect to http"] as const))(
    "refuses what a server gives that is %s",
    async (behaviour) => {
      claims("`install.sh` installs nothing that it cannot check");
      small.server.onlyFor(".tar.gz", behaviour);
      const { code, err } = await installer();
      expect(code).toBe(1);
      expect(err).toMatch(/cannot download|is damaged or was tampered with/);
      expect(existsSync(join(prefix, "bin"))).toBe(false);
    },
  );

  const hasWget = Bun.which("wget") !== null;
  test.skipIf(!hasWget)("by wget: refuses sums that come by a redirect to http", async () => {
    const common = ["sha256sum", "mktemp", "rm", "sed", "cut", "find", "id", "timeout"];
    const bin = await programs("wget", ...common);
    small.server.onlyFor("SHA256SUMS", "redirect to http");
    const { code, err } = await installer({ PATH: bin });
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("redirects to an address that is not"),
    ]);
    small.server.reset("good");
    expect(await installer({ PATH: bin })).toMatchObject({ code: 0 });
  });

  test("a server that never ends its answer does not fill the disk", async () => {
    const bin = await programs("sha256sum", "mktemp", "rm", "sed", "cut", "find", "id");
    // In units of 512 bytes.
    await writeFile(join(bin, "curl"), `#!/bin/sh\nulimit -f >${prefix}/limit\nexit 22\n`);
    await chmod(join(bin, "curl"), 0o755);
    expect((await installer({ PATH: bin })).err).toContain("cannot download");
    expect(Number(readFileSync(join(prefix, "limit"), "utf8"))).toBeLessThan(2 ** 21);
  });

  test.each([
    ["everybody may change", "share", 0o777, 0],
    ["belongs to another user", "share", 0o755, 65_534],
    ["has packages that everybody may change", "share/nvim/site/pack", 0o777, 0],
    ["is a symlink of another user", "link", 0o755, 65_534],
  ])("refuses a folder that %s", async (_, name, mode, owner) => {
    if (owner && process.getuid?.() !== 0) return platformSkip("only root can chown");
    const folder = join(prefix, name);
    const isLink = name === "link";
    if (isLink) await symlink(prefix, folder);
    else await mkdir(folder, { recursive: true });
    if (!isLink) await chmod(folder, mode);
    if (owner) await lchown(folder, owner, owner);
    const args = ["--prefix", isLink ? folder : prefix, "--mirror", small.server.url];
    const { code, err } = await run(["sh", script, "--version", "0.1.0", ...args]);
    expect([code, err]).toEqual([1, expect.stringContaining(`can write to ${folder} and`)]);
    expect(readdirSync(prefix)).toEqual([name.split("/")[0] ?? ""]);
    expect(small.server.requests).toEqual([]);
  });

  const hostile: [what: string, entry: (top: string) => HostileEntry][] = [
    ["a path out of its folder", (top) => ({ path: `${top}/../../owned` })],
    ["a symlink", (top) => ({ path: `${top}/lua/link`, kind: "2", link: prefix })],
    ["a setuid bit", (top) => ({ path: `${top}/lua/program`, mode: 0o4755 })],
    ["a path beside its folder", () => ({ path: "owned" })],
    ["an absolute path", () => ({ path: join(prefix, "owned") })],
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
      const { code, err } = await installer();
      for (const path of [small.release.archive, join(small.release.folder, "SHA256SUMS")]) {
        small.server.replace(basename(path), readFileSync(path));
      }
      expect([code, err]).toEqual([1, expect.stringContaining("the archive was not unpacked")]);
      expect(readdirSync(prefix)).toEqual([]);
    },
  );

  const downloaders = ["curl", ...(Bun.which("wget") ? ["wget"] : [])];
  /** The same programs, for which half an hour is over after a second. */
  const hasty = {
    curl: `for a; do shift; [ "$a" != 1800 ] || a=1; set -- "$@" "$a"; done; exec curl "$@"`,
    wget: `[ "$1" != 1800 ] || { shift && set -- 1 "$@"; }; exec timeout "$@"`,
  };
  test.each(first(1, downloaders))(
    "by %s: a server that sends a byte now and then is left",
    async (tool) => {
      const bin = await programs("sha256sum", "mktemp", "rm", "sed", "cut", "find", "id");
      if (tool === "wget") await symlink(Bun.which("wget") ?? "", join(bin, "wget"));
      const [name, body] = tool === "curl" ? ["curl", hasty.curl] : ["timeout", hasty.wget];
      await writeFile(join(bin, name), `#!/bin/sh\nPATH=${process.env.PATH}\n${body}\n`);
      await chmod(join(bin, name), 0o755);
      small.server.onlyFor(".tar.gz", "drip");
      const { code, err } = await installer({ PATH: bin });
      expect([code, err]).toEqual([1, expect.stringContaining("cannot download")]);
      expect(existsSync(join(prefix, "bin"))).toBe(false);
    },
  );

  test.each(first(1, downloaders))(
    "by %s: a server that redirects without an end is left",
    async (tool) => {
      let requests = 0;
      using server = Bun.serve({
        port: 0,
        tls: { cert: CERTIFICATE, key: KEY },
        fetch: ({ url }) => Response.redirect(new URL(`/${requests++}`, url).href),
      });
      const authority = join(prefix, "authority.pem");
      await writeFile(authority, CERTIFICATE);
      await writeFile(join(prefix, ".wgetrc"), `ca_certificate = ${authority}\n`);
      const common = ["sha256sum", "mktemp", "rm", "sed", "cut", "find", "id", "timeout"];
      const env = { PATH: await programs(tool, ...common), CURL_CA_BUNDLE: authority };
      const args = ["--prefix", prefix, "--mirror", `https://localhost:${server.port}`];
      const { code, err } = await run(["sh", script, "--version", "0.1.0", ...args], env);
      expect([code, err]).toEqual([1, expect.stringContaining("cannot download")]);
      expect([requests > 5, requests < 100]).toEqual([true, true]);
    },
  );

  test.each(first(1, ["$(id)", "../1.0", "1 0"]))("refuses the version %s", async (version) => {
    const { code, err } = await run(["sh", script, "--version", version, "--prefix", prefix]);
    expect([code, err]).toEqual([1, expect.stringContaining("is not a version such as")]);
  });

  test.each(first(1, ["SIGKILL", "SIGTERM"] as const))(
    "%s while it downloads: what was installed stays, and the next run replaces it",
    async (signal) => {
      await installer();
      const executable = join(prefix, "bin/claude-code-nvim");
      const before = readFileSync(executable);
      small.server.onlyFor(".tar.gz", "held");
      const args = ["--version", "0.1.0", "--prefix", prefix, "--mirror", small.server.url];
      const child = Bun.spawn(["sh", script, ...args], { stdio: ["ignore", "ignore", "ignore"] });
      // Of either run the sums, and then the archive.
      await eventually("the download", () => small.server.requests.length === 4);
      process.kill(child.pid, signal);
      small.server.letGo();
      await child.exited;
      expect(readFileSync(executable)).toEqual(before);
      if (signal === "SIGTERM") expect(readdirSync(prefix).sort()).toEqual(["bin", "share"]);
      small.server.reset("good");
      expect(await installer()).toMatchObject({ code: 0 });
    },
  );

  test("refuses when it cannot check", async () => {
    claims("`install.sh` installs nothing that it cannot check");
    const bin = await programs("curl", "mktemp", "rm", "sed", "cut");
    const { code, err } = await installer({ PATH: bin });
    expect([code, err]).toEqual([1, expect.stringContaining("could not be checked")]);
    expect(small.server.requests).toEqual([]);
  });

  test("refuses sums that do not name the archive, and a host that is not https", async () => {
    const sums = join(small.release.folder, "SHA256SUMS");
    small.server.replace("SHA256SUMS", Buffer.from("0".repeat(64)));
    const { code, err } = await installer();
    small.server.replace("SHA256SUMS", readFileSync(sums));
    expect([code, err]).toEqual([1, expect.stringContaining("so it cannot be checked")]);
    const plain = await run(["sh", script, "--version", "1", "--mirror", "http://example.com"]);
    expect([plain.code, plain.err]).toEqual([1, expect.stringContaining("is not https")]);
  });

  nightly.test("the release's own copy needs only the archive, and no other host", async () => {
    const own = join(prefix, "install.sh");
    const { version, assets } = small.release;
    await writeFile(own, renderInstaller(readFileSync(script, "utf8"), version, assets));
    const args = ["--prefix", prefix, "--mirror", small.server.url];
    expect(await run(["sh", own, ...args])).toMatchObject({ code: 0 });
    expect(small.server.requests.map((url) => url.split("/").at(-1))).toEqual([
      small.release.asset.file,
    ]);
    small.server.onlyFor(".tar.gz", "tampered");
    expect((await run(["sh", own, ...args])).err).toContain("is damaged or was tampered with");
  });

  nightly.test(
    "leaves nothing beside what it installs, and removes what a killed run has left",
    async () => {
      for (const [name, minutes] of [
        ["0ldOne", 61],
        ["yoUng1", 1],
      ] as const) {
        const folder = join(prefix, `.claude-code-nvim.${name}`);
        await mkdir(folder);
        await writeFile(join(folder, "claude-code-nvim.tar.gz"), "half");
        const then = new Date(Date.now() - minutes * 60_000);
        await utimes(folder, then, then);
      }
      const before = (await installer()).out;
      expect(before).toContain(`$PATH lacks ${prefix}/bin`);
      expect(readdirSync(prefix).sort()).toEqual([".claude-code-nvim.yoUng1", "bin", "share"]);
      const { out } = await installer({ PATH: `${process.env.PATH}:${prefix}/bin` });
      expect(out).not.toContain("lacks");
    },
  );

  test("--help lists the options, and neither curl nor wget names both", async () => {
    const { code, out } = await run(["sh", script, "--help"]);
    expect([code, out]).toEqual([0, expect.stringMatching(/--version.*--prefix.*--mirror/s)]);
    const { err } = await installer({ PATH: await programs() });
    expect(err).toContain("neither curl nor wget is installed");
  });

  const disks: [name: string, options: (archive: number) => string, message: string][] = [
    ["is full before all has come", (size) => `size=${size >> 1}`, "has no room for http"],
    ["runs no programs", () => "noexec", "does not run programs (noexec); choose another folder"],
    ["is full before all is unpacked", (size) => `size=${size + 50_000}`, "(is the disk full?)"],
    ["is read-only", () => "ro", "is not writable"],
  ];
  test.each(first(2, disks))(
    "a file system that %s is named, and left as it was",
    async (...row) => {
      const [, options, message] = row;
      const folder = temporaryFolder();
      const args = ["--version", "0.1.0", "--prefix", folder, "--mirror", small.server.url];
      const mounted = await inMount(folder, options(small.release.asset.size), "/bin/sh", prefix);
      if (!mounted) return;
      const command = `sh ${script} ${args.join(" ")}; echo $?; ls -A ${folder}`;
      const { out, err } = await run([mounted, "-c", command]);
      await rm(folder, { recursive: true });
      expect([out, err]).toEqual(["1\n", expect.stringContaining(message)]);
    },
  );

  test("a program that does not run here is not called a folder that is not writable", async () => {
    const file = small.release.asset.file;
    const folder = file.replace(".tar.gz", "");
    const at = join(prefix, "broken");
    await mkdir(join(at, folder), { recursive: true });
    await writeFile(join(at, folder, "claude-code-nvim"), "\x7fELF, but not for this machine");
    await chmod(join(at, folder, "claude-code-nvim"), 0o755);
    await run(["tar", "-czf", join(at, file), "-C", at, folder]);
    const bytes = readFileSync(join(at, file));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const asset = { ...small.release.asset, sha256, size: bytes.length };
    const own = join(prefix, "install.sh");
    await writeFile(own, renderInstaller(readFileSync(script, "utf8"), "0.1.0", [asset]));
    small.server.replace(file, bytes);
    const { code, err } = await run(["sh", own, "--prefix", prefix, "--mirror", small.server.url]);
    small.server.replace(file, readFileSync(small.release.archive));
    expect([code, err]).toEqual([1, expect.stringContaining("does not run on this machine")]);
    expect(existsSync(join(prefix, "bin"))).toBe(false);
  });
});

describe("in a folder full of traps", () => {
  let trap: string;
  beforeAll(async () => {
    trap = temporaryFolder();
    const owned = `require("fs").writeFileSync("${trap}/owned", "")`;
    await writeFile(join(trap, "hostile.js"), owned);
    await writeFile(join(trap, "bunfig.toml"), 'preload = ["./hostile.js"]\n');
    await writeFile(join(trap, ".env"), `BUN_OPTIONS=--preload ${trap}/hostile.js\nNVIM=/evil\n`);
    await writeFile(
      join(trap, "package.json"),
      '{ "name": "x", "type": "commonjs", "main": "hostile.js" }',
    );
    await writeFile(
      join(trap, "tsconfig.json"),
      '{ "compilerOptions": { "paths": { "*": ["./hostile.js"] } } }',
    );
    for (const name of ["neovim", "valibot", "winston", "@msgpack/msgpack"]) {
      await mkdir(join(trap, "node_modules", name), { recursive: true });
      await writeFile(join(trap, "node_modules", name, "index.js"), owned);
    }
    const fake = join(trap, "claude-code-nvim");
    await writeFile(fake, `#!/bin/sh\ntouch ${trap}/owned\n`);
    await chmod(fake, 0o755);
  });
  afterAll(() => rm(trap, { recursive: true, force: true }));

  test("that do snap: what BUN_OPTIONS names runs in any compiled Bun program", async () => {
    const BUN_OPTIONS = `--preload ${trap}/hostile.js`;
    await run([join(unpacked, "claude-code-nvim"), "--version"], { BUN_OPTIONS });
    expect(existsSync(join(trap, "owned"))).toBe(true);
    await rm(join(trap, "owned"));
  });

  test.each([
    [["--version"], 0, "claude-code.nvim 0.1.0\n"],
    [["install"], 2, ""],
    [["serve"], 2, ""],
  ])("the executable's %p runs nothing of it", async (args, code, out) => {
    const result = await run([join(unpacked, "claude-code-nvim"), ...args], {}, trap);
    expect(result).toMatchObject({ code, out });
    expect(result.err).not.toContain("/evil");
    expect(existsSync(join(trap, "owned"))).toBe(false);
  });

  test("a session in it runs nothing of it, whatever BUN_OPTIONS and BUN_BE_BUN say", async () => {
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
    await neovim.lua(`require("port").locate.ORDER = { "system" }`);
    const found = await neovim.lua(`return (require("port").locate.find())`);
    expect(found).toBeNull();
    expect(existsSync(join(trap, "owned"))).toBe(false);
  });
});
