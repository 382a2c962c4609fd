import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commandLine } from "../../src/claude/command";
import { hookSettings } from "../../src/claude/hooks";
import { isProblem } from "../../src/doctor/finding";
import { VERSION } from "../../src/lib/version";
import { eventually } from "../support/eventually";
import { NEOVIMS, NEWEST, nightly, TestNeovim, temporaryFolder } from "../support/neovim";
import { EXECUTABLE } from "../support/toolchain";
import { World } from "./world";

setDefaultTimeout(60_000);

const EVENTS = Object.keys(hookSettings());

interface Problem {
  cause: string;
  name: string;
  /** What it must say. */
  says?: string;
  /** What the command to run must contain. */
  remedy: string;
  /** It ends Neovim or its executable, so the world is of no use afterwards. */
  isFinal?: boolean;
  /** Breaks it. Returns (a promise of) `Options` where the doctor is run elsewhere or otherwise. */
  seed(world: World): unknown;
}

interface Options {
  cwd?: string;
  env?: Record<string, string>;
  /** Undoes what `World.reset` does not know of. */
  undo?: () => unknown;
}

const FAULTS: Problem[] = [
  {
    cause: "cli-missing",
    name: "no `claude`",
    remedy: "npm install -g @anthropic-ai/claude-code",
    seed: (world) => rmSync(join(world.bin, "claude")),
  },
  {
    cause: "cli-missing",
    name: "a `claude` that does not run",
    remedy: "npm install -g @anthropic-ai/claude-code",
    seed: (world) => void world.installClaude("not a version"),
  },
  {
    cause: "cli-outdated",
    name: "a `claude` that is too old",
    remedy: "claude update",
    seed: (world) => void world.installClaude("1.0.58"),
  },
  {
    cause: "no-editor",
    name: "no Neovim",
    isFinal: true,
    remedy: "open Neovim in",
    seed: (world) => world.neovim.quit(),
  },
  {
    cause: "lock-missing",
    name: "the lock file removed",
    isFinal: true,
    remedy: ":Claude start",
    // The server would bring it back.
    async seed(world) {
      const { path } = await world.neovim.lock();
      await stopExecutable(world);
      rmSync(path);
    },
  },
  {
    cause: "lock-unreadable",
    name: "a lock file that is not JSON",
    isFinal: true,
    remedy: ":Claude start",
    async seed(world) {
      const { path } = await world.neovim.lock();
      await stopExecutable(world);
      writeFileSync(path, "{");
    },
  },
  {
    cause: "lock-exposed",
    name: "a lock file that others may read",
    remedy: "chmod 600",
    seed: async (world) => chmodSync((await world.neovim.lock()).path, 0o644),
  },
  {
    cause: "lock-stale",
    name: "the lock file of a Neovim that has ended",
    isFinal: true,
    remedy: "rm ",
    async seed(world) {
      const { path, content } = await world.neovim.lock();
      await world.neovim.quit();
      writeFileSync(path, JSON.stringify({ ...content, pid: await endedProcess() }));
    },
  },
  {
    cause: "two-editors-match",
    name: "two editors with the folder open",
    remedy: "CLAUDE_CODE_SSE_PORT=",
    async seed(world) {
      const { content } = await world.neovim.lock();
      const other = { ...content, pid: process.pid, ideName: "Other" };
      const path = world.write(".claude/ide/1024.lock", other);
      return { undo: () => rmSync(path) };
    },
  },
  {
    cause: "editor-restarted",
    name: "a shell of a Neovim that is gone",
    remedy: "/ide",
    seed: () => ({ env: { CLAUDE_CODE_SSE_PORT: "1024" } }),
  },
  {
    cause: "editor-restarted",
    name: "a CLI of a Neovim that was started again",
    remedy: "/ide",
    seed: (world) => world.runClaude([], { CLAUDE_CODE_SSE_PORT: "1024" }),
  },
  {
    cause: "config-dir-differs",
    name: "CLAUDE_CONFIG_DIR in Neovim alone",
    isFinal: true,
    remedy: "export CLAUDE_CONFIG_DIR=",
    async seed(world) {
      await world.neovim.lua(
        `
        require("claude-code").stop()
        vim.env.CLAUDE_CONFIG_DIR = ...
        require("claude-code").start()`,
        join(world.home, "elsewhere"),
      );
      await world.ready();
    },
  },
  {
    cause: "config-dir-differs",
    name: "CLAUDE_CONFIG_DIR in Neovim and the shell, but not in a CLI that runs",
    isFinal: true,
    remedy: "CLAUDE_CONFIG_DIR=",
    async seed(world) {
      const folder = join(world.home, "elsewhere");
      world.write("elsewhere/settings.json", { permissions: { defaultMode: "default" } });
      await world.neovim.lua(
        `
        require("claude-code").stop()
        vim.env.CLAUDE_CONFIG_DIR = ...
        require("claude-code").start()`,
        folder,
      );
      await world.ready();
      await world.runClaude();
      return { env: { CLAUDE_CONFIG_DIR: folder } };
    },
  },
  {
    cause: "outside-workspace",
    name: "a shell outside of the workspace",
    remedy: "cd ",
    seed: () => ({ cwd: temporaryFolder() }),
  },
  {
    cause: "proxy-catches-loopback",
    name: "a proxy in the shell",
    remedy: "export no_proxy=",
    seed: () => ({ env: { http_proxy: "http://proxy.invalid:3128", no_proxy: "example.org" } }),
  },
  {
    cause: "proxy-catches-loopback",
    name: "a proxy in the CLI that runs",
    remedy: "export no_proxy=",
    seed: (world) => world.runClaude([], { ALL_PROXY: "http://proxy.invalid:3128" }),
  },
  {
    cause: "terminal-of-another-editor",
    name: "variables of another editor's terminal",
    says: "TERM_PROGRAM is vscode",
    remedy: "env -u TERM_PROGRAM -u FORCE_CODE_TERMINAL claude",
    seed: () => ({ env: { TERM_PROGRAM: "vscode", FORCE_CODE_TERMINAL: "1" } }),
  },
  {
    cause: "auto-connect-off",
    name: "automatic connection forbidden",
    remedy: "unset CLAUDE_CODE_AUTO_CONNECT_IDE",
    seed: () => ({ env: { CLAUDE_CODE_AUTO_CONNECT_IDE: "0" } }),
  },
  {
    cause: "auto-connect-off",
    name: "automatic connection forbidden in another word",
    remedy: "unset CLAUDE_CODE_AUTO_CONNECT_IDE",
    seed: () => ({ env: { CLAUDE_CODE_AUTO_CONNECT_IDE: "False" } }),
  },
  {
    cause: "auto-connect-off",
    name: "automatic connection forbidden in the settings, whatever the shell says",
    remedy: "remove it there",
    seed(world) {
      const env = { CLAUDE_CODE_AUTO_CONNECT_IDE: "no" };
      world.write(".claude/settings.json", { permissions: { defaultMode: "default" }, env });
      return { env: { CLAUDE_CODE_AUTO_CONNECT_IDE: "1" } };
    },
  },
  {
    cause: "auto-connect-off",
    name: "automatic connection forbidden in a CLI that runs",
    remedy: "/ide",
    seed: (world) => world.runClaude([], { CLAUDE_CODE_AUTO_CONNECT_IDE: "off" }),
  },
  {
    cause: "settings-unreadable",
    name: "settings that are not JSON",
    says: "settings.local.json is not JSON (line 3: comma expected)",
    remedy: "settings.local.json",
    seed: (world) => projectSettings(world, '{\n  "a": 1\n  "b": 2\n}\n'),
  },
  {
    cause: "settings-unreadable",
    name: "settings with a comment",
    says: "settings.local.json is not JSON (line 2: invalid comment token)",
    remedy: "settings.local.json",
    seed: (world) => projectSettings(world, "{\n  // mine\n}\n"),
  },
  {
    cause: "settings-unreadable",
    name: "settings that are a list",
    says: "settings.local.json is not a JSON object",
    remedy: "settings.local.json",
    seed: (world) => projectSettings(world, "[]"),
  },
  {
    cause: "settings-unreadable",
    name: "state that is not JSON",
    says: ".claude.json is not JSON (line 1: ",
    remedy: ".claude.json",
    seed: (world) => void world.write(".claude.json", '{"a": tru}'),
  },
  {
    cause: "hooks-disabled",
    name: "hooks switched off",
    says: "settings.local.json: no hook runs",
    remedy: "remove it there",
    seed: (world) => projectSettings(world, '\uFEFF{ "disableAllHooks": true }'),
  },
  {
    cause: "diff-tool-terminal",
    name: "diffTool set to terminal",
    remedy: "/config",
    seed: (world) => void world.write(".claude.json", { diffTool: "terminal" }),
  },
  {
    cause: "no-diff-anywhere",
    name: "no diff in Neovim, and none in Claude's terminal",
    remedy: "/config",
    seed: (world) => withSetup(world, `{ diff = { open = "never" } }`),
  },
  {
    cause: "mode-skips-diffs",
    name: "a permission mode in the settings",
    remedy: "claude --permission-mode default",
    seed: (world) =>
      void world.write(".claude/settings.json", { permissions: { defaultMode: "acceptEdits" } }),
  },
  {
    cause: "mode-skips-diffs",
    name: "a permission mode in setup()",
    remedy: 'set it to "default"',
    seed: (world) => withSetup(world, `{ terminal = { permission_mode = "auto" } }`),
  },
  {
    cause: "mode-skips-diffs",
    name: "a permission mode of a CLI that runs",
    remedy: "Shift-Tab",
    seed: (world) => world.runClaude(["--permission-mode", "acceptEdits"]),
  },
  {
    cause: "mode-skips-diffs",
    name: "a CLI that runs without permissions",
    remedy: "Shift-Tab",
    seed: (world) => world.runClaude(["--dangerously-skip-permissions"]),
  },
  {
    cause: "mode-skips-diffs",
    name: "a permission mode among the CLI's arguments in setup()",
    remedy: "remove that from terminal.args",
    seed: (world) =>
      withSetup(world, `{ terminal = { args = { "--permission-mode", "acceptEdits" } } }`),
  },
  {
    cause: "hooks-half-installed",
    name: "one hook gone",
    remedy: ":Claude setup",
    seed: (world) => installHooks(world, EVENTS.slice(1)),
  },
  {
    cause: "hooks-half-installed",
    name: "hooks without the server",
    remedy: ":Claude setup",
    seed: (world) => installHooks(world, EVENTS, { server: false }),
  },
  {
    cause: "hooks-broken",
    name: "hooks whose executable is gone",
    remedy: ":Claude setup",
    seed: (world) => installHooks(world, EVENTS),
  },
  {
    cause: "server-stopped",
    name: "a server that the user stopped",
    isFinal: true,
    says: "you stopped the server of Neovim",
    remedy: ":Claude start",
    seed: (world) => world.stop(),
  },
  {
    cause: "server-stopped",
    name: "a server that was never started",
    isFinal: true,
    says: "was not started: auto_start is false",
    remedy: ":Claude start",
    async seed(world) {
      await world.stop();
      await world.neovim.lua(`require("port").server.stopped_by_user = nil`);
      await world.setup("{ auto_start = false }");
      await eventually("the reason", () =>
        world.neovim.lua<boolean>(`return require("port").autostart.reason ~= nil`),
      );
    },
  },
  {
    cause: "server-not-running",
    name: "a server that failed",
    isFinal: true,
    says: "has failed: ",
    remedy: ":Claude start",
    async seed(world) {
      await world.stop();
      await world.setup(`{ binary = { path = "/nonexistent/x" } }`);
      await world.neovim.command("Claude start");
      await eventually("the failure", () =>
        world.neovim.lua<boolean>(`return require("port").server.state == "failed"`),
      );
    },
  },
  {
    cause: "server-stopped",
    name: "a stopped server, seen from its Neovim's terminal",
    isFinal: true,
    remedy: ":Claude start",
    async seed(world) {
      const NVIM = await world.neovim.lua<string>("return vim.v.servername");
      await world.stop();
      return { env: { NVIM } };
    },
  },
  {
    cause: "plugin-not-loaded",
    name: "a Neovim without the plugin, seen from its terminal",
    isFinal: true,
    remedy: `require("claude-code").setup({})`,
    async seed(world) {
      const NVIM = await world.neovim.lua<string>("return vim.v.servername");
      await world.stop();
      await world.neovim.lua(`package.loaded["claude-code"] = nil`);
      return { env: { NVIM } };
    },
  },
  {
    cause: "version-differs",
    name: "a plugin of another version",
    remedy: "update the older one",
    async seed(world) {
      const undo = () => world.neovim.lua(`require("port").contract.version = "${VERSION}"`);
      await world.neovim.lua(`require("port").contract.version = "9.9.9"`);
      return { undo };
    },
  },
  {
    cause: "no-language-server",
    name: "no language server",
    remedy: "vim.lsp.enable",
    seed: (world) =>
      world.neovim.lua(`
        vim.lsp.stop_client(vim.lsp.get_clients(), true)
        assert(vim.wait(10000, function() return #vim.lsp.get_clients() == 0 end, 10))`),
  },
];

