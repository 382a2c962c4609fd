import fc from "fast-check";
import { nightly, rows } from "#test";
import { kept, settled, takenBack, undone } from "../../../src/review/weave/decision";
import { hunksOf } from "../../../src/review/weave/hunks";
import { FILE, type Lines, linesOf } from "../../../src/review/weave/lines";
import { ALL, type Change, type Scope } from "../../../src/review/weave/row";
import { Weave } from "../../../src/review/weave/weave";
import { tries } from "../../fuzz/effort";

/** `a b` is a file of two lines. */
function lines(words: string): Lines {
  const text = words === "" ? "" : `${words.replaceAll(" ", "\n")}\n`;
  return linesOf(Buffer.from(text));
}

function text(found: Lines): string {
  return found.join("").trimEnd().replaceAll("\n", " ");
}

function change(name: string, at: number, turn = 1): Change {
  return { id: `${name}${at}`, session: name, turn, tool: "Edit", at };
}

const ACTS_PER_TURN = 3;
const turnAt = (count: number) => Math.ceil(count / ACTS_PER_TURN);

function session(name: string): Scope {
  return { includes: (made) => made.session === name };
}

function sinceTurn(first: number): Scope {
  return { includes: ({ session, turn = 0 }) => session === "A" && turn >= first, withKept: true };
}

function turn(number: number): Scope {
  return { includes: ({ session, turn }) => session === "A" && turn === number };
}

/** `b > B` is a replaced row. */
function hunks(weave: Weave, scope: Scope = ALL): string[] {
  return hunksOf(weave, scope).map(
    ({ oldLines, newLines }) => `${text(oldLines)} > ${text(newLines)}`,
  );
}

const A = change("A", 1);
const B = change("B", 2);

describe("attribution", () => {
  // A sequence of texts, each by the user or by Claude's session A or B, and the hunks.
  test.each(
    rows(`
    parts two hunks by rows that the user wrote before | x u y; user x U y; A X U y; B X U Y | x > X; y > Y
    takes the inserted one of equal lines for the one that is gone | } }; A } } }; user } } |
    does not take the user's line for Claude's that is gone | } }; A } } }; user } }; user } } } |  > }`),
  )("%s", (_what, texts = "", found = "") => {
    const [first = "", ...steps] = texts.split("; ");
    const weave = steps.reduce(
      (last, step) => {
        const [who = "", ...words] = step.split(" ");
        const by = { A, B }[who] ?? "user";
        return last.to(lines(words.join(" ")), by);
      },
      Weave.of(lines(first)),
    );
    expect(hunks(weave).join("; ")).toBe(found);
  });

  test("treats as new what Claude writes again after the user removed it", () => {
    const weave = Weave.of(lines("a b"))
      .to(lines("a X b"), A)
      .to(lines("a b"), "user")
      .to(lines("a X b"), B);
    expect(hunksOf(weave, ALL)).toMatchObject([{ owners: [B], added: 1 }]);
    expect(hunks(weave, session("A"))).toEqual([]);
  });
});

describe("decisions", () => {
  test("restores the lines of a file that another session deleted and made again", () => {
    const weave = Weave.of(lines("a b")).to([], A).to(lines("X"), B).to(lines("a b"), "user");
    expect(hunksOf(weave, ALL)).toEqual([]);
    expect(undone(weave, "u", "all", session("A")).lines).toEqual(lines("a b"));
  });
});

nightly.test("bounds a large file that is rewritten again and again", () => {
  const rewritten = (round: number) =>
    linesOf(Buffer.from(Array.from({ length: 20_000 }, (_, i) => `${round} ${i}\n`).join("")));
  let weave = Weave.of(rewritten(0));
  for (let round = 1; round < 14; round++)
    weave = weave.to(rewritten(round), change("A", round, round));
  expect(weave.rows.length).toBeLessThan(200_000);
  expect([1, 2, 13].map((turn) => weave.lacksBase(sinceTurn(turn)))).toEqual([false, true, false]);
  expect(undone(weave, "1", "all", ALL).lines).toEqual(rewritten(0));
});

test("ends a line when the user's rows follow", () => {
  const weave = Weave.of(linesOf(Buffer.from("a")))
    .to(linesOf(Buffer.from("a\nb\n")), A)
    .to(linesOf(Buffer.from("a\nb\nu\n")), "user");
  expect(undone(weave, "1", "all", ALL).lines.join("")).toBe("a\nu\n");
});

