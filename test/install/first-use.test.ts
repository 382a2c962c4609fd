import { statSync } from "node:fs";
import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import {
  eventually,
  isolatedEnv,
  NEOVIMS,
  NEWEST,
  type NeovimVersion,
  nightly,
  OLDEST,
  perBlock,
  perTest,
  run as runProgram,
  TestClient,
  TestNeovim,
} from "#test";
import { dirname, join } from "../../src/lib/platform";
import { CONTRACT } from "../../src/lib/version";
import { DataFolder, install, Publication, reaches, statusOf } from "../support/installer";
import { mayBuild, TestRelease } from "../support/release";
import { LATER, shows } from "../terminal/workbench";

mayBuild();
let next: TestRelease;

const published = perBlock(async () => Publication.start(await TestRelease.standIn()));
beforeAll(async () => {
  next = await TestRelease.standIn({ version: "0.2.0", contract: CONTRACT + 1 });
});
const data = perTest(() => new DataFolder());
beforeEach(() => {
  published.server.reset("good");
});

const watched = (version: NeovimVersion, setup = published.starting(), from = published) =>
  from.watched(version, setup, { XDG_DATA_HOME: data.xdg });

const messages = async (neovim: TestNeovim) => (await statusOf(neovim)).warnings;

const ready = (neovim: TestNeovim) => reaches(neovim, "ready");

const failed = async (neovim: TestNeovim) => (await reaches(neovim, "failed")).last_error;

async function serves(neovim: TestNeovim): Promise<string[]> {
  await ready(neovim);
  const client = await TestClient.open(await neovim.lock());
  const { tools } = await client.request<{ tools: { name: string }[] }>("tools/list");
  client.close();
  return tools.map(({ name }) => name);
}

describe.each(NEOVIMS)("the first use in $name", (version) => {
  const compiled = perBlock(async () => Publication.start(await TestRelease.build()));

  test("fetches the executable, and serves a session with it", async () => {
    await using neovim = await watched(version, compiled.starting(), compiled);
    expect(await serves(neovim)).toContain("openDiff");
    expect(statSync(data.executable("0.1.0")).size).toBeGreaterThan(1_000_000);
    const { binary } = await statusOf(neovim);
    expect(binary).toEqual({ path: data.executable("0.1.0"), source: "managed" });
    expect(await messages(neovim)).toEqual([
      expect.stringMatching(/downloading the executable \(\d+ MB\), once for this version/),
      `installed ${data.executable("0.1.0")}`,
    ]);
  });
});

const SHOW = `${LATER} echo "port <$CLAUDE_CODE_SSE_PORT>"; for word; do echo "<$word>"; done; exec cat`;

describe.each(NEOVIMS)(":Claude, the first time in $name", (version) => {
  const start = () =>
    watched(
      version,
      `{
        binary = { mirror = "${published.server.url}" },
        terminal = { command = { "sh", "-c", [[${SHOW}]], "claude" }, size = 0.9 },
      }`,
    );

  test("waits for the download, however long it takes, and has the port, hooks and MCP", async () => {
    published.server.reset("held");
    await using neovim = await start();
    await neovim.command("Claude");
    await eventually("half of it", () => published.server.requests.length > 0);
    // Longer than the terminal waits for a server that merely starts.
    await Bun.sleep(version === OLDEST ? 3_500 : 100);
    expect(await neovim.lua("return vim.fn.winnr('$')")).toBe(1);
    await neovim.command("Claude");
    const waits = "Claude starts once the executable is installed";
    expect((await messages(neovim)).filter((text) => text === waits)).toHaveLength(2);
    // It takes the cursor, so not while the user types.
    await neovim.type("i");
    published.server.letGo();
    await ready(neovim);
    await Bun.sleep(100);
    expect(await neovim.lua("return vim.fn.winnr('$')")).toBe(1);
    await neovim.type("<Esc>");
    const { port } = await neovim.lock();
    await shows(neovim, `port <${port}>`);
    expect((await statusOf(neovim)).binary?.source).toBe("managed");
    await shows(neovim, "--plugin-dir=");
    expect((await messages(neovim)).join()).not.toContain("not connected");
  });

  test("starts even if the download fails, and says that nothing connects it", async () => {
    published.server.reset("404");
    await using neovim = await start();
    await neovim.command("Claude");
    await shows(neovim, "port <>");
    const texts = await messages(neovim);
    expect(texts).toContain("Claude is not connected; :Claude status shows why");
    expect(texts.join()).toContain("cannot download");
  });

  nightly.test("does not start if it is cancelled while it waits", async () => {
    published.server.reset("held");
    await using neovim = await start();
    await neovim.command("Claude");
    await eventually("half of it", () => published.server.requests.length > 0);
    await neovim.command("Claude close");
    published.server.letGo();
    await ready(neovim);
    await Bun.sleep(100);
    expect(await neovim.lua("return vim.fn.winnr('$')")).toBe(1);
  });
});

