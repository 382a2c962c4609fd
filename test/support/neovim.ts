import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { attach, type NeovimClient } from "neovim";
import type { LockContent } from "../../src/ide/lock-file";
import { IS_WINDOWS, join, normal } from "../../src/lib/platform";
import { eventually } from "./eventually";
import { type Played, plays } from "./plays";
import { EXECUTABLE, NEOVIMS, NEWEST, type NeovimVersion, OLDEST, ROOT } from "./toolchain";

export { ALL, BOTH_NEOVIMS, nightly } from "./toolchain";
export { EXECUTABLE, NEOVIMS, NEWEST, type NeovimVersion, OLDEST, ROOT };

/**
 * An empty folder of its own, by its real path, short enough for sockets below it. It is in the folder of the run,
 * which scripts/test removes at the end.
 */
export function temporaryFolder(): string {
  return normal(realpathSync(mkdtempSync(join(tmpdir(), "ccn-"))));
}

/** The executable keeps its state there, for a user with this home. */
export function stateFolderOf(home: string): string {
  const folder = IS_WINDOWS
    ? "AppData/Local/claude-code.nvim/state"
    : ".local/state/claude-code.nvim";
  return join(home, folder);
}

export function neovimStateOf(home: string): string {
  return join(home, ".local/state", IS_WINDOWS ? "nvim-data" : "nvim");
}

/** The environment of a new user: no configuration, no sockets, no tokens of the developer. */
export function isolatedEnv(home: string): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(NVIM|VIM|XDG_|CLAUDE|ANTHROPIC|ENABLE_IDE|BUN_|TERM_PROGRAM|TERMINAL_|CURSOR_|FORCE_CODE|.*_proxy$)/i.test(
        name,
      ),
  );
  return {
    ...(Object.fromEntries(kept) as Record<string, string>),
    HOME: home,
    ...(IS_WINDOWS && { USERPROFILE: home, LOCALAPPDATA: join(home, "AppData/Local") }),
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local/share"),
    XDG_STATE_HOME: join(home, ".local/state"),
    XDG_CACHE_HOME: join(home, ".cache"),
    XDG_RUNTIME_DIR: join(home, "run"),
    NVIM_LOG_FILE: join(home, "nvim.log"),
  };
}

export interface NeovimOptions {
  version: NeovimVersion;
  /** Working folder; a new empty one if left out. */
  cwd?: string;
  /** HOME; a new empty one if left out. */
  home?: string;
  /** Lua source of the table for `setup`; `false` leaves the plugin unset up. Default `{}`. */
  setup?: string | false;
  /** Constants of the plugin with other values, as for `constants()`. */
  constants?: string[];
  /** Makes diffs wait for a pause in typing, as they do for users; other tests type at once. */
  waitsForPauses?: boolean;
  /** Opens the editor with a UI of this size attached, so that redrawing and modes are real. */
  ui?: { width: number; height: number };
  /** The plugin's folder; ours if left out. */
  runtimepath?: string;
  env?: Record<string, string>;
  /** Further arguments of nvim. */
  args?: string[];
}

/** Lua that gives constants of the plugin another value: "selection.DEBOUNCE_MS = 20". */
export function constants(list: readonly string[]): string {
  return list.map((constant) => `require("port").${constant} `).join("");
}

/**
 * Lets a terminal's program begin before anything else happens. Between fork and exec it still
 * has Neovim's own signal handlers, so that deleting its buffer then ends Neovim itself with
 * "Caught deadly signal 'SIGHUP'" (seen with 0.10.4 and 0.12.4, without any plugin).
 * Only Linux says which program a process runs.
 */
const LET_TERMINALS_BEGIN = `
  vim.api.nvim_create_autocmd("TermOpen", {
    callback = function(event)
      local function program(process)
        return vim.uv.fs_readlink("/proc/" .. process .. "/exe")
      end
      local own, tries = program("self"), 0
      while own and program(vim.b[event.buf].terminal_job_pid) == own and tries < 2000 do
        vim.uv.sleep(1)
        tries = tries + 1
      end
    end,
  })`;

/** `require("port")` in a test's Lua: see port.lua. */
export const PORT = `package.preload.port = loadfile([[${join(import.meta.dir, "port.lua")}]])`;

/**
 * With a history, netrw 0.10 keeps a Neovim with a screen from ending: it waits for a key. For the first
 * Python file Neovim looks for a Python that has its module, which takes seconds where there are several.
 */
const QUIET = "let g:netrw_dirhistmax = 0 | let g:loaded_python3_provider = 0";

