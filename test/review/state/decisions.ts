import { expect } from "bun:test";
import fc from "fast-check";
import type { ShownDecision, ShownFile } from "../../../src/review/shown";
import { git } from "../repository";
import { acts } from "./acts";
import { World } from "./world";

const change = { at: fc.nat(9), deletes: fc.nat(2), inserts: fc.nat(2) };
const Step = fc.oneof(
  acts(3, ["Claude", "user"], change),
  acts(3, ["keep", "undo", "undo in a buffer"], { hunk: fc.nat(4) }),
  acts(2, ["back"], { nth: fc.nat(2) }),
  acts(2, ["u", "u", "done", "restart", "commit"], {}),
);
export type Step = typeof Step extends fc.Arbitrary<infer T> ? T : never;

/** A unique line: its author, and what was decided about it. */
interface Line {
  isClaudes: boolean;
  there: boolean;
  /** The decision that kept its insertion. */
  kept?: string | undefined;
  /** The decision that undid its insertion, or its deletion. */
  undone?: string | undefined;
  /** Defined if Claude deleted it: the decision that kept the deletion, or undid it. */
  deleted?: { kept?: string; undone?: string } | undefined;
}

/** Decisions about one file, and a model of each line's author, which does not know rows or steps. */
class Decisions {
  readonly #lines = new Map<string, Line>();
  /** The decisions that can be taken back. */
  #made: string[] = [];
  /** The texts before the undos in a buffer, and after them: what `u` brings back. */
  #undoable: { before: string; after: string; decision: string }[] = [];
  #count = 0;
  #committed: string | undefined;

  constructor(readonly world: World) {
    world.write("a", "s1\ns2\ns3\ns4\ns5\ns6\n");
    this.#took("user");
  }

  /** In a repository the first text is committed, as the prompt's hook sees. */
  async inRepository(): Promise<void> {
    const { root } = this.world;
    await git(root, "init", "-q");
    await this.#commit();
    const head = (await git(root, "rev-parse", "HEAD")).trim();
    this.world.record({ type: "prompt", session: "A", prompt: "p", text: "go", head });
    this.world.stop();
  }

