import { expect } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { eventually, type NeovimOptions, TestNeovim } from "#test";
import { dirname, join } from "../../src/lib/platform";
import { CONTRACT } from "../../src/lib/version";

export interface Ended {
  id: number;
  outcome: "accepted" | "rejected";
  text?: string;
}

export interface WireDelta {
  buffers?: Record<string, unknown>[];
  diagnostics?: Record<string, unknown>[];
}

/** An extmark. */
export interface Mark {
  row: number;
  column: number;
  end_row: number;
  end_col: number;
  hl_group?: string;
  sign_text?: string;
  virt_text?: [string, string][];
  virt_lines?: [string, string][][];
}

/** The visible state of all windows, for comparisons. */
export interface Picture {
  layout: unknown;
  current: number;
  previous: number;
  tab: number;
  mode: string;
  windows: ({ options: Record<string, unknown> } & Record<string, unknown>)[];
  buffers: string[];
}

const PICTURE = `
  local windows = {}
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local options = {}
    for name, info in pairs(vim.api.nvim_get_all_options_info()) do
      if info.scope == "win" and name ~= "scroll" then
        options[name] = vim.api.nvim_get_option_value(name, { win = win, scope = "local" })
      end
    end
    local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
    local jumps = vim.fn.getjumplist(win)
    table.insert(windows, {
      win = win, buf = vim.api.nvim_win_get_buf(win), view = view, options = options,
      width = vim.api.nvim_win_get_width(win), height = vim.api.nvim_win_get_height(win),
      alternate = vim.api.nvim_win_call(win, function() return vim.fn.bufnr("#") end),
      jumps = { #jumps[1], jumps[2] },
    })
  end
  local buffers = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    table.insert(buffers, ("%d %s %s %s"):format(buf, vim.api.nvim_buf_get_name(buf), vim.bo[buf].bufhidden, tostring(vim.api.nvim_buf_is_loaded(buf))))
  end
  -- If the current window is its own previous window, there is no previous one.
  local previous = vim.fn.win_getid(vim.fn.winnr("#"))
  if previous == vim.api.nvim_get_current_win() then previous = 0 end
  return {
    layout = vim.fn.winlayout(), current = vim.api.nvim_get_current_win(),
    previous = previous, tab = vim.api.nvim_get_current_tabpage(),
    mode = vim.api.nvim_get_mode().mode, windows = windows, buffers = buffers,
  }`;

/**
 * Neovims whose test is over, the last one at the end: the next test of the file with the same options takes one of
 * them. The last ones end with the process.
 */
const idle: Attached[] = [];
const MAX_IDLE = 4;

/** A Neovim in which this test plays the executable's part. */
export class Attached implements AsyncDisposable {
  readonly ended: Ended[] = [];
  readonly pushed: WireDelta[] = [];
  #nextId = 1;
  /** Options by which tests find it in `idle`, if they may reuse it. */
  #key: string | undefined;
  /** Files that existed at its start. */
  #kept = new Set<string>();

  private constructor(
    readonly nvim: TestNeovim,
    readonly channel: number,
    readonly waitsForPauses: boolean,
  ) {}

  static async start(options: NeovimOptions): Promise<Attached> {
    const nvim = await TestNeovim.start({ setup: false, ...options });
    const [channel] = (await nvim.request("nvim_get_api_info", [])) as [number];
    const attached = new Attached(nvim, channel, options.waitsForPauses ?? false);
    if (!attached.waitsForPauses) await attached.pauses(0);
    await nvim.lua('require("port").look_often()');
    nvim.api.on("notification", (method: string, args: unknown[]) => {
      if (method !== "claude_code") return;
      const [event, payload] = args as [string, never];
      if (event === "diff_ended") attached.ended.push(payload);
      if (event === "state") attached.pushed.push(payload);
    });
    return attached;
  }

