import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { attach, type NeovimClient } from "neovim";
import { constants, EXECUTABLE, eventually, type NeovimVersion, PORT, ROOT, SILENT } from "#test";
import { basename, IS_WINDOWS, join } from "../../src/lib/platform";
import { isolatedEnv } from "../support/claude-home";
import { languageServer } from "../support/lsp-stdio";
import { squeeze, Terminal } from "../support/tmux";

const ANSWER_TIMEOUT_MS = 20_000;
const WAIT_MS = 20_000;

export interface Layout {
  windows: Record<string, number | string>[];
  tree: unknown;
  current: number;
  buffers: string[];
}

export interface Diff {
  /** The window with the proposal, which can be edited. */
  proposed: { window: number; lines: string[] };
  windows: number;
}

function connected(path: string): Promise<Socket> {
  const socket = connect(path);
  return new Promise((resolve, reject) => {
    socket.once("connect", () => resolve(socket));
    socket.once("error", reject);
  });
}

/** A real Neovim in a real terminal, with the plugin set up as the README says. */
export class Neovim {
  private constructor(
    private readonly outer: Terminal | undefined,
    private readonly api: NeovimClient,
    private readonly child?: ChildProcess,
  ) {}

  /** There is none on Windows, since tmux is missing. */
  get terminal(): Terminal {
    if (!this.outer) throw new Error("this test needs tmux");
    return this.outer;
  }

  static async start(at: {
    version: NeovimVersion;
    project: string;
    home: string;
    files: string[];
    /** Lua source of the table for `setup`; default `{}`. */
    setup?: string;
    /** Constants of the plugin that have another value: "selection.DEBOUNCE_MS = 20". */
    constants?: string[];
    /** The whole environment; by default nothing but the home. */
    env?: Record<string, string>;
    columns?: number;
    rows?: number;
  }) {
    const socket = join(at.home, "nvim.sock");
    if (!existsSync(EXECUTABLE)) throw new Error(`No ${EXECUTABLE}. Run: bun run build`);
    const built = join(ROOT, "dist/claude-code-nvim");
    const binary = EXECUTABLE === built ? "{}" : `{ binary = { path = [[${EXECUTABLE}]] } }`;
    const options = `vim.tbl_deep_extend("force", ${binary}, ${at.setup ?? "{}"})`;
    const before = constants(["clock.QUIET_MS = 0", ...(at.constants ?? [])]);
    const args = [
      ...["--clean", "--cmd", `set runtimepath^=${ROOT}`],
      // No client is attached to this terminal, and tmux reports that some time after the start.
      ...["--cmd", "set eventignore=FocusLost"],
      ...["--cmd", `lua ${PORT}`],
      ...["-c", `lua ${before} require("claude-code").setup(${options})`, "-O", ...at.files],
    ];
    const [cwd, env] = [at.project, at.env ?? isolatedEnv(at.home)];
    if (IS_WINDOWS) {
      const pipe = `//./pipe/${basename(at.home)}-${process.pid}`;
      // Its terminals need a console, which pipes would replace.
      const child = spawn(at.version.binary, ["--headless", "--listen", pipe, ...args], {
        ...{ cwd, env, stdio: "inherit" },
      });
      const neovim = await Neovim.at(pipe, undefined, child);
      const options = { ext_linegrid: true } as never;
      await neovim.api.uiAttach(at.columns ?? 160, at.rows ?? 50, options);
      return neovim;
    }
    const terminal = await Terminal.start({
      command: [at.version.binary, "--listen", socket, ...args],
      ...{ cwd, env },
      ...(at.columns !== undefined && { columns: at.columns }),
      ...(at.rows !== undefined && { rows: at.rows }),
    });
    await terminal.waitUntil(() => existsSync(socket), "socket of Neovim");
    return Neovim.at(socket, terminal);
  }

  private static async at(socket: string, terminal?: Terminal, child?: ChildProcess) {
    // The file is there a moment before Neovim listens.
    const connection = await eventually("Neovim at its socket", () => connected(socket));
    // It ends with Neovim; what still waits for an answer then fails at its deadline.
    connection.on("error", () => {});
    const api = attach({ reader: connection, writer: connection, options: { logger: SILENT } });
    return new Neovim(terminal, api, child);
  }