/**
 * Without a screen: a Neovim with `--headless` alone never asks for a key after many messages ("-- More --");
 * with `--embed` it does, and does not answer.
 */
const NO_SCREEN = ["--headless", "--cmd", "set nomore"];

/** How long an answer may take; less than a test may. */
const ANSWER_TIMEOUT_MS = 40_000;

/** How long the end may take. */
const QUIT_TIMEOUT_MS = 20_000;
/** How often we ask a Neovim that is ending whether it waits for a key. */
const PROMPT_MS = 300;

/** How long we wait for the last stderr output of a Neovim that has ended. */
const STDERR_MS = 200;

/** A real Neovim with the plugin, driven over its own msgpack-RPC channel. */
export class TestNeovim implements AsyncDisposable {
  readonly #pending = new Set<(error: Error) => void>();
  /** Why there will be no answer. */
  #ended: Error | undefined;

  private constructor(
    readonly process: ChildProcess,
    readonly api: NeovimClient,
    readonly cwd: string,
    readonly home: string,
    private readonly owned: string[],
  ) {}

  static async start(options: NeovimOptions): Promise<TestNeovim> {
    const home = options.home ?? temporaryFolder();
    const owned = options.home ? [] : [home];
    let { cwd } = options;
    if (!cwd) {
      cwd = temporaryFolder();
      owned.push(cwd);
    }
    const env = { ...isolatedEnv(home), ...options.env };
    await mkdir(join(home, "run"), { recursive: true, mode: 0o700 });
    // Neovim fails (E303) where the executable makes a folder above it in the same moment.
    await mkdir(neovimStateOf(home), { recursive: true, mode: 0o700 });
    const { setup = "{}", runtimepath = ROOT } = options;
    const before = [
      ...(options.waitsForPauses ? [] : ["clock.QUIET_MS = 0"]),
      ...(options.constants ?? []),
    ];
    const args = [
      "--clean",
      "--embed",
      "--cmd",
      `lua ${LET_TERMINALS_BEGIN} ${PORT}`,
      "--cmd",
      QUIET,
      ...(options.ui ? [] : NO_SCREEN),
      "--cmd",
      `set runtimepath^=${runtimepath.replaceAll(/[ ,\\]/g, "\\$&")}`,
      ...(setup === false
        ? []
        : ["-c", `lua ${constants(before)} require("claude-code").setup(${setup})`]),
      ...(options.args ?? []),
    ];
    const child = spawn(options.version.binary, args, {
      cwd,
      env,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const api = attach({ proc: child, options: { logger: SILENT } });
    const neovim = new TestNeovim(child, api, normal(realpathSync(cwd)), home, owned);
    neovim.#rejectWhenEnded();
    if (options.ui)
      await api.uiAttach(options.ui.width, options.ui.height, { ext_linegrid: true } as never);
    await neovim.mode();
    return neovim;
  }

  /** The client library would wait forever for an answer from a Neovim that is gone. */
  #rejectWhenEnded(): void {
    let stderr = "";
    // On Windows a write fails if Neovim has ended.
    this.process.stdin?.on("error", () => {});
    this.process.stderr?.on("data", (chunk) => {
      stderr = `${stderr}${chunk}`.slice(-2_000);
    });
    const end = () => {
      const { exitCode, signalCode } = this.process;
      this.#ended ??= new Error(`Neovim ended with ${signalCode ?? exitCode}: ${stderr.trim()}`);
      for (const reject of this.#pending) reject(this.#ended);
    };
    // By then all of stderr is there, unless a program that Neovim started keeps it open.
    this.process.once("close", end);
    this.process.once("exit", () => setTimeout(end, STDERR_MS));
  }

  /** Calls a function of Neovim's API; rejected when Neovim ends first, or does not answer. */
  request<T>(method: string, args: unknown[]): Promise<T> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(async () => reject(await this.#noAnswer(method)), ANSWER_TIMEOUT_MS);
      this.#pending.add(reject);
      (this.api.request(method, args) as Promise<T>).then(resolve, reject).finally(() => {
        clearTimeout(timer);
        this.#pending.delete(reject);
      });
    });
  }

  async #noAnswer(method: string): Promise<Error> {
    return new Error(`${method}: no answer for ${ANSWER_TIMEOUT_MS} ms; ${await this.#waitsFor()}`);
  }

  /** `blocking`: it waits for a key, and answers nothing else. */
  mode(): Promise<{ mode: string; blocking: boolean }> {
    return this.request("nvim_get_mode", []);
  }

