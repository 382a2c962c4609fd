import { expect } from "bun:test";
import fc from "fast-check";
import type { Listed } from "../../../src/review/service";
import { type Actors, rowsOf } from "./actors";
import { acts } from "./acts";
import { Player } from "./player";

/** The last one does not exist at first: files are moved there, and away again. */
export const FILES = ["a", "dir/b", "c"];
export const STARTS = ["", "s1\ns2\ns3\n", "\xef\xbb\xbfs1\r\ns2\r\n", "s1\n\xff\ns3\n", undefined];
const USER = "user";

const change = {
  file: fc.nat(FILES.length - 1),
  at: fc.nat(6),
  deletes: fc.nat(2),
  inserts: fc.nat(2),
};
const session = fc.constantFrom("A", "B");
const file = change.file;
const Changes = [
  acts(4, ["neovim", "program", "formatted"], change),
  acts(4, ["Edit", "Write", "NotebookEdit"], {
    session,
    agent: fc.option(fc.constant("agent"), { nil: undefined }),
    formatter: fc.boolean(),
    ...change,
  }),
  acts(6, ["diff", "cut", "silent", "failed", "mcp", "background", "interrupted"], {
    session,
    removes: fc.boolean(),
    seen: fc.constantFrom("never", "before", "between"),
    ...change,
  }),
  acts(2, ["mv"], {
    session,
    file,
    to: file,
    how: fc.constantFrom("diff", "cut", "silent", "failed"),
    edits: fc.boolean(),
  }),
  acts(3, ["turn", "stop", "goes on"], { session }),
  acts(2, ["restart", "rewind", "checkout", "stash", "reset", "discard"], { file }),
];
const Decisions = [
  acts(2, ["commit", "stage", "Claude commits", "switch", "amend", "uncommit"], { session, file }),
  acts(3, ["keep", "undo"], {
    file,
    hunk: fc.nat(3),
    of: fc.constantFrom(undefined, "A", "B"),
    reversed: fc.boolean(),
  }),
];
export const Change = fc.oneof(...Changes);
export const Act = fc.oneof(...Changes, ...Decisions);
const additions = { ...change, deletes: fc.constant(0) };
/** The user adds lines, and only session A changes others. */
export const Addition = fc.oneof(
  acts(2, ["neovim", "program"], additions),
  fc.oneof(...Changes.slice(1, 5)).map((act) => ({ ...act, session: "A" }) as typeof act),
);
export type Act = typeof Act extends fc.Arbitrary<infer T> ? T : never;
type Edit = { file: number; at: number; deletes: number; inserts: number };

interface Row {
  line: string;
  by: string;
  present: boolean;
  deletedBy?: string;
  /** The number of the first text without the line. */
  deletedAt?: number;
  /** The number of the text with which the user also deleted the file. */
  goneAt?: number;
}

/** Represents the file itself, before its lines. */
const FILE = "\0";

/** Knows the author of each line, but no decisions. */
class Model {
  readonly #rows = new Map<string, Row[]>();
  #texts = 0;

