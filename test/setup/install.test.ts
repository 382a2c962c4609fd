import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import {
  claims,
  EXECUTABLE,
  eventually,
  expectMode,
  isolatedEnv,
  NEWEST,
  needs,
  nightly,
  run,
  stateFolderOf,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { ENV_WITHOUT_HAZARDS } from "../../src/claude/command";
import { withPlugin } from "../../src/claude/settings-text";
import { join } from "../../src/lib/platform";
import { keepBusy } from "../support/busy";
import { runHook } from "../support/hook";

/* `install-hooks` and `uninstall-hooks` with the compiled executable, without a Claude CLI. */
const SETTINGS = ".claude/settings.local.json";
const THEIRS = '{\n    "permissions": {"allow": ["Bash(ls:*)"]},\n    "x": 1\n}';

let home: string;
let project: string;

beforeEach(() => {
  home = temporaryFolder();
  project = join(home, "work/project");
  mkdirSync(join(project, ".git"), { recursive: true });
});

function setUp(command: string, args: string[] = [], cwd = project, more = {}) {
  const env = { ...isolatedEnv(home), PATH: "/usr/bin:/bin", ...more };
  return run([EXECUTABLE, command, ...args], { cwd, env });
}

const install = (...args: string[]) => setUp("install-hooks", ["--yes", ...args]);
const uninstall = (...args: string[]) => setUp("uninstall-hooks", ["--yes", ...args]);
const stable = () => join(home, ".local/share/claude-code.nvim/bin/claude-code-nvim");
const read = (name: string) => readFileSync(join(project, name), "utf8");

function write(name: string, text: string): void {
  mkdirSync(join(project, name, ".."), { recursive: true });
  writeFileSync(join(project, name), text);
}

function snapshot(): Record<string, string> {
  const names = [...new Bun.Glob("**").scanSync({ cwd: project, dot: true, onlyFiles: false })];
  return Object.fromEntries(
    names.sort().map((name) => [name, statSync(join(project, name)).isFile() ? read(name) : "/"]),
  );
}

const plugin = (data = join(home, ".local/share")) =>
  join(data, "claude-code.nvim/claude-plugin/current");

/** The command of the first hook of an event. */
function hookOf(event: string, data?: string): string[] {
  const { hooks } = JSON.parse(readFileSync(join(plugin(data), "hooks/hooks.json"), "utf8"));
  const [{ command, args }] = hooks[event][0].hooks;
  return [command, ...args];
}

async function expectStopHook(more: Record<string, string>): Promise<void> {
  const env = { ...isolatedEnv(home), ...more };
  const stdin = new Blob(['{"session_id":"x"}']);
  const { stdout } = await run(hookOf("Stop", more.XDG_DATA_HOME), { cwd: home, env, stdin });
  expect(stdout).toBe('{"continue":true}\n');
}

/** Version 0.1 added the server to the CLI's own configuration. */
function addOldServer(): void {
  const args = [...ENV_WITHOUT_HAZARDS.slice(1), stable(), "mcp"];
  const mcpServers = { "nvim-lsp": { command: "/usr/bin/env", args } };
  writeFileSync(
    join(home, ".claude.json"),
    JSON.stringify({ projects: { [project]: { mcpServers } } }),
  );
}

describe("install-hooks", () => {
  test("says what it will do, and does nothing without a yes", async () => {
    write(SETTINGS, THEIRS);
    const before = snapshot();
    const { stdout, code } = await setUp("install-hooks");
    expect(code).toBe(1);
    expect(stdout).toContain(`change ${join(project, SETTINGS)}`);
    expect(stdout).toContain(`create ${join(project, ".nvim-claude")}`);
    expect(stdout).toContain("--yes");
    expect(snapshot()).toEqual(before);
    expect((await setUp("install-hooks", ["--dry-run"])).code).toBe(0);
    expect(snapshot()).toEqual(before);
    expect(existsSync(join(home, ".local/share"))).toBe(false);
  });

  test("names the stable path, which leads to this executable and runs", async () => {
    expect((await install()).code).toBe(0);
    const { name } = JSON.parse(
      readFileSync(join(plugin(), ".claude-plugin/marketplace.json"), "utf8"),
    );
    expect(name).toMatch(/^claude-code-nvim-[0-9a-f]{8}$/);
    expect(JSON.parse(read(SETTINGS))).toEqual({
      extraKnownMarketplaces: { [name]: { source: { source: "directory", path: plugin() } } },
      enabledPlugins: { [`claude-code-nvim@${name}`]: true },
    });
    expect(hookOf("Stop")).toEqual([...ENV_WITHOUT_HAZARDS, stable(), "hook", "stop"]);
    await expectStopHook({ BUN_OPTIONS: "--preload=/no/such/file.js" });
  });

  test("makes the plugin's link where a folder is in its place", async () => {
    mkdirSync(join(plugin(), "left"), { recursive: true });
    expect((await install()).code).toBe(0);
    await expectStopHook({});
  });

  test.each(["a=b", "a b'$(touch trap)`touch trap`\n"])(
    "runs a hook from a folder named %j",
    async (name) => {
      const more = { XDG_DATA_HOME: join(home, name) };
      await setUp("install-hooks", ["--yes"], project, more);
      await expectStopHook(more);
      expect(existsSync(join(home, "trap"))).toBe(false);
      expect((await setUp("install-hooks", ["--yes"], project, more)).stdout).toContain("in place");
    },
  );

  test("opens no debugger's port, whatever the environment asks for", async () => {
    claims("A project runs no code in the executable");
    using probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const { port } = probe;
    probe.stop(true);
    await install();
    // With `wait` a program that opens the port does nothing else until a debugger comes.
    const env = { ...isolatedEnv(home), BUN_INSPECT: `ws://127.0.0.1:${port}/debug?wait=1` };
    const ping = (command: string[]) => {
      const child = Bun.spawn(command, { env, stdin: "pipe", stdout: "pipe" });
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`);
      child.stdin.flush();
      return { child, answer: child.stdout.getReader().read() };
    };
    const open = ping([EXECUTABLE, "mcp"]);
    try {
      await eventually("the port", () => fetch(`http://127.0.0.1:${port}/`));
    } finally {
      open.child.kill();
    }
    expect((await open.answer).value).toBeUndefined();
    const closed = ping([...hookOf("SessionStart").slice(0, -2), "mcp"]);
    expect(new TextDecoder().decode((await closed.answer).value)).toContain('"result":{}');
    closed.child.stdin.end();
    await closed.child.exited;
  });

  needs("symlinks")("keeps a stable path that an upgrade has changed", async () => {
    await install();
    const next = join(home, "claude-code-nvim-9");
    writeFileSync(next, "");
    rmSync(stable());
    symlinkSync(next, stable());
    expect((await install()).stdout).toContain("in place already");
    await setUp("install-hooks", ["--yes", "--claude-md"]);
    expect(readlinkSync(stable())).toBe(next);
  });

  needs("symlinks")("prefers a package manager's lasting name to a version's folder", async () => {
    const bin = join(home, "brew/bin");
    mkdirSync(bin, { recursive: true });
    symlinkSync(EXECUTABLE, join(bin, "claude-code-nvim"));
    await setUp("install-hooks", ["--yes"], project, { PATH: `${bin}:/usr/bin:/bin` });
    expect(readlinkSync(stable())).toBe(join(bin, "claude-code-nvim"));
    // It was removed: the next time the path leads to what there is.
    rmSync(join(bin, "claude-code-nvim"));
    await install("--claude-md");
    expect(readlinkSync(stable())).toBe(EXECUTABLE);
  });

  test.each<[string, Record<string, string>]>([
    [
      "of other settings",
      { [SETTINGS]: THEIRS, "CLAUDE.md": "# Project\n\nText without a line end" },
    ],
    ["where there was nothing", {}],
    ["of a folder .nvim-claude", { ".nvim-claude/.gitignore": "state.json\n" }],
  ])("changes nothing the second time, and restores every byte %s", async (_name, files) => {
    claims("Removing the hooks restores the settings byte for byte");
    for (const [name, text] of Object.entries(files)) write(name, text);
    const before = snapshot();
    await install("--claude-md");
    const installed = snapshot();
    expect(installed["CLAUDE.md"]).toContain("## LSP Diagnostics");
    const IGNORE = ".nvim-claude/.gitignore";
    expect(installed[IGNORE]).toBe(files[IGNORE] ?? "*\n");
    expect((await install("--claude-md")).stdout).toContain("everything is in place already");
    expect(snapshot()).toEqual(installed);
    expect((await uninstall()).code).toBe(0);
    expect(snapshot()).toEqual(before);
    expect((await uninstall()).stdout).toContain("nothing to undo");
  });

  test("leaves what others changed since", async () => {
    write(SETTINGS, THEIRS);
    await install("--claude-md");
    const value = JSON.parse(read(SETTINGS));
    value.enabledPlugins["other@place"] = true;
    value.added = true;
    write(SETTINGS, JSON.stringify(value, null, 2));
    write("CLAUDE.md", `${read("CLAUDE.md")}More of mine.\n`);
    write(".nvim-claude/mine", "kept");
    await uninstall();
    expect(JSON.parse(read(SETTINGS))).toEqual({
      ...JSON.parse(THEIRS),
      enabledPlugins: { "other@place": true },
      added: true,
    });
    expect(read("CLAUDE.md")).toBe("More of mine.\n");
    expect(read(".nvim-claude/mine")).toBe("kept");
  });

  needs("symlinks")("keeps link and mode of a symlinked settings file", async () => {
    const target = join(project, "shared.json");
    writeFileSync(target, THEIRS);
    chmodSync(target, 0o640);
    mkdirSync(join(project, ".claude"));
    symlinkSync(target, join(project, SETTINGS));
    const { stdout } = await install();
    expect(stdout).toContain(`change ${join(project, SETTINGS)} (a symlink to ${target}): enable`);
    expect(lstatSync(join(project, SETTINGS)).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, "utf8")).toContain(plugin());
    expectMode(target, 0o640);
    await uninstall();
    expect(readFileSync(target, "utf8")).toBe(THEIRS);
    expect(lstatSync(join(project, SETTINGS)).isSymbolicLink()).toBe(true);
  });

  const GLOBAL = () => join(home, ".claude/settings.json");
  const links: [name: string, link: string, target: () => string, args: string[]][] = [
    ["the settings file", SETTINGS, GLOBAL, []],
    ["the folder .claude", ".claude", () => join(home, ".claude"), []],
    ["CLAUDE.md", "CLAUDE.md", () => join(home, ".profile"), ["--claude-md"]],
    ["a link to a link", SETTINGS, () => join(project, "inner"), []],
    ["a missing file", SETTINGS, () => join(home, "missing.json"), []],
    ["a file of the project that is missing", SETTINGS, () => join(project, "missing"), []],
  ];
  needs("symlinks").each(links)("refuses a symlink out of the project: %s", async (...row) => {
    claims("Setup writes only inside the project");
    const [, link, target, args] = row;
    const local = join(home, ".claude/settings.local.json");
    mkdirSync(join(home, ".claude"));
    writeFileSync(GLOBAL(), THEIRS);
    writeFileSync(local, THEIRS);
    writeFileSync(join(home, ".profile"), "umask 022\n");
    symlinkSync(GLOBAL(), join(project, "inner"));
    mkdirSync(join(project, link, ".."), { recursive: true });
    symlinkSync(target(), join(project, link));
    const { code, stderr } = await install(...args);
    expect(code).toBe(1);
    expect(stderr).toContain(join(project, link));
    expect(stderr).toMatch(/leads out of the project|is a broken symlink/);
    for (const path of [GLOBAL(), local]) expect(readFileSync(path, "utf8")).toBe(THEIRS);
    expect(readFileSync(join(home, ".profile"), "utf8")).toBe("umask 022\n");
    expect(existsSync(join(home, "missing.json"))).toBe(false);
    expect(existsSync(join(project, ".nvim-claude"))).toBe(false);

    // Nothing that the user set up there is removed, either.
    const theirs = withPlugin(
      undefined,
      { folder: plugin(), marketplace: "claude-code-nvim-0123abcd" },
      "",
    );
    for (const path of [GLOBAL(), local]) writeFileSync(path, theirs);
    await uninstall();
    for (const path of [GLOBAL(), local]) expect(readFileSync(path, "utf8")).toBe(theirs);
  });

  needs("FIFOs").each([
    ["invalid JSON", "{nonsense", "is not valid JSON"],
    ["deep JSON", `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`, "is nested too deeply"],
    ["comments", '{\n  // mine\n  "a": 1\n}', "comments are not allowed"],
    ["a text of two megabytes", `{"a":"${"x".repeat(2_000_000)}"}`, "it has 2000008 bytes"],
    ["a pipe", undefined, "is not a regular file"],
  ])("refuses %s, and does nothing", async (_name, text, message) => {
    write(SETTINGS, text ?? "");
    if (text === undefined)
      Bun.spawnSync(["sh", "-c", 'rm "$0" && mkfifo "$0"', join(project, SETTINGS)]);
    const before = snapshot();
    const { code, stderr } = await install();
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).toContain(join(project, SETTINGS));
    expect(snapshot()).toEqual(before);
  });

  test("sets the repository's top up from a subfolder", async () => {
    mkdirSync(join(project, "deep/er"), { recursive: true });
    await setUp("install-hooks", ["--yes"], join(project, "deep/er"));
    expect(existsSync(join(project, SETTINGS))).toBe(true);
  });

  test.each([
    ["the home folder", () => home],
    ["the folder above", () => join(home, "..")],
    ["/", () => "/"],
  ])("refuses %s", async (_name, folder) => {
    const { code, stderr } = await install("--project", folder());
    expect(code).toBe(1);
    expect(stderr).toContain("is not a project");
    expect(existsSync(join(home, SETTINGS))).toBe(false);
  });

  needs("symlinks")("refuses a symlink in place of .nvim-claude", async () => {
    claims("Setup writes only inside the project");
    mkdirSync(join(home, "elsewhere"));
    symlinkSync(join(home, "elsewhere"), join(project, ".nvim-claude"));
    expect((await install()).stderr).toContain("move it away first");
    expect([...new Bun.Glob("*").scanSync({ cwd: join(home, "elsewhere"), dot: true })]).toEqual(
      [],
    );
  });

  test("enables the plugin once for twelve at once, and restores every byte", async () => {
    write(SETTINGS, THEIRS);
    const before = snapshot();
    const runs = await Promise.all(Array.from({ length: 12 }, () => install()));
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(Array(12).fill([0, ""]));
    expect(read(SETTINGS).match(/"enabledPlugins"/g)).toHaveLength(1);
    await uninstall();
    expect(snapshot()).toEqual(before);
  });

  /** Stands in for a Claude CLI that is started last of all, after all files were written. */
  const killer = () => {
    addOldServer();
    const claude = join(home, "killer");
    writeFileSync(claude, "#!/bin/sh\nkill -KILL $PPID\n", { mode: 0o755 });
    return claude;
  };

  test.each([
    ["where it is undone at once", 0],
    ["where it is installed once more", 1],
  ])("restores every byte after one that was killed, %s", async (_name, times) => {
    claims("Removing the hooks restores the settings byte for byte");
    write("CLAUDE.md", "# Project\n\nText without a line end");
    const before = snapshot();
    expect((await install("--claude-md", "--claude", killer())).code).toBe(137);
    expect(read(SETTINGS)).toContain(plugin());
    rmSync(join(home, ".claude.json"));
    for (let time = 0; time < times; time++) {
      expect((await install("--claude-md")).code).toBe(0);
      expect(read(SETTINGS).match(/"enabledPlugins"/g)).toHaveLength(1);
    }
    await uninstall();
    expect(snapshot()).toEqual(before);
  });

  test("removes folders that a killed removal left", async () => {
    const before = snapshot();
    await install();
    // It had removed the files.
    rmSync(join(project, SETTINGS));
    rmSync(join(project, ".nvim-claude/.gitignore"));
    writeFileSync(join(project, ".claude/.claude-code-nvim.0123abcd.tmp"), "");
    expect((await uninstall()).stdout).toContain(join(project, ".claude"));
    expect(snapshot()).toEqual(before);
    expect((await uninstall()).stdout).toContain("nothing to undo");
  });

  test.each([
    "/x/my-claude-code-nvim hook stop",
    "run claude-code-nvim hook stop-the-machine --now",
    "echo claude-code-nvim hooks stop",
  ])("leaves a hook of another program that looks like the plugin's: %s", async (command) => {
    const theirs = JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: "command", command }] }] } });
    write(SETTINGS, theirs);
    await install();
    expect(JSON.parse(read(SETTINGS)).hooks.Stop).toHaveLength(1);
    expect(JSON.parse(read(SETTINGS)).hooks.Stop[0].hooks[0].command).toBe(command);
    write(SETTINGS, `${read(SETTINGS)}\n`);
    await uninstall();
    expect(JSON.parse(read(SETTINGS))).toEqual(JSON.parse(theirs));
  });

  test("shows control characters in a plan as codes", async () => {
    const folder = join(home, "work/e\x1b[2Kvil\n  nothing");
    mkdirSync(folder);
    const { stdout } = await setUp("install-hooks", ["--dry-run"], folder);
    expect(stdout).toContain("e<1b>[2Kvil<0a>  nothing/.claude");
    expect(stdout).not.toContain("\x1b");
    expect(stdout).not.toContain("\n  nothing");
  });

  test("sets a project up once with --once, even after it was taken back", async () => {
    await install("--once");
    expect(existsSync(join(project, SETTINGS))).toBe(true);
    await uninstall();
    await install("--once");
    expect(existsSync(join(project, SETTINGS))).toBe(false);
  });
});

