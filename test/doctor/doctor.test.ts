import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  deadPid,
  type Ended,
  EXECUTABLE,
  eventually,
  isolatedEnv,
  isRunning,
  NEOVIMS,
  NEWEST,
  type NeovimVersion,
  nightly,
  rows,
  run,
  stateFolderOf,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { type Finding, isProblem } from "../../src/doctor/finding";
import { dirname, join } from "../../src/lib/platform";

interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
}

class World implements AsyncDisposable {
  readonly bin: string;

  private constructor(
    readonly neovim: TestNeovim,
    readonly project: string,
  ) {
    this.bin = join(this.home, "bin");
  }

  static async start(version: NeovimVersion): Promise<World> {
    const project = temporaryFolder();
    writeFileSync(join(project, "main.lua"), "return {}\n");
    const neovim = await TestNeovim.start({ version, cwd: project, args: ["main.lua"] });
    const world = new World(neovim, project);
    world.installClaude("2.1.330");
    world.write(".claude/settings.json", { permissions: { defaultMode: "default" } });
    await neovim.ready();
    await eventually("the registry", () => {
      const folder = join(stateFolderOf(world.home), "neovims");
      return [...new Bun.Glob("*.json").scanSync({ cwd: folder })].length > 0;
    });
    return world;
  }

  async setup(options: string): Promise<void> {
    await this.neovim.lua(`require("claude-code").setup(${options})`);
  }

  /** Stops the server, and waits for its end: before that, its lock file may count. */
  async stop(): Promise<void> {
    const pid = await this.neovim.lua<number>('return require("claude-code").status().process_id');
    await this.neovim.command("ClaudeCodeStop");
    await eventually("its end", () => !isRunning(pid));
  }

  /** The environment of a terminal of Neovim. */
  async inside(): Promise<{ env: Record<string, string> }> {
    return { env: { NVIM: await this.neovim.lua<string>("return vim.v.servername") } };
  }

  get home(): string {
    return this.neovim.home;
  }