describe("the first use", () => {
  const version = NEWEST;

  test("names the command without permission, which then starts the server", async () => {
    await using neovim = await watched(version, published.starting("download = false"));
    expect(await failed(neovim)).toMatch(/was not found: run :Claude install, then/);
    expect(published.server.requests).toEqual([]);
    await neovim.command("Claude install");
    await ready(neovim);
    expect(await messages(neovim)).toContain(`installed ${data.executable("0.1.0")}`);
  });

  nightly.test("stays stopped when it was stopped in the meantime", async () => {
    published.server.reset("slow");
    await using neovim = await watched(version);
    await data.fetching(published.release.asset.file, neovim);
    await neovim.command("ClaudeCodeStop");
    await eventually("the executable", () => data.installedVersion() === "0.1.0", 60_000);
    expect((await statusOf(neovim)).state).toBe("stopped");
  });
});

describe("a build step", () => {
  const run = async (...commands: string[]) => {
    const args = commands.flatMap((command) => ["-c", command]);
    const setup = `lua require("claude-code").setup(${published.options})`;
    const rtp = `set rtp^=${published.plugin}`;
    const { code, stdout, stderr } = await runProgram(
      [OLDEST.binary, "--clean", "--headless", "--cmd", rtp, "-c", setup, ...args],
      { env: { ...isolatedEnv(data.xdg), XDG_DATA_HOME: data.xdg } },
    );
    return { code, output: stdout + stderr };
  };

  test("waits with :Claude install until the executable is there", async () => {
    const { code, output } = await run("Claude install", "qa!");
    expect(code).toBe(0);
    expect(output).toContain(`installed ${data.executable("0.1.0")}`);
    expect(data.installedVersion()).toBe("0.1.0");
  });

  test("says why it fails, and its exit code says so, too", async () => {
    published.server.reset("404");
    const { code, output } = await run("Claude install", "qa!");
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/claude-code\.nvim: cannot download .*404/),
    ]);
    expect(output).not.toContain("traceback");
    // A plugin manager's build step: an error reports it, and it goes on.
    const step = `lua io.stderr:write(tostring(pcall(vim.cmd, "Claude" .. " install")))`;
    expect(await run(step, "qa!")).toEqual({ code: 0, output: expect.stringContaining("false") });
  });

  test("waits with the Lua call, and fails with an error", async () => {
    published.server.reset("404");
    const call = `lua require("claude-code").install()`;
    const { output } = await run(call, "qa!");
    expect(output).toMatch(/claude-code\.nvim: cannot download .*404/);
    const archive = `lua require("claude-code").install([[${published.release.archive}]])`;
    expect((await run(archive, "qa!")).code).toBe(0);
    expect(data.installedVersion()).toBe("0.1.0");
  });

  test("says what to do in a checkout that is not a release", async () => {
    const manifest = join(published.plugin, "lua/claude-code/install/manifest.lua");
    await copyFile(manifest, `${manifest}.kept`);
    await copyFile(
      join(published.release.source, "lua/claude-code/install/manifest.lua"),
      manifest,
    );
    const { output } = await run("Claude install", "qa!");
    const built = join(published.plugin, "dist/claude-code-nvim");
    await mkdir(dirname(built), { recursive: true });
    await copyFile("/bin/true", built);
    for (const command of ["Claude install", "Claude install!"]) {
      const output = `claude-code.nvim: the executable is built already: ${built}`;
      expect(await run(command, "qa!")).toEqual({ code: 0, output });
    }
    await rm(dirname(built), { recursive: true });
    await rename(`${manifest}.kept`, manifest);
    expect(output).toContain("this checkout (version 0.1.0) is not a release");
    expect(output).toContain("pin a release");
    expect(output).toContain("bun install --production && bun run build");
  });
});

describe("an upgrade while Neovim runs", () => {
  const version = NEWEST;

  test("installs the new version; the running one goes on, also when restarted", async () => {
    const plugin = await published.release.checkout();
    await using neovim = await TestNeovim.start({
      version,
      runtimepath: plugin,
      setup: published.options,
      env: { XDG_DATA_HOME: data.xdg },
    });
    await install(neovim, `{ archive = [[${published.release.archive}]] }`);
    await neovim.command("ClaudeCodeStart");
    await ready(neovim);
    await next.checkout(plugin);
    expect(await install(neovim, `{ archive = [[${next.archive}]] }`)).toEqual({
      path: data.executable("0.2.0"),
    });
    expect(data.installedVersion()).toBe("0.2.0");
    expect(await serves(neovim)).toContain("openDiff");
    await neovim.command("ClaudeCodeStop");
    await neovim.command("ClaudeCodeStart");
    await ready(neovim);
    expect((await statusOf(neovim)).binary?.path).toBe(data.executable("0.1.0"));
    expect(await serves(neovim)).toContain("openDiff");
  });
});

nightly.test("names both versions, and the command, for another contract", async () => {
  const newer = join(await next.unpacked(), "claude-code-nvim");
  const PATH = `${join(newer, "..")}:${process.env.PATH}`;
  for (const [path, remedy] of [
    [`[[${newer}]]`, "remove binary.path from setup()"],
    ["nil", "upgrade claude-code-nvim with the package manager"],
  ]) {
    const setup = `{ auto_start = true, binary = { path = ${path} } }`;
    const options = { version: OLDEST, runtimepath: published.plugin, setup, env: { PATH } };
    await using neovim = await TestNeovim.start(options);
    const problem = await failed(neovim);
    for (const part of ["this executable 0.2.0 has contract 3", newer, remedy])
      expect(problem).toContain(part);
  }
});
