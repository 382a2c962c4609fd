import { spawn } from "node:child_process";
import { existsSync, readlinkSync, utimesSync } from "node:fs";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import {
  claims,
  eventually,
  isolatedEnv,
  isRunning,
  NEOVIMS,
  NEWEST,
  type NeovimVersion,
  needs,
  nightly,
  OLDEST,
  perBlock,
  perTest,
  rows,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { dirname, join } from "../../src/lib/platform";
import { DataFolder, install, Publication } from "../support/installer";
import { inMount } from "../support/mount";
import { mayBuild, NATIVE, TestRelease } from "../support/release";

mayBuild();

const published = perBlock(async () => Publication.start(await TestRelease.standIn()));
const data = perTest(() => new DataFolder());
beforeEach(() => {
  published.server.reset("good");
});

const start = (version: NeovimVersion) => published.neovim(version, { XDG_DATA_HOME: data.xdg });

const installed = () => ({ path: data.executable("0.1.0") });

describe.each(NEOVIMS)("an installation in $name", (version) => {
  test("is verified, run once, at its stable path, and not repeated", async () => {
    const { server, release } = published;
    await using neovim = await start(version);
    expect(await install(neovim)).toEqual(installed());
    expect(data.installedVersion()).toBe("0.1.0");
    expect(readlinkSync(data.stable)).toBe(`../0.1.0-${NATIVE.name}/claude-code-nvim`);
    expect(data.leftovers()).toEqual([]);
    expect(await install(neovim)).toEqual(installed());
    expect(server.requests).toEqual([`/v0.1.0/${release.asset.file}`]);
  });
});

describe("an existing executable", () => {
  const version = NEWEST;

  test("is replaced when it does not run, or when that is asked for", async () => {
    const { server } = published;
    await using neovim = await start(version);
    await mkdir(dirname(data.executable("0.1.0")), { recursive: true });
    await writeFile(data.executable("0.1.0"), "#!/bin/false\n", { mode: 0o755 });
    expect(await install(neovim)).toEqual(installed());
    expect(data.installedVersion()).toBe("0.1.0");
    expect(await install(neovim, "{ force = true }")).toEqual(installed());
    expect(data.installedVersion()).toBe("0.1.0");
    expect(data.leftovers()).toEqual([]);
    expect(server.requests).toHaveLength(2);
  });

  test("is kept if it is the previous version, and removed if it is older", async () => {
    const { release } = published;
    const oldest = await previous("0.0.7");
    const older = await previous("0.0.9");
    const before = await previous("0.0.8");
    const other = join(data.root, "notes");
    await mkdir(other);
    await using neovim = await start(version);
    await install(neovim, `{ archive = [[${release.archive}]] }`);
    const now = `0.1.0-${NATIVE.name}`;
    expect(data.versions()).toEqual([before, now, "notes"].sort());
    expect([oldest, older].some((name) => existsSync(join(data.root, name)))).toBe(false);
    expect(data.installedVersion()).toBe("0.1.0");
  });

  /** Another version, as if it had been installed an hour ago; the last one made is in use. */
  const previous = async (number: string): Promise<string> => {
    const executable = data.executable(number);
    await mkdir(dirname(executable), { recursive: true });
    await writeFile(executable, `#!/bin/sh\necho claude-code.nvim ${number}\n`);
    await chmod(executable, 0o755);
    const hour = new Date(Date.now() - 3_600_000);
    utimesSync(dirname(executable), hour, hour);
    await mkdir(dirname(data.stable), { recursive: true });
    const name = `${number}-${NATIVE.name}`;
    Bun.spawnSync(["ln", "-sfn", `../${name}/claude-code-nvim`, data.stable]);
    return name;
  };
});

nightly.test("ends curl when Neovim ends", async () => {
  const { server, release } = published;
  server.reset("held");
  await using neovim = await start(NEWEST);
  const [curl, ...others] = await neovim.lua<number[]>(`
    require("port").install.start({}, function() end)
    vim.wait(10000, function() return #vim.api.nvim_get_proc_children(vim.fn.getpid()) > 0 end)
    return vim.api.nvim_get_proc_children(vim.fn.getpid())`);
  await data.fetching(release.asset.file, neovim);
  expect([typeof curl, others]).toEqual(["number", []]);
  await neovim.quit();
  await eventually("the end of curl", () => !isRunning(curl as number));
});

test("checks a local archive as a download, and keeps it", async () => {
  const { release, server } = published;
  await using neovim = await start(NEWEST);
  const from = async (path: string) => install(neovim, `{ archive = [[${path}]] }`);
  const other = join(data.xdg, "other.tar.gz");
  await writeFile(other, "no archive");
  expect((await from(other)).message).toContain("does not belong to version");
  expect((await from("/nowhere")).message).toBe("the archive /nowhere does not exist");
  const pid = await neovim.lua<number>("return vim.uv.os_getpid()");
  const inTheWay = join(data.root, "download", `${release.asset.file}.${pid}.part`);
  await mkdir(inTheWay, { recursive: true });
  expect((await from(release.archive)).message).toContain(`cannot copy ${release.archive}: EISDIR`);
  await rm(inTheWay, { recursive: true });
  await neovim.lua(`
    _G.target = require("port").release.target
    require("port").release.target = function() return "linux-riscv" end`);
  expect((await from(release.archive)).message).toContain(
    "there is no prebuilt one for linux-riscv",
  );
  await neovim.lua(`require("port").release.target = _G.target`);
  expect(data.versions()).toEqual([]);
  expect(await from(release.archive)).toEqual(installed());
  expect(existsSync(release.archive)).toBe(true);
  expect(server.requests).toEqual([]);
});

needs("FIFOs")("installs the checked content of a local archive that is swapped", async () => {
  claims("What the plugin downloads has the pinned SHA-256");
  const { release } = published;
  await using neovim = await start(NEWEST);
  const archive = join(data.xdg, "archive.tar.gz");
  const programs = join(data.xdg, "programs");
  await mkdir(programs);
  await writeFile(archive, await Bun.file(release.archive).bytes());
  // Its path changes as soon as its checksum is known.
  const script = `#!/bin/sh
shasum -a 256 "$@"
echo swapped >${archive}
`;
  await writeFile(join(programs, "sha256sum"), script, { mode: 0o755 });
  await neovim.lua(`vim.env.PATH = ... .. ":" .. vim.env.PATH`, programs);
  expect(await install(neovim, `{ archive = [[${archive}]] }`)).toEqual(installed());
  expect(await Bun.file(archive).text()).toBe("swapped\n");
  expect(data.leftovers()).toEqual([]);
  const fifo = join(data.xdg, "fifo");
  Bun.spawnSync(["mkfifo", fifo]);
  const refused = await install(neovim, `{ archive = [[${fifo}]], force = true }`);
  expect(refused.message).toContain("is not a file");
});

describe("two Neovims at once", () => {
  test("installs one executable for both", async () => {
    await using first = await start(OLDEST);
    await using second = await start(NEWEST);
    const request = "{ force = true }";
    const outcomes = await Promise.all([install(first, request), install(second, request)]);
    expect(outcomes).toEqual([installed(), installed()]);
    expect(data.installedVersion()).toBe("0.1.0");
    expect(data.versions()).toEqual([`0.1.0-${NATIVE.name}`]);
    expect(data.leftovers()).toEqual([]);
  });

  test("lets the second continue when the first is killed", async () => {
    const { server, release } = published;
    server.reset("held");
    await using first = await start(OLDEST);
    await using second = await start(NEWEST);
    install(first).catch(() => {});
    await data.fetching(release.asset.file, first);
    const two = install(second);
    first.process.kill("SIGKILL");
    server.behaviour = "good";
    expect(await two).toEqual(installed());
    expect(server.requests).toHaveLength(2);
  });
});

test("is absent or correct at the stable path if killed at any moment", async () => {
  claims("An interrupted installation leaves a working executable");
  const home = temporaryFolder();
  const { plugin, options, server } = published;
  const env = { ...isolatedEnv(home), XDG_DATA_HOME: data.xdg };
  const setup = `lua require("claude-code").setup(${options})`;
  const args = ["--clean", "--headless", "--cmd", `set rtp^=${plugin}`, "-c", setup];
  const run = (kill?: () => Promise<unknown>) =>
    new Promise<number | null>((resolve, reject) => {
      const command = [...args, "-c", "Claude install!", "-c", "qa!"];
      const child = spawn(OLDEST.binary, command, { env, stdio: "ignore" });
      child.on("exit", resolve);
      kill?.().then(() => child.kill("SIGKILL"), reject);
    });
  const moments = [30, 60, 90, 130, 180, 250].map((ms) => () => Bun.sleep(ms));
  // A slow machine gets no further than that, so at least one is killed during the download.
  const fetching = () => {
    server.reset("held");
    return eventually("a request", () => server.requests.length > 0);
  };
  for (const moment of [...moments, fetching]) {
    await run(moment);
    expect([undefined, "0.1.0"]).toContain(data.installedVersion());
  }
  server.behaviour = "good";
  expect(await run()).toBe(0);
  expect(data.installedVersion()).toBe("0.1.0");
  expect(server.requests.length).toBeGreaterThan(1);
});

describe("the data folder", () => {
  const version = NEWEST;

  test("names a data folder that cannot be made, and what else would do", async () => {
    await using neovim = await start(version);
    const file = join(data.xdg, "file");
    await writeFile(file, "");
    await neovim.lua(`vim.env.XDG_DATA_HOME = ...`, file);
    const { message } = await install(neovim);
    expect(message).toContain(`cannot create the folder ${file}/claude-code.nvim/download`);
    expect(message).toContain("set binary.path");
  });

  const filesystems = rows(`
    is read-only | ro | cannot create the folder .* make it writable
    runs no programs | noexec | the file system of .* does not run programs \\(noexec\\); set \\$XDG_DATA_HOME
    is full while the archive comes | size=HALF | could not be written: is the disk full
    is full while it is unpacked | size=MORE | cannot unpack .*(wrote only|no space)`);
  test.each(filesystems)(
    "names a file system that %s, and leaves nothing half installed",
    async (_what, options = "", message = "") => {
      const place = temporaryFolder();
      await using _ = { [Symbol.asyncDispose]: () => rm(place, { recursive: true }) };
      const { size } = published.release.asset;
      const mount = options.replace("HALF", `${size >> 1}`).replace("MORE", `${size + 50_000}`);
      const wrapper = await inMount(data.xdg, mount, version.binary, place);
      if (!wrapper) return;
      await using neovim = await TestNeovim.start({
        version: { name: version.name, binary: wrapper },
        runtimepath: published.plugin,
        setup: published.options,
        env: { XDG_DATA_HOME: data.xdg },
      });
      const outcome = await install(neovim);
      expect(outcome.message).toMatch(new RegExp(message, "i"));
      const seen = `return vim.fn.glob(vim.env.XDG_DATA_HOME .. "/claude-code.nvim/*-*/", true, true)`;
      expect(await neovim.lua<string[]>(seen)).toEqual([]);
    },
  );
});