  /** A file below the home folder; what is not text becomes JSON. */
  write(name: string, content: object | string): string {
    const path = join(this.home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }

  installClaude(version: string): void {
    const script = `#!/bin/sh\n[ "$1" != --version ] || echo "${version} (Claude Code)"\n`;
    chmodSync(this.write("bin/claude", script), 0o755);
  }

  run(words: string[], { cwd = this.project, env = {} }: RunOptions = {}): Promise<Ended> {
    const own = isolatedEnv(this.home);
    const PATH = `${this.bin}:${own.PATH}`;
    return run([EXECUTABLE, ...words], { cwd, env: { ...own, PATH, ...env } });
  }

  async findings(options?: RunOptions): Promise<Finding[]> {
    const { stdout } = await this.run(["doctor", "--json"], options);
    return (JSON.parse(stdout) as { findings: Finding[] }).findings;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.neovim[Symbol.asyncDispose]();
    rmSync(this.project, { recursive: true, force: true });
  }
}

const STABLE = ".local/share/claude-code.nvim/bin/claude-code-nvim";
const SETTINGS = ".claude/settings.local.json";
const CLAUDE_SETTINGS = ".claude/settings.json";

/** A fault's cause and name, what the doctor says about it, and what fixes it; `SEEDS` creates it. */
const FAULTS = rows(`
  cli-missing | no claude | is not on $PATH | npm install -g @anthropic-ai/claude-code
  cli-missing | no program of terminal.command | \`mine\` is not on $PATH | name it in terminal.command
  cli-missing | a claude that does not run | does not run | npm install -g @anthropic-ai/claude-code
  cli-outdated | a claude that is too old | has version 1.0.58 | claude update
  no-editor | a server that does not run | no running Neovim | open Neovim in
  no-editor | no Neovim | | open Neovim in
  lock-unusable | the lock file removed | missing | :Claude
  lock-unusable | a lock file that is not JSON | it is not an editor's lock file | :Claude
  lock-stale | the lock file of a Neovim that has ended | which has ended | rm
  two-editors-match | two editors with the folder open | Other | CLAUDE_CODE_SSE_PORT=
  editor-restarted | a shell of a Neovim that is gone | port 1024, which no longer listens | /ide
  config-dir-differs | CLAUDE_CONFIG_DIR in Neovim alone | elsewhere | export CLAUDE_CONFIG_DIR=
  outside-workspace | a shell outside | is outside of the workspace of Neovim | cd
  proxy-catches-loopback | a proxy in the shell | http_proxy is set | export no_proxy=
  terminal-of-another-editor | variables of another editor | TERM_PROGRAM is vscode | env -u TERM_PROGRAM -u FORCE_CODE_TERMINAL claude
  hooks-disabled | hooks switched off | settings.local.json: no hook runs | correct that file
  diff-tool-terminal | diffTool set to terminal | diffTool is "terminal" | /config
  no-diff-anywhere | no diff anywhere | diff.open is "never" | /config
  mode-skips-diffs | a mode in the settings | permissions.defaultMode is "acceptEdits" | claude --permission-mode default
  mode-skips-diffs | a mode in setup() | terminal.permission_mode in setup() | set it to "default"
  hooks-half-installed | plugin without its folder | enable the plugin | :Claude setup
  hooks-broken | hooks whose executable is gone | which is not an executable | :Claude setup
  server-stopped | a server that the user stopped | you stopped the server, so no CLI finds it | :Claude
  server-stopped | a server that was never started | was not started: auto_start is false | :Claude
  remote-down | a relay that does not run | dev: down, \`no-such-docker\` is not on | remotes.dev.relay with \`doctor\`
  server-not-running | a server that failed | has failed: | :Claude
  executable-missing | no executable | /nonexistent/x, which is not an executable | binary.path
  plugin-not-loaded | a Neovim without the plugin | has not loaded the plugin | require("claude-code").setup({})`);

const atLock = async (world: World, change: (path: string) => void) => {
  const { path } = await world.neovim.lock();
  // The server would bring it back.
  await stopExecutable(world);
  change(path);
};

/** Each breaks a world; returns (a promise of) `RunOptions` where the doctor is run elsewhere or otherwise. */
const SEEDS: Record<string, (world: World) => unknown> = {
  "no claude": (world) => rmSync(join(world.bin, "claude")),
  "no program of terminal.command": async (world) => {
    await world.setup('{ terminal = { command = { "mine", "claude" } } }');
    return world.inside();
  },
  "a claude that does not run": (world) => world.installClaude("not a version"),
  "a claude that is too old": (world) => world.installClaude("1.0.58"),
  "a server that does not run": (world) => world.stop(),
  "no Neovim": (world) => world.neovim.quit(),
  "the lock file removed": (world) => atLock(world, rmSync),
  "a lock file that is not JSON": (world) => atLock(world, (path) => writeFileSync(path, "{")),
  "the lock file of a Neovim that has ended": async (world) => {
    const { path, content } = await world.neovim.lock();
    await world.neovim.quit();
    writeFileSync(path, JSON.stringify({ ...content, pid: deadPid() }));
  },
  "two editors with the folder open": async (world) => {
    const { content } = await world.neovim.lock();
    world.write(".claude/ide/1024.lock", { ...content, pid: process.pid, ideName: "Other" });
  },
  "a shell of a Neovim that is gone": () => ({ env: { CLAUDE_CODE_SSE_PORT: "1024" } }),
  "CLAUDE_CONFIG_DIR in Neovim alone": async (world) => {
    await world.stop();
    await world.neovim.lua(
      `vim.env.CLAUDE_CONFIG_DIR = ... require("claude-code").start()`,
      join(world.home, "elsewhere"),
    );
    await world.neovim.ready();
  },
  "a shell outside": () => ({ cwd: temporaryFolder() }),
  "a proxy in the shell": () => ({
    env: { http_proxy: "http://proxy.invalid:3128", no_proxy: "example.org" },
  }),
  "variables of another editor": () => ({
    env: { TERM_PROGRAM: "vscode", FORCE_CODE_TERMINAL: "1" },
  }),
  "hooks switched off": async (world) => {
    mkdirSync(dirname(join(world.project, SETTINGS)), { recursive: true });
    writeFileSync(join(world.project, SETTINGS), '\uFEFF{ "disableAllHooks": true }');
    const reported = `return #require("port").session_sources.hooks_off() > 0`;
    await world.neovim.until("the report", reported);
  },
  "diffTool set to terminal": (world) => void world.write(".claude.json", { diffTool: "terminal" }),
  "no diff anywhere": (world) => world.setup(`{ diff = { open = "never" } }`),
  "a mode in the settings": (world) =>
    void world.write(CLAUDE_SETTINGS, { permissions: { defaultMode: "acceptEdits" } }),
  "a mode in setup()": (world) => world.setup(`{ terminal = { permission_mode = "auto" } }`),
  "plugin without its folder": async (world) => {
    await installHooks(world);
    const settings = JSON.parse(readFileSync(join(world.project, SETTINGS), "utf8"));
    delete settings.extraKnownMarketplaces;
    writeFileSync(join(world.project, SETTINGS), JSON.stringify(settings));
  },
  "hooks whose executable is gone": async (world) => {
    await installHooks(world);
    rmSync(join(world.home, STABLE));
  },
  "a server that the user stopped": async (world) => {
    await world.stop();
    return world.inside();
  },
  "a server that was never started": async (world) => {
    await world.stop();
    await world.neovim.lua(`require("port").server.stopped_by_user = nil`);
    await world.setup("{ auto_start = false }");
    await world.neovim.until("the reason", `return require("port").autostart.reason ~= nil`);
    return world.inside();
  },
  "a relay that does not run": async (world) => {
    await world.setup(`{ terminal = { remote = "dev" }, remotes = { dev = {
      command = { "/bin/sh", "-c", "exec cat", "{env}", "{args}" },
      relay = { "no-such-docker", "exec", "-i", "dev", "claude-code-nvim", "relay", "--stdio" } } } }`);
    await world.neovim.command("Claude");
    const down = `return require("port").remote.report("dev").state == "down"`;
    await world.neovim.until("the link's end", down);
  },
  "a server that failed": (world) => failWith(world, "/bin/false"),
  "no executable": (world) => failWith(world, "/nonexistent/x"),
  "a Neovim without the plugin": async (world) => {
    await world.stop();
    await world.neovim.lua(`package.loaded["claude-code"] = nil`);
    return world.inside();
  },
};

describe("claude-code-nvim doctor", () => {
  test("finds no fault if there is none", async () => {
    await using world = await World.start(NEWEST);
    const problems = async (options?: RunOptions) =>
      (await world.findings(options)).filter(isProblem);
    expect(await problems()).toEqual([]);
    expect((await world.run(["doctor"])).code).toBe(0);
    const { env } = await world.inside();
    const CLAUDE_CODE_SSE_PORT = String((await world.neovim.lock()).port);
    expect(await problems({ env: { ...env, CLAUDE_CODE_SSE_PORT } })).toEqual([]);
    await installHooks(world);
    expect(await problems()).toEqual([]);
    expect(JSON.stringify(await world.findings())).toContain(
      "the plugin for Claude Code is enabled",
    );

    const other = { version: NEWEST, cwd: world.project, home: world.home };
    await using stopped = await TestNeovim.start({ ...other, setup: "{ auto_start = false }" });
    expect(await stopped.lua(`return require("claude-code").status().state`)).toBe("stopped");
    expect(await problems()).toEqual([]);
  });

  test.each(FAULTS)("finds %s: %s", async (cause = "", name = "", says = "", remedy = "") => {
    await using world = await World.start(NEWEST);
    const options = ((await SEEDS[name]?.(world)) ?? {}) as RunOptions;
    const problems = (await world.findings(options)).filter(isProblem);
    for (const { what, remedy } of problems) expect(what).not.toContain(remedy);
    expect(problems).toEqual([
      {
        level: expect.any(String) as never,
        cause,
        what: expect.stringContaining(says),
        remedy: expect.stringContaining(remedy),
      },
    ]);
  });

  test("does not miss a CLI that runs in a remote", async () => {
    await using world = await World.start(NEWEST);
    rmSync(join(world.bin, "claude"));
    await world.setup(`{ terminal = { remote = "box" }, remotes = { box = {
      command = { "ssh", "box", "env {env} claude {args}" }, relay = { "ssh", "box" } } } }`);
    const findings = await world.findings();
    expect(findings.filter(isProblem)).toEqual([]);
    expect(findings.map(({ what }) => what)).toContain(
      "the Claude CLI does not run here: terminal.remote says where it runs",
    );
  });

  test("prints the findings, and never a token", async () => {
    await using world = await World.start(NEWEST);
    const { authToken } = (await world.neovim.lock()).content;
    world.installClaude("1.0.58");
    const { code, stdout } = await world.run(["doctor"]);
    expect(stdout).toContain("has version 1.0.58; it must be 2.0.0 or newer\n      to fix it, run");
    expect(stdout).not.toContain(authToken);
    expect(code).toBe(1);
    expect((await world.run(["doctor", "--nonsense"])).code).toBe(2);
  });
});

describe.each(NEOVIMS)(":checkhealth in $name", (version) => {
  const BUFFER = `return vim.api.nvim_buf_get_lines(0, 0, -1, true)`;
  async function report(world: World): Promise<string[]> {
    await world.neovim.lua("vim.env.PATH = ... .. ':' .. vim.env.PATH", world.bin);
    await world.neovim.command("checkhealth claude-code");
    const lines = await world.neovim.lua<string[]>(BUFFER);
    await world.neovim.command("bwipeout!");
    return lines;
  }

  async function health(world: World): Promise<string[]> {
    return (await report(world)).filter((line) => /ERROR|WARNING/.test(line));
  }

  test("reports what the doctor and :Claude status report", async () => {
    await using world = await World.start(version);
    expect(await health(world)).toEqual([]);
    world.write(".claude.json", { diffTool: "terminal" });
    const findings = await world.findings(await world.inside());
    const reported = (await report(world)).join("\n");
    // Neovim's own findings are on screen before it asks for anything else.
    const first = await world.neovim.lua<string[]>(`vim.cmd("Claude status") ${BUFFER}`);
    expect(first.at(-1)).toBe("checking more …");
    const status = await eventually("the doctor's findings", async () => {
      const lines = await world.neovim.lua<string[]>(BUFFER);
      return lines.at(-1) !== first.at(-1) && lines.join("\n");
    });
    expect(findings.filter(isProblem)).toHaveLength(1);
    for (const { what, remedy = "" } of findings) {
      expect(reported).toContain(what);
      expect(reported).toContain(remedy);
      expect(status).toContain(what);
      expect(status).toContain(remedy);
    }
    await world.neovim.type("q");
    await world.setup(`{ diff = { open = "never" } }`);
    expect(await health(world)).toEqual([]);
  });

  nightly.test("names each option that cannot be used", async () => {
    await using world = await World.start(version);
    await world.setup(`{ diff = { layot = "tab" }, keymaps = "yes" }`);
    expect(await health(world)).toEqual([
      expect.stringMatching(/ERROR.*diff\.layot/),
      expect.stringMatching(/ERROR.*keymaps/),
    ]);
  });

  const setups = rows(`
    executable is missing | binary = { path = '/nonexistent/x' } | x, which is not an exec
    executable is no executable | binary = { path = 'main.lua' } | main.lua, which is not an exec
    executable has another version | binary = { path = './old' } | has version 0.0.1, the
    executable is broken | binary = { path = './broken' } | does not run
    CLI is missing | terminal = { command = '/no/claude' } | \`/no/claude\` is not an executable
    provider snacks is not there | terminal = { provider = 'snacks' } | snacks.nvim is not
    provider tmux is missing | terminal = { provider = 'tmux' } | does not run in tmux`);
  test.each(setups)("says only that the %s", async (_, setup, message) => {
    await using world = await World.start(version);
    const scripts = { old: "echo claude-code.nvim 0.0.1", broken: "exit 127" };
    for (const [name, script] of Object.entries(scripts)) {
      writeFileSync(join(world.project, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    await world.neovim.lua("vim.env.TMUX = nil");
    await world.setup(`{ ${setup} }`);
    expect(await health(world)).toEqual([expect.stringContaining(message)]);
  });
});

async function stopExecutable(world: World): Promise<void> {
  const pid = await world.neovim.lua<number>(`return require("claude-code").status().process_id`);
  process.kill(pid, "SIGSTOP");
}

async function failWith(world: World, path: string): Promise<RunOptions> {
  await world.stop();
  await world.setup(`{ binary = { path = "${path}" } }`);
  await world.neovim.command("ClaudeCodeStart");
  await world.neovim.until("the failure", `return require("port").server.state == "failed"`);
  return world.inside();
}

async function installHooks(world: World): Promise<void> {
  expect((await world.run(["install-hooks", "--yes"])).code).toBe(0);
}