describe("claude-code-nvim doctor", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(NEWEST);
  });
  afterAll(() => world[Symbol.asyncDispose]());
  beforeEach(() => world.reset());

  test("finds nothing where nothing is wrong", async () => {
    const { code, findings } = await world.findings();
    expect(findings.filter(isProblem)).toEqual([]);
    expect(code).toBe(0);
    const inside = await world.neovim.lua<string>("return vim.v.servername");
    const port = String((await world.neovim.lock()).port);
    const there = await world.findings({ env: { NVIM: inside, CLAUDE_CODE_SSE_PORT: port } });
    expect(there.findings.filter(isProblem)).toEqual([]);

    installHooks(world, EVENTS, { program: EXECUTABLE });
    const { findings: installed } = await world.findings();
    expect(installed.filter(isProblem)).toEqual([]);
    expect(installed.map(({ what }) => what).join()).toContain("nvim-lsp are installed");
  });

  test.each(FAULTS)("$cause: $name", async ({ cause, says, remedy, isFinal, seed }) => {
    await using own = isFinal ? await World.start(NEWEST) : undefined;
    const place = own ?? world;
    const { undo, ...options } = ((await seed(place)) ?? {}) as Options;
    const { code, findings } = await place.findings(options);
    await undo?.();
    const faults = findings.filter(isProblem);
    expect(faults.map((fault) => fault.cause)).toEqual([cause]);
    expect(faults[0]?.what).toContain(says ?? "");
    expect(faults[0]?.remedy).toContain(remedy);
    expect(code).toBe(1);
  });

  test("a stopped server beside one that runs is no problem", async () => {
    const setup = "{ auto_start = false }";
    const options = { version: NEWEST, cwd: world.project, home: world.home, setup };
    await using other = await TestNeovim.start(options);
    expect(await other.lua(`return require("claude-code").status().state`)).toBe("stopped");
    const { findings } = await world.findings();
    expect(findings.filter(isProblem)).toEqual([]);
  });

  test("a CLI that runs in a remote is not missed here", async () => {
    rmSync(join(world.bin, "claude"));
    await world.setup(`{ terminal = { remote = "box" }, remotes = { box = {
      command = { "ssh", "box", "env {env} claude {args}" }, relay = { "ssh", "box" } } } }`);
    const { findings } = await world.findings();
    await world.setup("{}");
    expect(findings.filter(isProblem)).toEqual([]);
    expect(findings.map(({ what }) => what)).toContain(
      "no Claude CLI is here: terminal.remote says where it runs",
    );
  });

  test("says where the scrollback is, unless Claude draws line by line", async () => {
    const says = async (env: Record<string, string> = {}) =>
      (await world.findings({ env })).findings.some(({ what }) =>
        what.includes(":Claude transcript"),
      );
    expect(await says()).toBe(true);
    expect(await says({ CLAUDE_CODE_NO_FLICKER: "0" })).toBe(false);
    const { undo } = projectSettings(world, '{ "tui": "default" }');
    expect(await says()).toBe(false);
    undo?.();
  });

  test("prints the findings, and never a token", async () => {
    const { authToken } = (await world.neovim.lock()).content;
    world.installClaude("1.0.58");
    const { code, stdout } = await world.doctor();
    expect(stdout).toContain("has version 1.0.58; it must be 2.0.0 or newer\n      to fix it, run");
    expect(stdout).not.toContain(authToken);
    expect(code).toBe(1);
    expect((await world.doctor({ args: ["--nonsense"] })).code).toBe(2);
  });
});

