import fc from "fast-check";
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

test("does not mistake lines that are at HEAD for equal new lines", () => {
  const property = fc.property(
    LINES,
    fc.array(fc.nat(50), { maxLength: 3 }),
    fc.array(ROUND, { minLength: 1, maxLength: 4 }),
    play,
  );
  fc.assert(property, { numRuns: tries(2_000) });
});