  /** Like `start`, but may reuse the Neovim of another test in this file, reset to its initial state. */
  static async asNew(options: NeovimOptions): Promise<Attached> {
    const key = JSON.stringify([Bun.main, options.version.name, options]);
    const at = idle.findLastIndex((one) => one.#key === key);
    if (at >= 0) return idle.splice(at, 1)[0] as Attached;
    const attached = await Attached.start(options);
    attached.#key = key;
    const source = join(import.meta.dir, "as-new.lua");
    await attached.nvim.lua(`AS_NEW = dofile(...)`, source);
    attached.#kept = new Set(await attached.#files());
    return attached;
  }

  /** Like `asNew`, with the executable attached. */
  static async attached(options: NeovimOptions): Promise<Attached> {
    const attached = await Attached.asNew(options);
    await attached.attach();
    return attached;
  }

  /** The same, with main.txt in its window. */
  static async opened(options: NeovimOptions, text: string): Promise<Attached> {
    const attached = await Attached.asNew(options);
    await attached.edit(attached.file("main.txt", text));
    await attached.attach();
    return attached;
  }

  attach(): Promise<WireDelta> {
    return this.call<WireDelta>("attach", {
      channel: this.channel,
      contract: CONTRACT,
      version: "0.1.0",
    });
  }

  /** The answer in the form in which it is sent. */
  answer(
    method: string,
    params: object = {},
  ): Promise<{ value?: unknown; error?: { code: string; message: string } }> {
    return this.nvim.lua('return require("port").dispatcher.call(...)', method, params);
  }

  async call<T = unknown>(method: string, params: object = {}): Promise<T> {
    const { value, error } = await this.answer(method, params);
    if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
    return value as T;
  }

  get main(): string {
    return this.path("main.txt");
  }

  path(name: string): string {
    return join(this.nvim.cwd, name);
  }

  /** Writes a file, and creates its folders. */
  file(name: string, content: string | Uint8Array): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  /** Opens a file as users do. */
  async edit(path: string): Promise<number> {
    await this.nvim.lua("vim.cmd.edit({ args = { vim.fn.fnameescape(...) } })", path);
    return this.nvim.lua("return vim.api.nvim_get_current_buf()");
  }

  async propose(path: string, contents: string, more: object = {}): Promise<number> {
    const id = this.#nextId++;
    await this.call("diff_open", {
      id,
      client: 1,
      old_path: path,
      new_path: path,
      contents,
      ...more,
    });
    return id;
  }

  /** The diff that was proposed last. */
  get last(): number {
    return this.#nextId - 1;
  }

  /** Proposes a diff that must wait because of where the cursor is, and asks for it. */
  async proposeAndShow(path: string, contents: string, more: object = {}): Promise<number> {
    const id = await this.propose(path, contents, more);
    await this.nvim.command("Claude diff");
    await this.shown();
    return id;
  }

  /** Waits for the end of a diff. */
  outcome(id: number): Promise<Ended> {
    return eventually(`the end of diff ${id}`, () => {
      const end = this.ended.find((entry) => entry.id === id);
      if (!end) throw new Error("still open");
      return end;
    });
  }

  /** Replaces the clock that measures pauses by one that only tests move. */
  async holdClock(): Promise<void> {
    await this.nvim.lua('ADVANCE, WAITING = require("port").hold_clock()');
  }

  async advance(ms: number): Promise<void> {
    await this.nvim.lua("ADVANCE(...)", ms);
  }

  /** Waits for a diff while the clock runs, since it may also wait for an event. */
  async shownLater(): Promise<void> {
    await eventually("a diff on screen", async () => {
      await this.advance(1_000);
      return this.nvim.lua<boolean>('return require("port").diff_shown()');
    });
  }

  /** Types the key that accepts. */
  async accepts(id: number): Promise<void> {
    await this.nvim.type("<CR>");
    expect(await this.outcome(id)).toEqual({ id, outcome: "accepted" });
    await this.cleared();
  }

  /** Types the key that rejects; a diff with edits needs ZQ. */
  async rejects(id: number, key = "q"): Promise<void> {
    await this.nvim.type(key);
    expect((await this.outcome(id)).outcome).toBe("rejected");
    await this.cleared();
  }

  /** Waits until a message contains these words. */
  says(words: string): Promise<void> {
    return this.nvim.plays(`<Ignore>  says ${words}`);
  }

  lines(buf = 0): Promise<string[]> {
    return this.nvim.lua("return vim.api.nvim_buf_get_lines(..., 0, -1, false)", buf);
  }

  picture(): Promise<Picture> {
    return this.nvim.lua<Picture>(PICTURE);
  }

  /** Waits until no scratch buffers of diffs are left. */
  async cleared(): Promise<void> {
    await eventually("the diff's buffers to go", async () => {
      const left = (await this.nvim.buffers()).filter((name) => name.startsWith("claude-code://"));
      if (left.length > 0) throw new Error(left.join(", "));
    });
  }

  async shown(): Promise<void> {
    await this.nvim.until("a diff on screen", 'return require("port").diff_shown()');
  }

  async #seen(word: string): Promise<string> {
    const seen = await this.nvim.lua<Record<string, string>>("return require('port').seen(...)", [
      word,
    ]);
    return seen[word] as string;
  }