  async #commit(): Promise<void> {
    await git(this.world.root, "add", "a");
    await git(this.world.root, "commit", "-q", "-m", "by the user");
    this.#committed = this.world.read("a");
  }

  get #rows(): string[] {
    return (this.world.read("a") ?? "").split("\n").slice(0, -1);
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "Claude":
      case "user":
        return this.#edit(step);
      case "keep":
      case "undo":
      case "undo in a buffer":
        return await this.#decide(step.do, step.hunk);
      case "back":
        return await this.#back(this.#made.at(-1 - step.nth));
      case "done":
        await this.world.service.answer("done", {});
        return await this.#learnKept();
      case "commit":
        return await this.#commitAll();
      case "restart":
        this.world.service = this.world.another();
        return;
      case "u":
        return await this.#takeUndoBack();
    }
  }

  async #takeUndoBack(): Promise<void> {
    const { before, after, decision } = this.#undoable.pop() ?? {};
    if (decision === undefined || this.world.read("a") !== after) return;
    if (!this.#made.includes(decision)) return;
    await this.world.back({ decision, path: this.world.path("a") });
    this.#isBack(decision);
    this.world.write("a", before);
    this.#took("user");
  }

  async #commitAll(): Promise<void> {
    await this.world.service.summary();
    if (this.world.read("a") === this.#committed) return;
    const waits = (await this.world.file("a")) !== undefined;
    // Times are in whole milliseconds: a call's changes end within this time.
    await Bun.sleep(5);
    await this.#commit();
    await this.world.service.summary();
    if (waits) this.#kept(`commit ${this.#count++}`);
  }

  #edit({ do: by, at, deletes, inserts }: Extract<Step, { at: number }>): void {
    const rows = this.#rows;
    const place = Math.min(at, rows.length);
    const added = Array.from({ length: inserts }, (_, i) => `${by}${this.#count++}.${i}`);
    rows.splice(place, deletes, ...added);
    // The file itself stays: no decision is about it.
    if (rows.length === 0) return;
    const text = rows.map((row) => `${row}\n`).join("");
    if (text === this.world.read("a")) return;
    if (by === "Claude") this.world.claude({ a: text });
    else this.world.write("a", text);
    this.#took(by);
  }

  /** Somebody changed the previous text into the current one. */
  #took(by: "user" | "Claude"): void {
    const now = new Set(this.#rows);
    for (const [name, line] of this.#lines) {
      if (line.there && !now.has(name)) {
        line.there = false;
        line.deleted = by === "Claude" ? {} : undefined;
      } else if (!line.there && now.has(name)) line.there = true;
    }
    for (const name of now) {
      if (this.#lines.has(name)) continue;
      this.#lines.set(name, { isClaudes: by === "Claude", there: true });
    }
  }

  async #decide(how: "keep" | "undo" | "undo in a buffer", hunk: number): Promise<void> {
    const file = (await this.world.file("a")) as ShownFile | undefined;
    const chosen = file?.hunks[hunk % file.hunks.length];
    if (!chosen || file?.kind !== "changed") return;
    const before = this.world.read("a") as string;
    const path = this.world.path("a");
    const what = how === "keep" ? "keep" : "undo";
    const text = how === "undo in a buffer" && Buffer.from(before).toString("base64");
    const files = [{ path, hunks: [chosen.id], ...(text && { text }) }];
    const request = { keep_both: true };
    const made = await this.world[what](files, request);
    if (text) await this.#write(before, made);
    const shown = chosen as unknown as { old_lines: Uint8Array[] };
    const names = (rows: Uint8Array[]) => rows.map((row) => Buffer.from(row).toString("latin1"));
    const [first, count] = chosen.new;
    const rows = before.split("\n").slice(first - 1, first - 1 + count);
    this.#mark(made, what, rows, names(shown.old_lines));
    const after = this.world.read("a") as string;
    if (text && made.decision) this.#undoable.push({ before, after, decision: made.decision });
  }

  /** Neovim takes the edits of an undo into a buffer, and writes. An undo that rows cannot show is on disk already. */
  async #write(before: string, { files }: ShownDecision): Promise<void> {
    const rows = before.split("\n");
    const { edits } = files[0] ?? {};
    if (!edits) return;
    for (const { first, count, lines } of edits) {
      rows.splice(first - 1, count, ...lines.map((line) => Buffer.from(line).toString()));
    }
    this.world.write("a", rows.join("\n"));
    await this.world.service.answer("written", { path: this.world.path("a") });
  }

  #mark({ decision }: ShownDecision, what: "keep" | "undo", now: string[], old: string[]): void {
    if (decision === undefined) return;
    this.#made.push(decision);
    for (const name of now.filter((one) => !old.includes(one))) {
      const line = this.#lines.get(name);
      if (!line?.isClaudes || line.kept) continue;
      if (what === "keep") Object.assign(line, { kept: decision, undone: undefined });
      else Object.assign(line, { there: false, undone: decision, deleted: undefined });
    }
    for (const name of old.filter((one) => !now.includes(one))) {
      const line = this.#lines.get(name);
      if (!line) continue;
      if (what === "keep") line.deleted = { kept: decision };
      else Object.assign(line, { there: true, deleted: { undone: decision } });
    }
  }

  async #learnKept(): Promise<void> {
    const last = (await this.world.service.answer("last", {})) as { decision: string } | undefined;
    const decision = last?.decision;
    if (decision === undefined || this.#made.includes(decision)) return;
    this.#made.push(decision);
    this.#kept(decision);
  }

  #kept(decision: string): void {
    for (const line of this.#lines.values()) {
      // This includes lines that are gone: their insertion no longer waits.
      if (line.isClaudes && !line.kept && (line.there || line.undone === undefined)) {
        Object.assign(line, { kept: decision, undone: undefined });
      }
      const isPending = !line.there && line.deleted && !line.deleted.kept;
      if (isPending && (!line.isClaudes || line.kept)) line.deleted = { kept: decision };
    }
  }

  async #back(decision: string | undefined): Promise<void> {
    if (decision === undefined) return;
    await this.world.back({ decision });
    this.#isBack(decision);
  }

  #isBack(decision: string): void {
    this.#made = this.#made.filter((one) => one !== decision);
    for (const line of this.#lines.values()) {
      if (line.kept === decision) line.kept = undefined;
      if (line.deleted?.kept === decision) line.deleted = {};
      if (line.undone === decision) Object.assign(line, { there: true, undone: undefined });
      if (line.deleted?.undone === decision) Object.assign(line, { there: false, deleted: {} });
    }
  }

  check(): void {
    const there = [...this.#lines].filter(([, line]) => line.there).map(([name]) => name);
    expect(this.#rows.toSorted()).toEqual(there.toSorted());
  }

  /** Undoing everything leaves the user's lines and the kept ones, unless the user deleted them. */
  async isUndone(): Promise<void> {
    const users = [...this.#lines].filter(([, line]) => {
      if (line.isClaudes && !line.kept) return false;
      return line.there || (line.deleted && !line.deleted.kept);
    });
    await this.world.undo([{ path: this.world.path("a") }], { keep_both: true });
    expect(this.#rows.toSorted()).toEqual(users.map(([name]) => name).toSorted());
    expect((await this.world.list()).files).toEqual([]);
  }
}

/** The text is as the model says after any decisions and edits, also without Claude. */
export function decided(maxLength: number) {
  return fc.asyncProperty(fc.array(Step, { maxLength, size: "max" }), async (steps) => {
    using world = new World();
    const decisions = new Decisions(world);
    if (steps.some((step) => step.do === "commit")) await decisions.inRepository();
    for (const step of steps) {
      await decisions.take(step);
      decisions.check();
    }
    await decisions.isUndone();
  });
}