/** Any author inserts or deletes a few rows, or decides. */
const Act = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      by: fc.constantFrom<"user" | "A" | "B">("user", "A", "B"),
      at: fc.nat(30),
      deletes: fc.nat(3),
      inserts: fc.array(fc.constantFrom("x", "y", "{", "}"), { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ keep: fc.constantFrom<"A" | "B">("A", "B") }) },
  { weight: 1, arbitrary: fc.record({ undo: fc.constantFrom<"A" | "B">("A", "B") }) },
);
type Act = typeof Act extends fc.Arbitrary<infer T> ? T : never;

interface Played {
  weave: Weave;
  /** The authors of each unique line: who inserted it, and who deleted it last. */
  model: Map<string, { by: string; deletedBy?: string; restoredFrom?: string }>;
}

/** With unique lines, who did what is known without any comparison. */
function play(start: readonly string[], acts: readonly Act[], unique: boolean): Played {
  let weave = Weave.of(linesOf(Buffer.from(start.map((line) => `${line}\n`).join(""))));
  const model: Played["model"] = new Map(
    weave.lines.slice(1).map((line) => [line, { by: "original" }]),
  );
  let count = 0;
  for (const act of acts) {
    count++;
    if ("keep" in act) {
      weave = kept(weave, `${count}`, "all", session(act.keep));
      // Kept lines are the user's own.
      for (const entry of model.values()) {
        if (entry.by === act.keep) entry.by = "user";
        if (entry.deletedBy === act.keep) entry.deletedBy = "user";
      }
      continue;
    }
    if ("undo" in act) {
      weave = undone(weave, `${count}`, "all", session(act.undo));
      undoInModel(model, act.undo);
      continue;
    }
    const before = weave.lines.slice(1);
    const at = Math.min(act.at, before.length);
    const inserted = act.inserts.map((line, i) => `${line}${unique ? ` ${count}.${i}` : ""}\n`);
    const after = before.toSpliced(at, act.deletes, ...inserted);
    for (const line of before.slice(at, at + act.deletes)) {
      const entry = model.get(line);
      // A user who deletes again what an undo brought back repeats Claude's deletion.
      if (entry) entry.deletedBy = act.by === "user" ? (entry.restoredFrom ?? "user") : act.by;
    }
    for (const line of inserted) model.set(line, { by: act.by });
    const by = act.by === "user" ? "user" : change(act.by, count, turnAt(count));
    weave = weave.to([FILE, ...after], by);
    expect(weave.lines).toEqual([FILE, ...after]);
  }
  return { weave, model };
}

function undoInModel(model: Played["model"], name: string): void {
  for (const entry of model.values()) {
    if (entry.by === name) {
      entry.deletedBy = "user";
    } else if (entry.deletedBy === name) {
      delete entry.deletedBy;
      entry.restoredFrom = name;
    }
  }
}

const Start = fc.array(fc.constantFrom("x", "y", "{", "}", "z"), { maxLength: 12 });
const Acts = fc.array(Act, { maxLength: 25 });

