import { JournalReader } from "../../../src/review/journal/read";
import type { Content, RecordOf } from "../../../src/review/journal/record";
import { compareInTurns, requestComparison } from "../../../src/review/record/comparison-request";
import type { ToolCall } from "../../../src/review/record/recorded-project";
import { Recorder } from "../../../src/review/record/recorder";
import { commitAll } from "../repository";
import { base64, World } from "./world";

/** A program's write and a command by Claude that are this far apart, in ms, can be distinguished by their times. */
export const APART_MS = 70;

export type Texts = Record<string, string | undefined>;
export type Seen = "never" | "before" | "between";

/**
 * The actors that change a project's files: the user in Neovim and elsewhere, and Claude by each way that it has,
 * recorded by the hooks' own functions in a real repository.
 */
export class Actors extends World {
  #uses = 0;
  #prompts = 0;
  #lastCall = 0;
  #lastProgram = 0;
  #lastEdit = 0;
  readonly #turns = new Map<string, string>();
  readonly #saved = new Map<string, string>();
  comparisons = 0;
  /** Runs before the prompt is recorded. */
  onTurn = (_session: string): void => {};
  /** Sessions with a command that still runs. */
  readonly open = new Set<string>();
  /** Sessions whose turn has ended, but whose command in the background has not. */
  readonly #inBackground = new Set<string>();

  constructor(files: Texts = {}) {
    super();
    for (const [name, text] of Object.entries(files)) this.write(name, text);
    commitAll(this.root, files);
  }