  async inMode(wanted: string): Promise<void> {
    await eventually(`mode ${wanted}`, async () => {
      const { mode } = await this.mode();
      if (mode !== wanted) throw new Error(`it is ${mode}`);
    });
  }

  /** Is there a question? Neovim 0.10 waits for a key, 0.12 at a command line. */
  async asks(): Promise<boolean> {
    const { mode, blocking } = await this.mode();
    return blocking || mode !== "n";
  }

  /** Describes what Neovim waits for. */
  async #waitsFor(): Promise<string> {
    const mode = await Promise.race([this.api.request("nvim_get_mode", []), Bun.sleep(2_000)]);
    return `nvim_get_mode: ${JSON.stringify(mode)}`;
  }

  /** Runs Lua; `...` holds the arguments. */
  lua<T = unknown>(source: string, ...args: unknown[]): Promise<T> {
    return this.request("nvim_exec_lua", [source, args]);
  }

  /** Waits until this Lua returns true. */
  until(what: string, source: string, ...args: unknown[]): Promise<true> {
    return eventually(what, () => this.lua<boolean>(source, ...args));
  }

  /** Runs an Ex command and returns what it prints. */
  async command(command: string): Promise<string> {
    const { output } = await this.request<{ output: string }>("nvim_exec2", [
      command,
      { output: true },
    ]);
    return output;
  }

  /** Types keys as a user does: `<CR>`, `<Esc>` and the like are translated. */
  async type(keys: string): Promise<void> {
    await this.request("nvim_input", [keys]);
    await this.mode();
  }

  /** Types, and waits for what is seen: see plays.ts. */
  plays(script: string, played: Played = {}): Promise<void> {
    return plays(this, script, played);
  }

  get lockFolder(): string {
    return join(this.home, ".claude/ide");
  }

  /** Waits until an executable serves, other than `unlike`; its process id. */
  ready(unlike?: number): Promise<number> {
    return eventually("a ready executable", async () => {
      const { state, process_id } = await this.lua<{ state: string; process_id?: number }>(
        `return require("claude-code").status()`,
      );
      return state === "ready" && process_id !== unlike && (process_id as number);
    });
  }

  /** The names of all buffers. */
  buffers(): Promise<string[]> {
    return this.lua("return vim.tbl_map(vim.api.nvim_buf_get_name, vim.api.nvim_list_bufs())");
  }

  /** Waits for the lock file of this Neovim. */
  lock(): Promise<{ path: string; port: number; content: LockContent }> {
    return eventually("the lock file", () => {
      const name = readdirSync(this.lockFolder).find((entry) => entry.endsWith(".lock"));
      if (!name) throw new Error("no lock file yet");
      const path = join(this.lockFolder, name);
      const content = JSON.parse(readFileSync(path, "utf8")) as LockContent;
      return { path, port: Number.parseInt(name, 10), content };
    });
  }

  /** The arguments that go along with the CLI that this Neovim starts, once there is a server. */
  pluginArguments(): Promise<string[]> {
    return eventually("the server", async () => {
      const made = await this.lua<string[]>("return require('port').plugin_arguments()");
      return made.length > 0 && made;
    });
  }

  /** Ends Neovim as `:qa!` does and waits for the process. */
  async quit(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const gone = new Promise((resolve) => this.process.once("exit", resolve));
      this.api.command("qa!").catch(() => {});
      const prompts = setInterval(() => this.#leavePrompt().catch(() => {}), PROMPT_MS);
      const timer = setTimeout(() => this.#kill(), QUIT_TIMEOUT_MS);
      await gone;
      clearInterval(prompts);
      clearTimeout(timer);
    }
  }

  /** A prompt for a key, such as "-- More --", blocks commands. */
  async #leavePrompt(): Promise<void> {
    const { blocking } = (await this.api.request("nvim_get_mode", [])) as { blocking: boolean };
    if (blocking) await this.api.request("nvim_input", ["<C-c>"]);
  }

  /** It did not end on its own: the test passes, and its output says so. */
  async #kill(): Promise<void> {
    const why = await this.#waitsFor().catch(String);
    process.stdout.write(`:qa! did not end Neovim in ${QUIT_TIMEOUT_MS} ms; ${why}\n`);
    this.process.kill("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.quit();
    for (const folder of this.owned) await rm(folder, { recursive: true, force: true });
  }
}

const ignore = () => {};
/** The client library would write its own log. */
export const SILENT = {
  info: ignore,
  warn: ignore,
  error: ignore,
  debug: ignore,
  level: "error",
} as never;