describe("whatever the interleaving", () => {
  test("undoes a session, and leaves the text without its edits", () => {
    fc.assert(
      fc.property(Start, Acts, fc.constantFrom("A", "B"), (start, acts, name) => {
        const named = start.map((line, i) => `${line} ${i}`);
        const { weave, model } = play(named, acts, true);
        undoInModel(model, name);
        const expected = [...model].filter(([, entry]) => !entry.deletedBy).map(([line]) => line);
        const found = undone(weave, "end", "all", session(name)).lines.filter((l) => l !== FILE);
        expect(found.toSorted()).toEqual(expected.toSorted());
        expect(found).toEqual(weave.base(session(name)).slice(1) as string[]);
      }),
      { numRuns: tries(400) },
    );
  });

  test("restores the text before each turn, with the lines that the user has added since", () => {
    const Edit = fc.record({
      isClaudes: fc.boolean(),
      at: fc.nat(12),
      deletes: fc.nat(3),
      inserts: fc.array(fc.constantFrom("x", "y", "z"), { maxLength: 3 }),
    });
    const claudes = (all: Lines) => all.filter((line) => !line.startsWith("u "));
    fc.assert(
      fc.property(Start, fc.array(Edit, { maxLength: 30 }), (start, edits) => {
        let weave = Weave.of(lines(start.join(" ")));
        const begun: { text: Lines; users: number }[] = [];
        for (const [i, { isClaudes, at, deletes, inserts }] of edits.entries()) {
          const now = weave.lines.slice(1);
          if (i % ACTS_PER_TURN === 0) {
            begun.push({ text: weave.lines, users: now.length - claudes(now).length });
          }
          const added = inserts.map((line, j) => (isClaudes ? `${line}\n` : `u ${i}.${j}\n`));
          if (!isClaudes) for (const one of begun) one.users += added.length;
          const after = now.toSpliced(Math.min(at, now.length), isClaudes ? deletes : 0, ...added);
          weave = weave.to([FILE, ...after], isClaudes ? change("A", i, turnAt(i + 1)) : "user");
          if (at === 0) weave = kept(weave, `${i}`, "all", ALL);
        }
        for (const [i, { text, users }] of begun.entries()) {
          const restored = undone(weave, "r", "all", sinceTurn(i + 1));
          expect(claudes(restored.lines)).toEqual(claudes(text));
          expect(restored.lines.length - claudes(restored.lines).length).toBe(users);
          expect(state(takenBack(restored, "r"))).toEqual(state(weave));
        }
      }),
      { numRuns: tries(300) },
    );
  });

  test("keeps everything, and leaves the text", () => {
    fc.assert(
      fc.property(Start, Acts, (start, acts) => {
        const { weave } = play(start, acts, false);
        const all = kept(weave, "end", "all", ALL);
        expect(all.lines).toEqual(weave.lines);
        expect(all.base(ALL)).toEqual(weave.lines);
        expect(hunksOf(all, ALL)).toEqual([]);
      }),
      { numRuns: tries(300) },
    );
  });

  test("loses none of the user's rows, hunk by hunk", () => {
    fc.assert(
      fc.property(Start, Acts, (start, acts) => {
        let { weave } = play(start, acts, false);
        const users = rowsOfUser(weave);
        for (let rounds = 0; rounds < 100; rounds++) {
          const [hunk] = hunksOf(weave, ALL);
          if (!hunk) break;
          weave = undone(weave, `undo ${rounds}`, { old: [hunk.old], new: [hunk.new] }, ALL);
        }
        expect(hunksOf(weave, ALL)).toEqual([]);
        const left = new Set(rowsOfUser(weave));
        expect(users.filter((id) => !left.has(id))).toEqual([]);
      }),
      { numRuns: tries(300) },
    );
  });

  test("takes decisions back in reverse order", () => {
    const Decision = fc.record({
      pick: fc.nat(),
      keeps: fc.boolean(),
      scope: fc.constantFrom(...[ALL, session("A"), session("B"), turn(1), turn(2)], sinceTurn(2)),
    });
    const Decisions = fc.array(Decision, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(Start, Acts, Decisions, (start, acts, decisions) => {
        let { weave } = play(start, acts, false);
        const states: ReturnType<typeof state>[] = [];
        for (const [i, { pick, keeps, scope }] of decisions.entries()) {
          states.push(state(weave));
          const found = hunksOf(weave, scope);
          const hunk = found[pick % (found.length + 1)];
          const what = hunk ? { old: [hunk.old], new: [hunk.new] } : "all";
          weave = (keeps ? kept : undone)(weave, `d${i}`, what, scope);
          // It makes no difference whether the file was seen, or written, in between.
          weave = weave.to(weave.lines, "user");
          if (pick % 3 === 0) weave = settled(weave);
        }
        for (const [i, before] of [...states.entries()].reverse()) {
          weave = takenBack(weave, `d${i}`);
          expect(state(weave)).toEqual(before);
        }
      }),
      { numRuns: tries(400) },
    );
  });

  test("has the same hunks when the text alone takes an undo back", () => {
    fc.assert(
      fc.property(Start, Acts, (start, acts) => {
        const named = start.map((line, i) => `${line} ${i}`);
        const { weave } = play(named, acts, true);
        const undoneText = undone(weave, "end", "all", ALL);
        expect(state(undoneText.to(weave.lines, "user")).text).toEqual(weave.lines);
        expect(hunks(undoneText.to(weave.lines, "user"))).toEqual(hunks(weave));
      }),
      { numRuns: tries(300) },
    );
  });

  test("turns the base text into the current one by its hunks", () => {
    fc.assert(
      fc.property(Start, Acts, (start, acts) => {
        const { weave } = play(start, acts, false);
        const result = [...weave.base(ALL).slice(1)];
        for (const { old, oldLines, newLines } of hunksOf(weave, ALL).reverse()) {
          const at = old[1] === 0 ? old[0] : old[0] - 1;
          expect(result.slice(at, at + old[1])).toEqual([...oldLines]);
          result.splice(at, old[1], ...newLines);
        }
        expect(result).toEqual(weave.lines.slice(1) as string[]);
      }),
      { numRuns: tries(300) },
    );
  });
});

function rowsOfUser(weave: Weave): number[] {
  const users = weave.rows.filter((row) => row.present && row.inserted.by === "user");
  return users.map((row) => row.id);
}

function state(weave: Weave): { text: Lines; bases: Lines[]; hunks: string[] } {
  const scope: Scope = session("A");
  const bases = [ALL, scope, sinceTurn(2)].map((one) => weave.base(one));
  return { text: weave.lines, bases, hunks: hunks(weave) };
}