  async lua<T>(body: string): Promise<T> {
    const source = `return vim.json.encode((function() ${body} end)())`;
    const { promise, reject } = Promise.withResolvers<never>();
    const late = () => reject(new Error(`not within ${ANSWER_TIMEOUT_MS} ms`));
    const timer = setTimeout(late, ANSWER_TIMEOUT_MS);
    try {
      const answer = this.api.request("nvim_exec_lua", [source, []]) as Promise<string>;
      return JSON.parse(await Promise.race([answer, promise])) as T;
    } catch (error) {
      throw new Error(`Neovim did not answer: ${error}. It shows:\n${await this.#screen()}`);
    } finally {
      clearTimeout(timer);
    }
  }

  async pid(): Promise<number> {
    return this.lua("return vim.fn.getpid()");
  }

  /** Everything that a user expects back unchanged: windows, sizes, cursors, buffers. */
  async layout(): Promise<Layout> {
    return this.lua(`
      local windows = {}
      for _, win in ipairs(vim.api.nvim_list_wins()) do
        local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
        windows[#windows + 1] = {
          win = win, buffer = vim.api.nvim_win_get_buf(win), diff = tostring(vim.wo[win].diff),
          width = vim.api.nvim_win_get_width(win), height = vim.api.nvim_win_get_height(win),
          line = view.lnum, column = view.col, top = view.topline, left = view.leftcol,
          wrap = tostring(vim.wo[win].wrap), foldmethod = vim.wo[win].foldmethod,
          scrollbind = tostring(vim.wo[win].scrollbind),
        }
      end
      local buffers = {}
      for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        buffers[#buffers + 1] = buf .. " " .. vim.api.nvim_buf_get_name(buf)
      end
      return {
        windows = windows, tree = vim.fn.winlayout(),
        current = vim.api.nvim_get_current_win(), buffers = buffers,
      }`);
  }

  /** The lines of the buffer of `file`, and whether they are unsaved. */
  async buffer(file: string): Promise<{ text: string; modified: boolean } | null> {
    return this.lua(`
      for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        if vim.api.nvim_buf_get_name(buf) == [[${file}]] then
          local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
          return { text = table.concat(lines, "\\n") .. "\\n", modified = vim.bo[buf].modified }
        end
      end
      return vim.NIL`);
  }

  /** Starts a language server for a file, to which WRONG is an error. */
  async startServer(file: string, home: string): Promise<void> {
    const control = mkdtempSync(join(home, "tmp/server-"));
    const cmd = JSON.stringify(languageServer(control));
    await this.lua(`
      vim.lsp.start({ name = "scripted", cmd = vim.json.decode([=[${cmd}]=]) }, {
        bufnr = vim.fn.bufnr("${file}"),
      })
      return true`);
    const isReady = 'return (vim.lsp.get_clients({ name = "scripted" })[1] or {}).initialized';
    await eventually("the server", () => this.lua<boolean>(`${isReady} == true`));
  }

  /** Waits. A failure shows what Neovim shows instead. */
  async eventually<T>(what: string, attempt: () => Promise<T>): Promise<Exclude<T, false>> {
    return eventually<unknown>(what, attempt, WAIT_MS).catch(async (error: Error) => {
      throw new Error(`${error.message}. Neovim shows:\n${await this.#screen()}`);
    }) as Promise<Exclude<T, false>>;
  }

  /** Waits until a diff shows `text` on its proposed side. */
  waitForDiff(text: string): Promise<Diff> {
    return this.eventually("the diff with the proposal", async () => {
      const diff = await this.diff();
      if (diff && `${diff.proposed.lines.join("\n")}\n` === text) return diff;
      throw new Error(`found ${JSON.stringify(diff)}`);
    });
  }

  /** The diff on screen: its editable window has the proposal. */
  async diff(): Promise<Diff | null> {
    return this.lua(`
      local found, count = vim.NIL, 0
      for _, win in ipairs(vim.api.nvim_list_wins()) do
        local buf = vim.api.nvim_win_get_buf(win)
        -- A new file has nothing beside it.
        local is_proposal = vim.api.nvim_buf_get_name(buf):find("(proposed)", 1, true)
        if vim.wo[win].diff or is_proposal then
          count = count + 1
          if vim.bo[buf].modifiable then
            found = {
              proposed = { window = win, lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false) },
            }
          end
        end
      end
      if found ~= vim.NIL then found.windows = count end
      return found`);
  }

  async focus(window: number): Promise<void> {
    await this.lua(`vim.api.nvim_set_current_win(${window}) return true`);
  }

  async #screen(): Promise<string> {
    return this.outer ? squeeze(await this.outer.screen()) : "(no terminal)";
  }

  async close(): Promise<void> {
    this.child?.kill();
    await this.outer?.close();
  }
}