  /** `by` left `text` in a file. */
  take(name: string, text: string | undefined, by: string): void {
    const rows = this.#rows.get(name) ?? [];
    const lines = new Set(text === undefined ? [] : [FILE, ...linesOf(text)]);
    this.#texts++;
    for (const row of rows) {
      if (row.present && !lines.delete(row.line)) {
        row.present = false;
        // The user repeats Claude's deletion of restored lines.
        if (by === USER && isClaudes(row)) continue;
        Object.assign(row, { deletedBy: by, deletedAt: this.#texts, goneAt: undefined });
      }
    }
    for (const line of lines) {
      const back = rows.find(
        (row) =>
          row.line === line &&
          !row.present &&
          (by === USER || (row.deletedBy === by && !row.goneAt)),
      );
      if (back) back.present = true;
      else rows.push({ line, by, present: true });
      const gone = rows.filter(({ goneAt }) => goneAt && by === USER && goneAt === back?.deletedAt);
      for (const row of gone) delete row.goneAt;
    }
    const isUsers = (row: Row) => row.line === FILE && row.deletedAt === this.#texts;
    if (by === USER && text === undefined && rows.some(isUsers)) {
      for (const row of rows) if (isClaudes(row)) row.goneAt = this.#texts;
    }
    this.#rows.set(name, rows);
  }

  /** Was one of these lines ever in the file? */
  hadOneOf(name: string, lines: readonly string[]): boolean {
    return (this.#rows.get(name) ?? []).some(({ line }) => lines.includes(line));
  }

  /** The lines without what sessions changed; all of them if none is named. */
  base(name: string, of?: string): string[] {
    const isTheirs = (by: string | undefined) => (of ? by === of : isClaude(by));
    const rows = this.#rows.get(name) ?? [];
    const isThere = ({ present, deletedBy, goneAt }: Row) =>
      present || (isTheirs(deletedBy) && !goneAt);
    const there = rows.filter((row) => row.line !== FILE && !isTheirs(row.by) && isThere(row));
    return [...new Set(there.map((row) => row.line))].sort();
  }
}

const isClaude = (by: string | undefined) => by !== undefined && by !== USER;

/** Claude deleted it, and the user has not deleted the file since. */
const isClaudes = ({ deletedBy, goneAt }: Row) => isClaude(deletedBy) && !goneAt;
export const linesOf = (text: string | undefined) =>
  rowsOf(text).map((row) => row.replace(/\r?\n$/, ""));

export class Play extends Player<Actors> {
  readonly model = new Model();
  /** The files before each turn of session A. */
  readonly begun: (string | undefined)[][] = [];
  #count = 0;
  readonly #background = new Set<string>();
  /** Lines that Claude moved from one file to another, where they count as inserted by Claude. */
  readonly #moved = new Set<string>();
  /**
   * The number of comparisons before a command last ran. Only its folder shows when a file vanished: until
   * the next comparison that command may have removed it.
   */
  #ran = -1;
  /** Files that a program wrote, and the number of comparisons before that. */
  readonly #programs = new Map<string, number>();
  #before = new Map<string, string | undefined>();

  constructor(world: Actors) {
    super(world, FILES);
    world.onTurn = (session) => {
      if (session === "A") this.begun.push(FILES.map((name) => world.read(name)));
    };
    this.#seen(USER);
  }

  async act(act: Act): Promise<void> {
    this.#count++;
    switch (act.do) {
      case "neovim":
        return await this.#saved(act, (text) => text);
      case "formatted":
        return await this.#saved(act, (text) => text.replaceAll(/^([A-Z])/gm, " $1"));
      case "program":
        return await this.#program(() => this.#write(act, "u"));
      case "rewind":
        if (this.#ran === this.world.comparisons) return;
        return await this.#program(() => {
          const name = FILES[act.file] as string;
          if (this.#before.has(name)) this.world.write(name, this.#before.get(name));
        });
      case "checkout":
        return await this.#program(() =>
          this.world.git("checkout", "--", FILES[act.file] as string),
        );
      case "stash":
        if (this.#ran === this.world.comparisons) return;
        return await this.#program(() => this.#stash());
      case "reset":
        return await this.#program(() => this.world.git("reset", "-q", "--hard"));
      case "discard":
        if (this.#ran === this.world.comparisons) return;
        return await this.#program(() => this.world.git("clean", "-qfd"));
      case "Edit":
      case "Write":
      case "NotebookEdit":
        return this.#edited(act);
      case "turn":
      case "stop":
      case "goes on":
        return this.#turn(act);
      case "restart":
        this.world.service = this.world.another();
        return;
      case "commit":
      case "stage":
      case "Claude commits":
      case "switch":
      case "amend":
      case "uncommit":
        return await this.#commits(act);
      case "keep":
      case "undo":
        return await this.#decide(act);
      case "mv":
        return await this.#move(act);
      default:
        return await this.#run(act);
    }
  }

  async #saved(act: Edit, format: (text: string) => string): Promise<void> {
    const name = FILES[act.file] as string;
    // A command that runs could have written what no comparison has seen, or have removed the file.
    const isUnknown = this.#unseen(name) || this.world.read(name) === undefined;
    if (this.world.open.size > 0 && isUnknown) return;
    const text = this.#changed(act, "u");
    await this.world.saved(name, text);
    if (format(text) !== text) await this.world.saved(name, format(text));
    this.#seen(USER);
  }

  /** A command that still runs would get what the program changes. */
  async #program(write: () => void): Promise<void> {
    if (this.world.open.size > 0) return;
    const before = FILES.map((name) => this.world.read(name));
    await this.world.program(write);
    for (const [i, name] of FILES.entries()) {
      if (this.world.read(name) !== before[i]) this.#programs.set(name, this.world.comparisons);
    }
    this.#seen(USER);
  }

  #unseen(name: string): boolean {
    return this.#programs.get(name) === this.world.comparisons;
  }

  #edited(act: Extract<Act, { agent: unknown }>): void {
    const name = FILES[act.file] as string;
    const before = this.world.read(name);
    const text = this.#changed(act, act.session);
    const after = act.formatter ? text.replaceAll(/^([A-Z])/gm, " $1") : text;
    // A command that runs, or has just ended, could have written what no comparison has seen.
    if ((after === before || this.world.open.size > 0) && this.#unseen(name)) return;
    this.#before.set(name, before);
    this.world.edit(act.session, name, after, {
      tool: act.do,
      ...(act.agent && { agent: act.agent }),
    });
    this.#seen(act.session);
  }

  async #run(act: Extract<Act, { removes: boolean }>): Promise<void> {
    const { session: whose, removes } = act;
    // Nothing shows which of two concurrent commands wrote.
    if (this.world.open.size > 0) return;
    const name = FILES[act.file] as string;
    // Only the CLI knows what a program wrote before a comparison.
    const isShown = act.do === "diff" && !this.world.read(name)?.includes("\xff");
    if (!isShown && act.seen !== "before" && this.#unseen(name)) return;
    // Only the folder's time, which the command may change, shows when a program removed a file.
    const isGone = FILES.some((one) => this.#unseen(one) && this.world.read(one) === undefined);
    if (isGone && act.seen !== "before") return;
    const begins = () => this.#write({ ...act, at: act.at + 1, deletes: 0 }, `${whose}first`);
    const ends = () => (removes ? this.world.write(name, undefined) : this.#write(act, whose));
    const steps = act.seen === "between" ? [begins, ends] : [ends];
    await this.world.run(whose, act.do, steps, FILES, act.seen);
    this.#ran = this.world.comparisons;
    if (act.do === "background") this.#background.add(whose);
    this.#seen(whose);
  }

  /** One of Claude's commands did it, and may also edit the file. */
  async #move({ session: whose, file, to, how, edits }: Extract<Act, { do: "mv" }>): Promise<void> {
    const [from, name] = [FILES[file] as string, FILES[to] as string];
    const text = this.world.read(from);
    if (this.world.open.size > 0 || text === undefined || from === name) return;
    if (FILES.some((one) => this.#unseen(one))) return;
    // The model treats a line that one session deletes and another writes as one line.
    if (this.model.hadOneOf(name, linesOf(text))) return;
    for (const line of linesOf(text)) this.#moved.add(line);
    await this.world.run(whose, how, [() => this.world.move(from, name)], FILES);
    this.#ran = this.world.comparisons;
    this.#seen(whose);
    if (!edits) return;
    const edited = this.#changed({ file: to, at: 1, deletes: 1, inserts: 1 }, whose);
    this.world.edit(whose, name, edited, { tool: "Edit" });
    this.#seen(whose);
  }

  #turn(act: Extract<Act, { do: "turn" | "stop" | "goes on" }>): void {
    const { session: whose } = act;
    if (act.do === "goes on") {
      if (!this.#background.has(whose)) return;
      this.world.stopped(whose, true);
      this.#write({ file: 0, at: 0, deletes: 0, inserts: 1 }, whose);
      this.#seen(whose);
      return;
    }
    this.#background.delete(whose);
    if (act.do === "stop") this.world.stopped(whose);
    else this.world.turn(whose);
  }

  /** Moves it away, or back if it was away. */
  #stash(): void {
    const isThere = this.world.git("rev-parse", "-q", "--verify", "refs/stash");
    if (isThere) this.world.git("stash", "pop", "-q");
    else this.world.git("stash", "push", "-qu");
  }

  /** Between two branches; git refuses it where it would overwrite something. */
  #switch(): void {
    const other = this.world.read(".git/HEAD")?.includes("other") ? "main" : "other";
    if (!this.world.git("switch", "-q", other)) this.world.git("switch", "-q", "-c", other);
  }

  async #commits(act: Extract<Act, { session: string; file: number; do: string }>): Promise<void> {
    if (this.world.open.size > 0) return;
    if (act.do === "Claude commits") {
      return await this.world.run(act.session, "diff", [() => this.world.commit()], FILES);
    }
    await this.world.service.summary();
    await this.world.program(() => {
      if (act.do === "commit") this.world.commit();
      else if (act.do === "amend") this.world.git("commit", "-qa", "--amend", "-m", "y");
      else if (act.do === "uncommit") this.world.git("reset", "-q", "--soft", "HEAD~1");
      else if (act.do === "switch") this.#switch();
      else this.world.git("add", FILES[act.file] as string);
    });
    const { disk } = await this.state();
    await this.world.service.summary();
    expect((await this.state()).disk).toEqual(disk);
  }

  async #decide(act: Extract<Act, { reversed: boolean }>): Promise<void> {
    const name = FILES[act.file] as string;
    const chosen = await this.hunk(name, act.hunk, act.of);
    const users = this.users();
    const check = () => expect(this.lost(users)).toEqual([]);
    await this.decide(act, name, chosen ? { hunks: [chosen.id] } : {}, { check });
  }