describe.each(NEOVIMS)(":checkhealth in $name", (version) => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(version);
    await world.neovim.lua("vim.env.PATH = ... .. ':' .. vim.env.PATH", world.bin);
  });
  afterAll(() => world[Symbol.asyncDispose]());
  beforeEach(async () => {
    await world.setup();
    await world.reset();
  });

  /** The report, without its headings. */
  async function health(neovim: TestNeovim): Promise<string[]> {
    await neovim.command("checkhealth claude-code");
    const lines = await neovim.lua<string[]>(
      `local lines = vim.api.nvim_buf_get_lines(0, 0, -1, true)
       vim.cmd("bwipeout!")
       return lines`,
    );
    return lines.filter((line) => /ERROR|WARNING/.test(line));
  }

  test("finds nothing where nothing is wrong, and what the doctor finds", async () => {
    expect(await health(world.neovim)).toEqual([]);
    world.write(".claude.json", { diffTool: "terminal" });
    expect(await health(world.neovim)).toEqual([expect.stringContaining('diffTool is "terminal"')]);
    await world.setup(`{ diff = { open = "never" } }`);
    expect(await health(world.neovim)).toEqual([]);
  });

  nightly.test("names each option that cannot be used", async () => {
    await world.setup(`{ diff = { layot = "tab" }, keymaps = "yes" }`);
    expect(await health(world.neovim)).toEqual([
      expect.stringMatching(/ERROR.*diff\.layot/),
      expect.stringMatching(/ERROR.*keymaps/),
    ]);
  });

  test("finds a permission mode among the CLI's arguments", async () => {
    const args = `{ "--permission-mode=plan", "--dangerously-skip-permissions" }`;
    await world.setup(`{ terminal = { args = ${args} } }`);
    expect(await health(world.neovim)).toEqual([
      expect.stringContaining(
        'terminal.args in setup() sets the permission mode "bypassPermissions"',
      ),
    ]);
  });

  test("a server that the user stopped is no failure", async () => {
    await world.stop();
    const lines = await health(world.neovim);
    await world.neovim.command("Claude start");
    await world.ready();
    expect(lines).toEqual([
      expect.stringMatching(/WARNING.* you stopped the server of Neovim \d+, so no CLI finds it/),
    ]);
  });

  const executables: [name: string, setup: (folder: string) => string, message: string][] = [
    ["missing", () => `{ path = "/nonexistent/x" }`, "/nonexistent/x, which is not an executable"],
    [
      "no executable",
      (folder) => `{ path = "${folder}/main.lua" }`,
      "main.lua, which is not an exec",
    ],
    [
      "of another version",
      (folder) => `{ path = "${folder}/old" }`,
      "has version 0.0.1, the plugin",
    ],
    ["broken", (folder) => `{ path = "${folder}/broken" }`, "does not run"],
  ];
  test.each(executables)("the executable is %s: says that alone", async (_, binary, message) => {
    const scripts = { old: "echo claude-code.nvim 0.0.1", broken: "exit 127" };
    for (const [name, script] of Object.entries(scripts)) {
      writeFileSync(join(world.project, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    await world.setup(`{ auto_start = false, binary = ${binary(world.project)} }`);
    expect(await health(world.neovim)).toEqual([expect.stringContaining(message)]);
  });

  test("the status says how the states of sessions are known", async () => {
    await world.setup();
    await world.neovim.lua(`
      local rows = require("port").session_rows
      rows.report(rows.add({}), "terminal", { state = "working" })
      rows.report(rows.add({}), "hook", { state = "idle" })`);
    const lines = await world.neovim.lua<string[]>(`return require("port").status.lines()`);
    expect(lines).toContain("states       1 Claude: working, by terminal");
    expect(lines).toContain("             2 Claude: idle, by hooks");
  });

  const terminals: [provider: string, message: string][] = [
    ["snacks", "folke/snacks.nvim is not installed"],
    ["tmux", "does not run in tmux"],
  ];
  test.each(terminals)("the terminal's provider %s is not there", async (provider, message) => {
    await world.setup(`{ terminal = { provider = "${provider}" } }`);
    await world.neovim.lua("vim.env.TMUX = nil");
    expect(await health(world.neovim)).toEqual([expect.stringContaining(message)]);
  });
});

/** Stops the executable where it is, so that it repairs nothing; Neovim still answers. */
async function stopExecutable(world: World): Promise<void> {
  const pid = await world.neovim.lua<number>(`return require("claude-code").status().process_id`);
  process.kill(pid, "SIGSTOP");
}

/** A process id that nobody has. */
async function endedProcess(): Promise<number> {
  const child = Bun.spawn(["true"]);
  await child.exited;
  return child.pid;
}

async function withSetup(world: World, options: string): Promise<Options> {
  await world.setup(options);
  return { undo: () => world.setup() };
}

/** The project's own settings, for this user. */
function projectSettings(world: World, text: string): Options {
  const path = join(world.project, ".claude/settings.local.json");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return { undo: () => rmSync(path) };
}

/** As `install-hooks` does it; the stable path leads nowhere unless `program` says where. */
function installHooks(
  world: World,
  events: readonly string[],
  { server = true, program }: { server?: boolean; program?: string } = {},
): void {
  const path = join(world.home, ".local/share/claude-code.nvim/bin/claude-code-nvim");
  if (program) {
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(program, path);
  }
  const all = hookSettings((event) => commandLine(["hook", event], path));
  const hooks = Object.fromEntries(Object.entries(all).filter(([event]) => events.includes(event)));
  world.write(".claude/settings.json", { permissions: { defaultMode: "default" }, hooks });
  if (server) world.write(".claude.json", { mcpServers: { "nvim-lsp": { command: path } } });
}
