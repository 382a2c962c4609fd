import { expect } from "bun:test";
import fc from "fast-check";
import type { ShownDecision, ShownFile } from "../../../src/review/shown";
import { World } from "./world";

const change = { at: fc.nat(9), deletes: fc.nat(2), inserts: fc.nat(2) };
const Step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom("Claude" as const, "user" as const), ...change }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("keep" as const, "undo" as const),
      hunk: fc.nat(4),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("back" as const), nth: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom(...(["u", "done", "restart"] as const)) }),
  },
);
type Step = typeof Step extends fc.Arbitrary<infer T> ? T : never;

/** A line, all of which are unlike each other: whose it is, and what was decided about it. */
interface Line {
  isClaudes: boolean;
  there: boolean;
  /** The decision that kept its insertion. */
  kept?: string | undefined;
  /** The decision that undid its insertion, or its deletion. */
  undone?: string | undefined;
  /** Claude deleted it, and the decision that kept that. */
  deleted?: { kept?: string; undone?: string; settled?: boolean } | undefined;
}

/** Decisions about one file, and a model of whose each line is, which knows nothing of rows and steps. */
class Decisions {
  readonly #lines = new Map<string, Line>();
  /** Those that can be taken back. */
  #made: string[] = [];
  /** The text before the last undo, and after it: what `u` brings back. */
  #undoable: { before: string; after: string } | undefined;
  #count = 0;

  constructor(readonly world: World) {
    world.write("a", "s1\ns2\ns3\ns4\ns5\ns6\n");
    this.#took("user");
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
        return await this.#decide(step.do, step.hunk);
      case "back":
        return await this.#back(this.#made.at(-1 - step.nth));
      case "done":
        await this.world.service.answer("done", {});
        return await this.#learnKept();
      case "restart":
        this.world.service = this.world.another();
        return;
      case "u":
        if (this.world.read("a") !== this.#undoable?.after) return;
        this.world.write("a", this.#undoable?.before);
        this.#undoable = undefined;
        return this.#took("u");
    }
  }

  #edit({ do: by, at, deletes, inserts }: Extract<Step, { at: number }>): void {
    const rows = this.#rows;
    const place = Math.min(at, rows.length);
    const added = Array.from({ length: inserts }, (_, i) => `${by}${this.#count++}.${i}`);
    const gone = rows.splice(place, deletes, ...added);
    // Nobody has seen whether the user had brought it back before.
    if (by === "user" && gone.some((name) => this.#lines.get(name)?.undone)) return;
    // The file itself stays: no decision is about it.
    if (rows.length === 0) return;
    const text = rows.map((row) => `${row}\n`).join("");
    if (text === this.world.read("a")) return;
    if (by === "Claude") this.world.claude({ a: text });
    else this.world.write("a", text);
    this.#took(by);
  }

  /** Somebody made the present text of the one before. */
  #took(by: "user" | "Claude" | "u"): void {
    const now = new Set(this.#rows);
    // Before: what was brought back is for good once Claude has changed the file again.
    if (by === "Claude") this.#settle();
    for (const [name, line] of this.#lines) {
      if (line.there && !now.has(name)) {
        Object.assign(line, { there: false, undone: undefined });
        const repeats =
          by !== "Claude" && line.deleted && !line.deleted.kept && !line.deleted.settled;
        if (by === "Claude") line.deleted = {};
        else if (!repeats) line.deleted = undefined;
      } else if (!line.there && now.has(name)) line.there = true;
    }
    for (const name of now) {
      if (this.#lines.has(name)) continue;
      this.#lines.set(name, { isClaudes: by === "Claude", there: true });
    }
  }

  #settle(): void {
    this.#undoable = undefined;
    for (const { there, deleted } of this.#lines.values())
      if (there && deleted) deleted.settled = true;
  }

  async #decide(what: "keep" | "undo", hunk: number): Promise<void> {
    const file = (await this.world.file("a")) as ShownFile | undefined;
    const chosen = file?.hunks[hunk % file.hunks.length];
    if (!chosen || file?.kind !== "changed") return;
    const before = this.world.read("a") as string;
    const path = this.world.path("a");
    const files = [{ path, hunks: [chosen.id] }];
    const request = { while_working: "now", keep_both: true };
    const made = await this.world[what](files, request);
    const shown = chosen as unknown as { old_lines: Uint8Array[]; new_lines: Uint8Array[] };
    const names = (rows: Uint8Array[]) => rows.map((row) => Buffer.from(row).toString("latin1"));
    this.#mark(made, what, names(shown.new_lines), names(shown.old_lines));
    if (what === "undo") this.#undoable = { before, after: this.world.read("a") as string };
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
    for (const line of this.#lines.values()) {
      // Also of what is gone: that it was inserted waits no more.
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

  /** Undoing all gives the lines that are not Claude's, or are kept, unless the user deleted them. */
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

/** Whatever is decided, taken back and edited: the text is as the model says, also without Claude. */
export function decided(maxLength: number) {
  return fc.asyncProperty(fc.array(Step, { maxLength, size: "max" }), async (steps) => {
    using world = new World();
    const decisions = new Decisions(world);
    for (const step of steps) {
      await decisions.take(step);
      decisions.check();
    }
    await decisions.isUndone();
  });
}
