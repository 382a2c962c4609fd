import { expect } from "bun:test";
import fc from "fast-check";
import type { Attached, Ended } from "../attached";

/* Hunks chosen at random. */

const LAYOUTS = ["vertical", "horizontal", "tab", "inline"] as const;

/** The final text that the client receives. */
export function final(proposal: string, end: Ended): string {
  return end.text ?? proposal;
}

/** The client of these tests drops the byte order mark of texts of 200 bytes or more (@msgpack/msgpack). */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, "");
}

/** A text made of hunks with common lines between them. All lines are unique. */
interface Made {
  hunks: { old: string[]; new: string[]; chosen: boolean }[];
  /** Does the text begin and end with a common line? */
  head: boolean;
  tail: boolean;
  eol: "\n" | "\r\n";
  bom: boolean;
  oldNewline: boolean;
  newNewline: boolean;
}

const made: fc.Arbitrary<Made> = fc.record({
  hunks: fc.array(
    fc
      .record({ old: fc.nat(3), new: fc.nat(3), chosen: fc.boolean() })
      .filter((sizes) => sizes.old + sizes.new > 0)
      .map((sizes) => ({
        old: Array.from({ length: sizes.old }, (_, i) => `old ${i}`),
        new: Array.from({ length: sizes.new }, (_, i) => `neu ${i} ä😀`),
        chosen: sizes.chosen,
      })),
    { minLength: 1, maxLength: 6 },
  ),
  head: fc.boolean(),
  tail: fc.boolean(),
  eol: fc.constantFrom("\n", "\r\n"),
  bom: fc.boolean(),
  oldNewline: fc.boolean(),
  newNewline: fc.boolean(),
});

/** The text in which each hunk has the side that `side` names. */
function text(from: Made, side: (hunk: Made["hunks"][number]) => "old" | "new"): string {
  const lines: { text: string; side?: "old" | "new" }[] = [];
  from.hunks.forEach((hunk, i) => {
    if (i > 0 || from.head) lines.push({ text: `common ${i}` });
    for (const line of hunk[side(hunk)]) lines.push({ text: `${line} of ${i}`, side: side(hunk) });
  });
  if (from.tail) lines.push({ text: "the end" });
  const last = lines.at(-1);
  // A common last line has its newline in both; otherwise each side has its own.
  const newline =
    last?.side === "old" ? from.oldNewline : last?.side === "new" ? from.newNewline : true;
  const body =
    lines.map((line) => line.text).join(from.eol) + (lines.length > 0 && newline ? from.eol : "");
  return (from.bom ? "\uFEFF" : "") + body;
}

/** Lines that repeat each other, with or without a last newline. */
const repetitive = fc
  .tuple(fc.array(fc.constantFrom("}", "x", "y", ""), { maxLength: 6 }), fc.boolean())
  .map(([lines, newline]) => lines.join("\n") + (newline && lines.length > 0 ? "\n" : ""));

const twoTexts = fc
  .record({
    old: repetitive,
    proposal: repetitive,
    picks: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  })
  // For a buffer, a lone newline and no text are the same.
  .filter(({ old, proposal }) => old !== "\n" && proposal !== "\n")
  .filter(({ old, proposal }) => old.endsWith("\n") !== proposal.endsWith("\n"));

/** The text ends like an earlier line, and the last hunk is not taken: first chosen, then dropped. */
const REPEATING = [
  ["x\ny\n}\n", "X\ny\n}\nz\n}"],
  ["x\ny\n}", "X\ny\n}\nz\n}\n"],
  ["x\ny\n}\nz\n}", "X\ny\n}\n"],
].flatMap(([old = "", proposal = ""]) =>
  [false, true].map((byDropping) => ({ old, proposal, picks: [true, false, byDropping] })),
);

interface Hunk {
  old: number;
  old_count: number;
  new: number;
  new_count: number;
}

const HUNKS = 'return require("port").hunks()';

