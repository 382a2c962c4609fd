import fc from "fast-check";
import { rows } from "#test";
import { kept } from "../../../src/review/weave/decision";
import { keptText } from "../../../src/review/weave/kept-text";
import { FILE, type Lines } from "../../../src/review/weave/lines";
import { ALL } from "../../../src/review/weave/row";
import { Weave } from "../../../src/review/weave/weave";
import { tries } from "../../fuzz/effort";

/** Most of them are equal. */
const LINE = fc.constantFrom("}\n", "\n", "a\n", "b\n");
const LINES = fc.array(LINE, { minLength: 1, maxLength: 10 });
const EDIT = fc.record({
  at: fc.nat(50),
  gone: fc.nat(3),
  added: fc.array(LINE, { maxLength: 3 }),
});
interface Round {
  edits: { at: number; gone: number; added: string[] }[];
  commits: boolean;
  mine: number;
}
const ROUND: fc.Arbitrary<Round> = fc.record({
  edits: fc.array(EDIT, { minLength: 1, maxLength: 2 }),
  commits: fc.boolean(),
  mine: fc.nat(50),
});

const isMine = (line: string | undefined) => line?.startsWith("mine") === true;

function play(base: Lines, mine: readonly number[], rounds: readonly Round[]): void {
  const text = [...base];
  const write = (at: number) => text.splice(at % (text.length + 1), 0, `mine ${text.length}\n`);
  mine.forEach(write);
  let head: Lines = [FILE, ...base];
  let weave = Weave.of([FILE, ...text]);
  const texts = new Map<string, Lines>();
  for (const [at, round] of rounds.entries()) {
    for (const edit of round.edits) {
      const from = edit.at % (text.length + 1);
      let count = 0;
      while (count < edit.gone && from + count < text.length && !isMine(text[from + count]))
        count++;
      text.splice(from, count, ...edit.added);
      weave = weave.to([FILE, ...text], { id: `${at}`, session: "A", tool: "Edit", at });
    }
    texts.set(`keep ${at}`, [FILE, ...text]);
    weave = kept(weave, `keep ${at}`, "all", ALL);
    write(round.mine);
    weave = weave.to([FILE, ...text], "user");
    if (!round.commits) continue;
    const decisions = [...texts.keys()];
    const found = keptText(weave, head, { decisions, textAt: (id) => texts.get(id) });
    head = [FILE, ...text.filter((line) => !isMine(line))];
    expect(found).toMatchObject({ lines: head });
  }
}

test("takes none of equal lines in the file that are at HEAD for those that are new", () => {
  const property = fc.property(
    LINES,
    fc.array(fc.nat(50), { maxLength: 3 }),
    fc.array(ROUND, { minLength: 1, maxLength: 4 }),
    play,
  );
  fc.assert(property, { numRuns: tries(2_000) });
});

// Title, steps, the lines at HEAD, and those of a commit, if there can be one.
test.each(
  rows(`
  Claude's line beside a line that you had changed is at its place | start 1 mine 3; claude 1 mine its 3; keep | 1 2 3 | 1 2 its 3
  Claude's line where you had removed a line has no place | start 1 3; claude 1 its 3; keep | 1 2 3 |
  Claude's line between lines that had come for one has no place | start 1 mine too 3; claude 1 mine its too 3; keep | 1 2 3 |
  Claude's line in place of a line that you had changed has no place | start 1 mine 3; claude 1 its 3; keep | 1 2 3 |
  a kept line that you change counts beside one of Claude's that you change before | claude 1 II 3; keep; user 1 mine 3; claude 1 mine its 3; user 1 mine yours 3 | 1 2 3 | 1 II 3
  your change of a committed line is in no later commit | claude 1 II 3; keep; user 1 mine 3; claude 1 mine its 3; user 1 mine yours 3; claude mine yours 3; keep | 1 II 3 | II yours 3
  your change of a line beside the one of Claude's that you change is not committed | claude 1 2 its 3; user 1 mine yours 3; keep | 1 2 3 | 1 2 yours 3
  your change of what Claude wrote later is not committed with the hunk behind it | claude 1 2 4; user 1 mine 4; claude its mine 4; user yours mine 4; keep 3 | 1 2 3 4 | 1 2 4`),
)("%s", (_what, steps = "", head = "", expected = "") => {
  const linesIn = (words: string[]) => [FILE, ...words.map((word) => `${word}\n`)];
  const texts = new Map<string, Lines>();
  let weave = Weave.of(linesIn(["1", "2", "3", ...(head.includes("4") ? ["4"] : [])]));
  for (const [at, step] of steps.split("; ").entries()) {
    const [who, ...words] = step.split(" ");
    const change = { id: `${at}`, session: "A", tool: "Edit", at };
    texts.set(`${at}`, weave.lines);
    const third = { old: [[4, 1] as const], new: [] };
    if (who === "start") weave = Weave.of(linesIn(words));
    else if (who === "keep") weave = kept(weave, `${at}`, words.length > 0 ? third : "all", ALL);
    else weave = weave.to(linesIn(words), who === "user" ? "user" : change);
  }
  const decisions = [...texts.keys()];
  const found = keptText(weave, linesIn(head.split(" ")), {
    decisions,
    textAt: (id) => texts.get(id),
  });
  if (expected === "") expect(found).toStartWith("has lines at HEAD");
  else expect(found).toMatchObject({ lines: linesIn(expected.split(" ")) });
});