  /** Whether it went well. */
  git(...args: string[]): boolean {
    const who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "maintenance.auto=false"];
    const env = { ...process.env, HOME: this.root, GIT_CONFIG_NOSYSTEM: "1" };
    return Bun.spawnSync(["git", "-C", this.root, ...who, ...args], { env }).success;
  }

  commit(): void {
    this.git("add", "-A");
    this.git("commit", "-q", "--allow-empty", "-m", "x");
  }

  compare(): void {
    this.comparisons++;
    requestComparison(this.folder);
    compareInTurns(this.root);
  }

  #works(session: string): void {
    if (!this.#turns.has(session)) this.turn(session);
  }

  /** A prompt by the user. The session's command has ended, unless it outlived a turn. */
  turn(session: string): void {
    this.onTurn(session);
    const prompt = `${session}-${++this.#prompts}`;
    this.#turns.set(session, prompt);
    new Recorder(this.root).prompt(session, prompt, "go on");
    this.compare();
    if (!this.#inBackground.has(session)) this.#closed(session);
  }

  stopped(session: string, background = false): void {
    new Recorder(this.root).stop(session, this.#turns.get(session), background);
    this.compare();
    if (background) return void this.#inBackground.add(session);
    this.#inBackground.delete(session);
    this.#closed(session);
    this.#turns.delete(session);
  }

  #closed(session: string): void {
    this.open.delete(session);
    this.#lastCall = Date.now();
  }

  /** Neovim writes a file, and reports what it writes over, unless it had written that itself. */
  async saved(name: string, text: string): Promise<void> {
    const before = this.read(name);
    this.write(name, text);
    const over = before !== undefined && before !== this.#saved.get(name) && base64(before);
    await this.service.answer("written", {
      path: this.path(name),
      ...(over !== false && { over }),
    });
    this.#saved.set(name, text);
  }

  /** Another of the user's programs changes files while none of Claude's commands runs. */
  async program(change: () => void): Promise<void> {
    await this.#since(this.#lastCall);
    change();
    this.#lastProgram = Date.now();
  }

  async #since(time: number, ms = APART_MS): Promise<void> {
    const left = time + ms - Date.now();
    if (left > 0) await Bun.sleep(left);
  }

  /** Edit, Write or NotebookEdit; `formatter`: a hook of Claude Code's writes the file once more. */
  edit(session: string, name: string, text: string, by: { agent?: string; tool: string }): void {
    this.#works(session);
    const before = this.read(name);
    const shown =
      before === undefined
        ? null
        : Buffer.from(before, "latin1").toString().replaceAll("\r\n", "\n");
    this.write(name, text);
    const isNotebook = by.tool === "NotebookEdit" && before !== undefined;
    const response = isNotebook
      ? { original_file: shown }
      : { originalFile: shown, ...(shown === null && { type: "create" }) };
    const call = this.#call(session, by.tool, by.agent);
    new Recorder(this.root).change({ ...call, path: this.path(name), response }, true);
    this.#lastEdit = Date.now();
  }

  /**
   * A command, and how the CLI reports its changes. `seen` says when the comparison that its start requests is made,
   * relative to these changes.
   */
  async run(
    session: string,
    how: "diff" | "cut" | "silent" | "failed" | "mcp" | "background" | "interrupted" | "uncompared",
    changes: readonly (() => void)[],
    names: readonly string[],
    seen: Seen = "never",
  ): Promise<void> {
    this.#works(session);
    await this.#since(this.#lastProgram);
    // No two hooks run in one millisecond: their order would be unknown.
    await this.#since(this.#lastEdit, 3);
    const call = this.#call(session, how === "mcp" ? "mcp__x__write" : "Bash");
    const begun = new Recorder(this.root).begin(call);
    if (begun === "compare" && seen === "before") this.compare();
    const before = names.map((name) => this.read(name));
    const began = Date.now();
    if (how === "background") this.#ended(call, { backgroundTaskId: "1" }, began);
    for (const [i, change] of changes.entries()) {
      if (i > 0 && begun === "compare" && seen === "between") this.compare();
      change();
    }
    if (how === "interrupted" || how === "background") return void this.open.add(session);
    if (how === "failed" || how === "uncompared") {
      new Recorder(this.root).failed({ ...call, durationMs: Date.now() - began });
      if (how === "failed") this.compare();
    } else if (how === "diff" || how === "cut") {
      const changed = names.filter((name, i) => this.read(name) !== before[i]);
      const files = changed.map((name) => this.#diff(name, before[names.indexOf(name)]));
      const bashEditDiff = {
        files: how === "cut" ? [] : files,
        changedFiles: changed.map((name) => this.path(name)),
        moreFiles: how === "cut" ? files.length : 0,
      };
      this.#ended(call, changed.length > 0 ? { bashEditDiff } : {}, began);
    } else {
      this.#ended(call, {}, began, false);
    }
    this.#lastCall = Date.now();
  }

  #ended(call: ToolCall, response: object, began: number, asksForDiff = true): void {
    const ended = { ...call, response, durationMs: Date.now() - began };
    if (new Recorder(this.root).change(ended, asksForDiff) === "compare") this.compare();
  }

  #call(session: string, tool: string, agent?: string): ToolCall {
    const use = `use-${++this.#uses}`;
    return { session, prompt: this.#turns.get(session), tool, use, agent, command: tool };
  }

  journal(): string {
    const shown = (content: Content | undefined) => {
      if (!content || !("blob" in content)) return JSON.stringify(content);
      return JSON.stringify(Buffer.from(this.blobs.get(content.blob) ?? "").toString("latin1"));
    };
    return new JournalReader(this.folder)
      .read()
      .records.map((record) => {
        const change = record as Partial<RecordOf<"change">>;
        const { at, type, session, tool, source, files = [] } = change;
        const all = files.map(
          ({ path, before, after }) => `${path}: ${shown(before)} > ${shown(after)}`,
        );
        return [`${at}`.slice(-6), type, session, tool, source, ...all].join(" ");
      })
      .join("\n");
  }

  /** In the CLI's format (2.1.330). */
  #diff(name: string, before: string | undefined): object {
    const now = this.read(name);
    const [old, lines] = [rowsOf(before), rowsOf(now)];
    const shown = (mark: string, rows: string[]) => rows.flatMap((row) => shownRow(mark, row));
    const differs = old.findIndex((row, i) => row !== lines[i]);
    const at = differs < 0 ? Math.min(old.length, lines.length) : differs;
    const hunk = {
      oldStart: old.length > 0 ? 1 : 0,
      oldLines: old.length,
      newStart: lines.length > 0 ? 1 : 0,
      newLines: lines.length,
      lines: [
        ...shown(" ", old.slice(0, at)),
        ...shown("-", old.slice(at)),
        ...shown("+", lines.slice(at)),
      ],
    };
    const filePath = this.path(name);
    const created = before === undefined && { created: true };
    const deleted = now === undefined && { deleted: true };
    return { filePath, hunks: [hunk], ...created, ...deleted };
  }
}

function shownRow(mark: string, row: string): string[] {
  const text = Buffer.from(row, "latin1").toString();
  const isEnded = text.endsWith("\n");
  const line = mark + (isEnded ? text.slice(0, -1) : text);
  return isEnded ? [line] : [line, "\\ No newline at end of file"];
}

export function rowsOf(text: string | undefined): string[] {
  return text?.match(/[^\n]*\n|[^\n]+/g) ?? [];
}