describe("the project's file that names its Neovim", () => {
  const version = NEWEST;
  const file = () => join(project, ".nvim-claude/nvim-server");
  const hook = (env: Record<string, string> = {}, event = "session-start") =>
    runHook({
      event,
      input: { session_id: "s", cwd: project, source: "startup" },
      cwd: project,
      env: { ...isolatedEnv(home), ...env },
    });
  const known = (neovim: TestNeovim) =>
    neovim.lua<boolean>(
      "return require('port').is_loaded('checked_sessions') and next(require('port').checked_sessions.list()) ~= nil",
    );

  test("is written where the project was set up, for as long as Neovim runs", async () => {
    await install();
    expect(existsSync(file())).toBe(false);
    const neovim = await TestNeovim.start({ version, cwd: project, home });
    const address = await neovim.lua<string>("return vim.v.servername");
    await eventually("the file", () => readFileSync(file(), "utf8") === `${address}\n`);
    expectMode(file(), 0o600);
    await neovim.quit();
    await eventually("its end", () => !existsSync(file()));
  });

  const log = () => readFileSync(join(stateFolderOf(home), "hooks.log"), "utf8");
  const notSetUp: [string, () => unknown][] = [
    ["only looks set up", () => write(".nvim-claude/.gitignore", "*\n")],
    [
      "was set up, and set back",
      async () => {
        write(".nvim-claude/mine", "kept");
        await install();
        await uninstall();
      },
    ],
  ];
  test.each(notSetUp)("is not written into a project that %s", async (_which, prepare) => {
    await prepare();
    await using neovim = await TestNeovim.start({ version, cwd: project, home });
    await neovim.lock();
    expect(existsSync(file())).toBe(false);
  });

  test("chooses between two Neovims of one project", async () => {
    await install();
    await using older = await TestNeovim.start({ version, cwd: project, home });
    await eventually("the older one's file", () => existsSync(file()));
    const first = readFileSync(file(), "utf8");
    await using newer = await TestNeovim.start({ version, cwd: project, home });
    await eventually("the newer one's file", () => readFileSync(file(), "utf8") !== first);
    writeFileSync(file(), first);
    await hook();
    expect([await known(older), await known(newer)]).toEqual([true, false]);
  });

  nightly.test("chooses one even while it is busy", async () => {
    await install();
    await using other = await TestNeovim.start({ version, cwd: project, home });
    await other.lock();
    await using ours = await TestNeovim.start({ version, cwd: project, home });
    const address = await ours.lua<string>("return vim.v.servername");
    await eventually("the file", () => readFileSync(file(), "utf8") === `${address}\n`);
    const release = await keepBusy(ours);
    await hook();
    await release();
    expect(await known(other)).toBe(false);
  });

  test("redirects nothing when it names a stranger", async () => {
    claims("A project cannot redirect the hooks");
    const elsewhere = join(home, "elsewhere");
    mkdirSync(elsewhere);
    // A Neovim of the same user, with the plugin, but with another workspace.
    await using other = await TestNeovim.start({ version, cwd: elsewhere, home });
    await other.lock();
    await using ours = await TestNeovim.start({ version, cwd: project, home });
    await eventually("both", () => {
      const folder = join(stateFolderOf(home), "neovims");
      return [...new Bun.Glob("*.json").scanSync({ cwd: folder })].length === 2;
    });
    const touched: string[] = [];
    const socket = (kind: string) => ({ open: () => void touched.push(kind), data: () => {} });
    const unix = join(home, "evil.sock");
    using _listener = Bun.listen({ unix, socket: socket("unix") });
    using tcp = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: socket("tcp") });
    const theirs = await other.lua<string>("return vim.v.servername");
    const addresses = [unix, `127.0.0.1:${tcp.port}`, theirs];
    for (const address of addresses) {
      write(".nvim-claude/nvim-server", `${address}\n`);
      await hook();
      expect(await known(ours)).toBe(true);
      expect(await known(other)).toBe(false);
      await hook({}, "session-end");
    }
    expect(touched).toEqual([]);
  });

  test.each([
    ["TCP", () => "127.0.0.1:6666", "not an absolute path"],
    ["a plain file", () => join(home, "file"), "is not a socket"],
    ["nothing", () => join(home, "nothing"), "no such socket"],
  ])("does not yield to a $NVIM that is %s", async (_name, address, reason) => {
    writeFileSync(join(home, "file"), "");
    await hook({ NVIM: address() });
    expect(log()).toContain(reason);
  });

  test("ignores a $NVIM without our plugin", async () => {
    await using bare = await TestNeovim.start({ version, cwd: home, home, setup: false });
    await using ours = await TestNeovim.start({ version, cwd: project, home });
    await ours.lock();
    const ended = await hook({ NVIM: await bare.lua<string>("return vim.v.servername") });
    expect({ ...ended, log: log(), known: await known(ours) }).toMatchObject({
      code: 0,
      known: true,
    });
    expect(await bare.lua("return package.loaded['claude-code'] == nil")).toBe(true);
  });
});