  #write(edit: Edit, by: string): void {
    const name = FILES[edit.file] as string;
    const text = this.#changed(edit, by);
    // Written with the text that a program gave it, a file would count as changed then.
    if (text !== this.world.read(name)) this.world.write(name, text);
  }

  #changed({ file, at, deletes, inserts }: Edit, by: string): string {
    const rows = rowsOf(this.world.read(FILES[file] as string));
    const place = Math.min(at, rows.length);
    const end = rows.some((row) => row.endsWith("\r\n")) ? "\r\n" : "\n";
    const inserted = Array.from({ length: inserts }, (_, i) => `${by}${this.#count}.${i}${end}`);
    const last = rows[place - 1];
    if (inserts > 0 && last && !last.endsWith("\n")) rows[place - 1] = `${last}\n`;
    rows.splice(place, deletes, ...inserted);
    return rows.join("");
  }

  #seen(by: string): void {
    for (const name of FILES) this.model.take(name, this.world.read(name), by);
  }

  users(): string[] {
    const lines = FILES.flatMap((name) => linesOf(this.world.read(name)));
    return lines.filter((line) => /^ ?u\d/.test(line) && !this.#moved.has(line));
  }

  lost(users: readonly string[]): string[] {
    const there = new Set(this.users());
    return users.filter((line) => !there.has(line));
  }

  /** The CLI's hooks show a different text if it is not UTF-8. */
  async isUnknown(name: string): Promise<boolean> {
    const { files } = (await this.world.service.answer("list", {})) as Listed;
    return files.some(({ path, cannot_undo }) => path === this.world.path(name) && cannot_undo);
  }

  base(name: string): string[] {
    return linesOf(this.baseText(name)).sort();
  }
}