/** The lines of a text, and whether the last one ends with a newline. */
function parse(text: string): { lines: string[]; newline: boolean } {
  const newline = text.endsWith("\n");
  return { lines: text === "" ? [] : text.slice(0, newline ? -1 : undefined).split("\n"), newline };
}

/** The text with the chosen hunks only: the last line has its newline, or not, from where it came. */
function withHunks(oldText: string, newText: string, list: Hunk[], chosen: boolean[]): string {
  const [old, proposed] = [parse(oldText), parse(newText)];
  const lines: string[] = [];
  let [from, newline] = [0, proposed.newline];
  list.forEach((hunk, i) => {
    const first = hunk.old_count > 0 ? hunk.old - 1 : hunk.old;
    lines.push(...old.lines.slice(from, first));
    from = first + hunk.old_count;
    const start = hunk.new_count > 0 ? hunk.new - 1 : hunk.new;
    if (chosen[i]) lines.push(...proposed.lines.slice(start, start + hunk.new_count));
    else lines.push(...old.lines.slice(first, from));
    if (!chosen[i] && from === old.lines.length) newline = old.newline;
  });
  lines.push(...old.lines.slice(from));
  return lines.join("\n") + (newline ? "\n" : "");
}

/** Keys that choose, and accept: the cursor starts on the first hunk, and moves to the next automatically. */
function keysFor(chosen: boolean[], byDropping: boolean): string {
  const [taken, left] = byDropping ? ["]c", "gr"] : ["ga", "]c"];
  return `${chosen.map((one) => (one ? taken : left)).join("")}<CR>`;
}

/** Exactly the chosen hunks are accepted, byte for byte, if all their lines differ. */
export async function chooseHunks(a: Attached, numRuns: number): Promise<void> {
  let round = 0;
  const cases = fc.sample(made, { numRuns, seed: 20261121 });
  for (const sample of cases) {
    const path = a.file(
      "main.txt",
      text(sample, () => "old"),
    );
    const proposal = text(sample, () => "new");
    const wanted = text(sample, (hunk) => (hunk.chosen ? "new" : "old"));
    const byDropping = ++round % 2 === 0;
    const layout = LAYOUTS[round % LAYOUTS.length] as string;
    await a.diffLayout(layout);
    const id = await a.propose(path, proposal);
    const picks = sample.hunks.map((hunk) => hunk.chosen);
    await a.nvim.type(keysFor(picks, byDropping));
    const end = await a.outcome(id);
    await a.cleared();
    const context = { round, layout, byDropping, sample };
    if (!picks.includes(true) && byDropping)
      expect({ ...context, end: end.outcome }).toEqual({ ...context, end: "rejected" });
    else {
      const expected = picks.includes(true) ? wanted : proposal;
      const text = withoutMark(final(proposal, end));
      expect({ ...context, end: end.outcome, text }).toEqual({
        ...context,
        end: "accepted",
        text: withoutMark(expected),
      });
    }
  }
}

/** The same with lines that repeat, and a last newline on one side only. */
export async function chooseRepeating(a: Attached, numRuns: number): Promise<void> {
  await a.configure(`{ diff = { layout = "inline" } }`);
  const samples = fc.sample(twoTexts, { numRuns, seed: 20261122 });
  for (const sample of [...REPEATING, ...samples]) {
    const path = a.file("main.txt", sample.old);
    const id = await a.propose(path, sample.proposal);
    const list = await a.nvim.lua<Hunk[]>(HUNKS);
    const chosen = list.map((_, i) => sample.picks[i] === true);
    const byDropping = sample.picks.at(-1) === true;
    await a.nvim.type(keysFor(chosen, byDropping));
    const end = await a.outcome(id);
    await a.cleared();
    if (!chosen.includes(true)) continue;
    const context = { ...sample, list, byDropping };
    expect({ ...context, text: final(sample.proposal, end) }).toEqual({
      ...context,
      text: withHunks(sample.old, sample.proposal, list, chosen),
    });
  }
}
