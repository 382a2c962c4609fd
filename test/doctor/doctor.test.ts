import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commandWords } from "../../src/claude/command";
import { type Finding, isProblem } from "../../src/doctor/finding";
import { VERSION } from "../../src/lib/version";
import { eventually } from "../support/eventually";
import {
  isolatedEnv,
  NEOVIMS,
  NEWEST,
  type NeovimVersion,
  nightly,
  TestNeovim,
  temporaryFolder,
} from "../support/neovim";
import { isRunning } from "../support/process";
import { EXECUTABLE } from "../support/toolchain";

setDefaultTimeout(60_000);

const STABLE = ".local/share/claude-code.nvim/bin/claude-code-nvim";

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
    cause: "lock-unusable",
    name: "the lock file removed",
    isFinal: true,
    remedy: ":Claude",
    // The server would bring it back.
    async seed(world) {
      const { path } = await world.neovim.lock();
      await stopExecutable(world);
      rmSync(path);
    },
  },
  {
    cause: "lock-unusable",
    name: "a lock file that is not JSON",
    isFinal: true,
    remedy: ":Claude",
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
    name: "automatic connection forbidden in the settings, whatever the shell says",
    remedy: "remove it from ",
    seed(world) {
      const env = { CLAUDE_CODE_AUTO_CONNECT_IDE: "no" };
      world.write(".claude/settings.json", { permissions: { defaultMode: "default" }, env });
      return { env: { CLAUDE_CODE_AUTO_CONNECT_IDE: "1" } };
    },
  },
  {
    cause: "hooks-disabled",
    name: "hooks switched off",
    says: "settings.local.json: no hook runs",
    remedy: "correct that file",
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
    name: "a permission mode among the CLI's arguments in setup()",
    remedy: "remove that from terminal.args",
    seed: (world) =>
      withSetup(world, `{ terminal = { args = { "--permission-mode", "acceptEdits" } } }`),
  },
  {
    cause: "hooks-half-installed",
    name: "one hook gone",
    remedy: ":Claude setup",
    async seed(world) {
      const options = await installHooks(world);
      const path = join(world.project, ".claude/settings.local.json");
      const settings = JSON.parse(readFileSync(path, "utf8"));
      delete settings.hooks.Stop;
      writeFileSync(path, JSON.stringify(settings));
      return options;
    },
  },
  {
    cause: "hooks-half-installed",
    name: "hooks without the server",
    remedy: ":Claude setup",
    async seed(world) {
      const options = await installHooks(world);
      world.write(".claude.json", {});
      return options;
    },
  },
  {
    cause: "hooks-broken",
    name: "hooks whose executable is gone",
    remedy: ":Claude setup",
    async seed(world) {
      const options = await installHooks(world);
      rmSync(join(world.home, STABLE));
      return options;
    },
  },
  {
    cause: "server-stopped",
    name: "a server that the user stopped",
    isFinal: true,
    says: "you stopped the server, so no CLI finds it",
    remedy: ":Claude",
    seed: (world) => world.stop(),
  },
  {
    cause: "server-stopped",
    name: "a server that was never started",
    isFinal: true,
    says: "was not started: auto_start is false",
    remedy: ":Claude",
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
    remedy: ":Claude",
    seed: (world) => failWith(world, "/bin/false"),
  },
  {
    cause: "executable-missing",
    name: "a plugin whose executable is missing",
    isFinal: true,
    says: "/nonexistent/x, which is not an executable",
    remedy: "binary.path",
    seed: (world) => failWith(world, "/nonexistent/x"),
  },
  {
    cause: "server-stopped",
    name: "a stopped server, seen from its Neovim's terminal",
    isFinal: true,
    remedy: ":Claude",
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

    const { undo } = await installHooks(world);
    const { findings: installed } = await world.findings();
    await undo?.();
    expect(installed.filter(isProblem)).toEqual([]);
    expect(installed.map(({ what }) => what).join()).toContain("nvim-lsp are set up");
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

  const BUFFER = `return vim.api.nvim_buf_get_lines(0, 0, -1, true)`;
  async function report(neovim: TestNeovim): Promise<string[]> {
    await neovim.command("checkhealth claude-code");
    const lines = await neovim.lua<string[]>(BUFFER);
    await neovim.command("bwipeout!");
    return lines;
  }

  /** The problems that it reports. */
  async function health(neovim: TestNeovim): Promise<string[]> {
    return (await report(neovim)).filter((line) => /ERROR|WARNING/.test(line));
  }

  test("reports what the doctor and :Claude status report", async () => {
    world.write(".claude.json", { diffTool: "terminal" });
    const { neovim } = world;
    const NVIM = await neovim.lua<string>("return vim.v.servername");
    const { findings } = await world.findings({ env: { NVIM } });
    const health = (await report(neovim)).join("\n");
    // Neovim's own findings are on screen before anything else was asked.
    const first = await neovim.lua<string[]>(`vim.cmd("Claude status") ${BUFFER}`);
    expect(first.at(-1)).toBe("looking further …");
    const status = await eventually("the doctor's findings", async () => {
      const lines = await neovim.lua<string[]>(BUFFER);
      return lines.at(-1) !== first.at(-1) && lines.join("\n");
    });
    await neovim.type("q");
    expect(findings.length).toBeGreaterThan(5);
    for (const { what, remedy = "" } of findings) {
      expect(health).toContain(what);
      expect(health).toContain(remedy);
      expect(status).toContain(what);
      expect(status).toContain(remedy);
    }
  });

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

/** Starts the server with another executable, and waits for its failure. */
async function failWith(world: World, path: string): Promise<void> {
  await world.stop();
  await world.setup(`{ binary = { path = "${path}" } }`);
  await world.neovim.command("ClaudeCodeStart");
  await eventually("the failure", () =>
    world.neovim.lua<boolean>(`return require("port").server.state == "failed"`),
  );
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

/** Sets the project up, and does what the CLI does with its part. */
async function installHooks(world: World): Promise<Options> {
  const { code } = await world.run(["install-hooks", "--yes"]);
  expect(code).toBe(0);
  const args = commandWords(["mcp"], join(world.home, STABLE));
  const server = { command: args[0], args: args.slice(1) };
  const projects = { [world.project]: { mcpServers: { "nvim-lsp": server } } };
  world.write(".claude.json", { projects });
  return { undo: () => world.run(["uninstall-hooks", "--yes"]) };
}

interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
}

interface Result {
  code: number;
  stdout: string;
}

/** A project in a Neovim in which all is well: the doctor finds no problem. */
class World implements AsyncDisposable {
  readonly bin: string;

  private constructor(
    readonly neovim: TestNeovim,
    readonly project: string,
  ) {
    this.bin = join(this.home, "bin");
  }

  static async start(version: NeovimVersion, setup = "{}"): Promise<World> {
    const project = temporaryFolder();
    writeFileSync(join(project, "main.lua"), "return {}\n");
    const neovim = await TestNeovim.start({ version, cwd: project, setup, args: ["main.lua"] });
    const world = new World(neovim, project);
    await world.reset();
    await world.ready();
    await eventually("the registry", () => {
      const folder = join(world.home, ".local/state/claude-code.nvim/neovims");
      return [...new Bun.Glob("*.json").scanSync({ cwd: folder })].length > 0;
    });
    return world;
  }

  /** Undoes what a case did to files, processes and options, so that the next one finds all well. */
  async reset(): Promise<void> {
    for (const name of [".claude.json", ".local/share/claude-code.nvim"]) {
      rmSync(join(this.home, name), { recursive: true, force: true });
    }
    this.installClaude("2.1.330");
    this.write(".claude/settings.json", { permissions: { defaultMode: "default" } });
    const { path } = await this.neovim.lock();
    chmodSync(path, 0o600);
  }

  /** Calls setup() again. */
  async setup(options = "{}"): Promise<void> {
    await this.neovim.lua(`require("claude-code").setup(${options})`);
  }

  /** The plugin has shaken hands with the executable: later than there is a lock file. */
  async ready(): Promise<void> {
    await eventually("the server", () =>
      this.neovim.lua<boolean>(`return require("claude-code").status().state == "ready"`),
    );
  }

  /** Stops the server, and waits for its end: until then its lock file may count. */
  async stop(): Promise<void> {
    const pid = await this.neovim.lua<number>('return require("claude-code").status().process_id');
    await this.neovim.command("ClaudeCodeStop");
    await eventually("its end", () => !isRunning(pid));
  }

  get home(): string {
    return this.neovim.home;
  }

  get env(): Record<string, string> {
    const env = isolatedEnv(this.home);
    return { ...env, PATH: `${this.bin}:${env.PATH}` };
  }

  /** A file below the home folder; what is not text becomes JSON. */
  write(name: string, content: object | string): string {
    const path = join(this.home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }

  /** A `claude` that prints this version. */
  installClaude(version: string): string {
    const script = `#!/bin/sh\n[ "$1" != --version ] || echo "${version} (Claude Code)"\n`;
    const path = this.write("bin/claude", script);
    chmodSync(path, 0o755);
    return path;
  }

  doctor(options: RunOptions & { args?: string[] } = {}): Promise<Result> {
    return this.run(["doctor", ...(options.args ?? [])], options);
  }

  /** Runs a sub-command as a user would. */
  async run(words: string[], options: RunOptions = {}): Promise<Result> {
    const child = Bun.spawn([EXECUTABLE, ...words], {
      cwd: options.cwd ?? this.project,
      env: { ...this.env, ...options.env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    const stdout = await new Response(child.stdout).text();
    return { code: await child.exited, stdout };
  }

  async findings(options: RunOptions = {}): Promise<{ code: number; findings: Finding[] }> {
    const { code, stdout } = await this.doctor({ ...options, args: ["--json"] });
    return { code, findings: (JSON.parse(stdout) as { findings: Finding[] }).findings };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.neovim[Symbol.asyncDispose]();
    rmSync(this.project, { recursive: true, force: true });
  }
}