  /** Waits until the current window's bar shows this: it is drawn a moment after the windows. */
  barShows(wanted: string): Promise<void> {
    return this.nvim.plays(`<Ignore>  bar ${wanted}`);
  }

  /**
   * Plays a script with words for diffs: `diffs shown 1`, `diffs wait 2`, `diffs gone`; `ended` with the outcomes so
   * far, and `text` of the last one; `old` and `new` for the sides on screen.
   */
  plays(script: string): Promise<void> {
    const port = (code: string) => () =>
      this.nvim.lua<string>(`local port = require("port") ${code}`);
    return this.nvim.plays(script, {
      words: {
        diffs: port("return port.diff_state()"),
        ended: () => this.ended.map(({ outcome }) => outcome).join(" "),
        text: () => this.ended.at(-1)?.text ?? "as proposed",
        old: port('return port.diff_text("old")'),
        new: port('return port.diff_text("new")'),
      },
    });
  }

  /** Waits until keys decide the diff on screen, whatever the pause. */
  async decidable(): Promise<void> {
    await this.nvim.until("a diff that takes decisions", 'return require("port").diff_decidable()');
  }

  /** Sets the length of a pause in typing. */
  pauses(ms: number): Promise<void> {
    return this.nvim.lua('require("port").clock.QUIET_MS = ...', ms);
  }

  /** Sets options as `setup` does. */
  configure(options: string): Promise<void> {
    return this.nvim.lua(`require("port").config.setup(${options})`);
  }

  /** Sets `diff.layout`; "horizontal" is "vertical" with that in 'diffopt'. */
  async diffLayout(name: string): Promise<void> {
    const below = name === "horizontal";
    await this.nvim.command(`set diffopt${below ? "+" : "-"}=horizontal`);
    await this.configure(`{ diff = { layout = "${below ? "vertical" : name}" } }`);
  }

  /** Rejects a diff with a command, whether it is on screen or not. */
  async reject(id: number): Promise<void> {
    await this.nvim.lua('require("port").reject(...)', id);
    expect((await this.outcome(id)).outcome).toBe("rejected");
    await this.cleared();
  }

  /** The rows of the screen as they are drawn now. */
  async screen(): Promise<string[]> {
    return (await this.#seen("screen")).split("\n");
  }

  /** Our marks with this name in the current buffer, from the top down. */
  async marks(name: string): Promise<Mark[]> {
    const found = await this.nvim.lua<[number, number, number, Omit<Mark, "row" | "column">][]>(
      `local namespace = vim.api.nvim_get_namespaces()["claude-code." .. ...]
      return vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })`,
      name,
    );
    return found.map(([_, row, column, details]) => ({ ...details, row, column }));
  }

  inMode(mode: string): Promise<void> {
    return this.nvim.inMode(mode);
  }

  mode(): Promise<string> {
    return this.nvim.lua("return vim.api.nvim_get_mode().mode");
  }

  messages(): Promise<string> {
    return this.nvim.command("messages");
  }

  #files(): string[] {
    return [this.nvim.cwd, this.nvim.home].flatMap((folder) =>
      readdirSync(folder).map((name) => join(folder, name)),
    );
  }

  /** Returns false if its state cannot be reset. */
  async #reset(): Promise<boolean> {
    const { exitCode, signalCode } = this.nvim.process;
    if (exitCode !== null || signalCode !== null) return false;
    const { blocking } = await this.nvim.mode();
    if (blocking || (await this.nvim.lua("return vim.fn.getcmdwintype()")) !== "") return false;
    await this.nvim.type("<C-\\><C-n>");
    await this.nvim.lua('require("port").detach()');
    await this.cleared();
    await this.nvim.lua("AS_NEW()");
    await this.configure("{}");
    if (!this.waitsForPauses) await this.pauses(0);
    for (const path of this.#files())
      if (!this.#kept.has(path)) rmSync(path, { recursive: true, force: true });
    this.ended.length = 0;
    this.pushed.length = 0;
    return (await this.mode()) === "n";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const isIdle = this.#key !== undefined && (await this.#reset().catch(() => false));
    if (isIdle) idle.push(this);
    const over = isIdle ? idle.splice(0, idle.length - MAX_IDLE) : [this];
    await Promise.all(over.map(({ nvim }) => nvim[Symbol.asyncDispose]()));
  }
}
