import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { rebuild } from "../../../src/ide/diffs/final-text";
import { eventually } from "../../support/eventually";
import { BOTH_NEOVIMS } from "../../support/neovim";
import { Attached, type Ended } from "../attached";

// A machine that is busy with other tests is slow; how long things take is not what is tested.
setDefaultTimeout(60_000);

const UI = { width: 150, height: 40 };
const LAYOUTS = ["vertical", "horizontal", "tab", "inline"] as const;

const OLD = Array.from({ length: 60 }, (_, i) => `line ${i + 1}\n`).join("");
/** A change, an addition, a deletion. */
const NEW = OLD.replace("line 10\n", "LINE 10\n")
  .replace("line 30\n", "line 30\nadded\n")
  .replace("line 50\n", "");

/** What the client gets as the final text. */
function final(proposal: string, end: Ended): string {
  return end.lines ? rebuild(proposal, end.lines, end.newline) : proposal;
}

/** A text made of hunks with common lines between them; each line is unlike all others. */
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

const LETTERS = "a\nb\nc\nd\ne\nf\n";
/** A change, a deletion, a deletion at the end. */
const FEWER = "A\nb\nd\ne\n";

/** Edits after a choice: the hunks that were not chosen stay out. */
const EDITED: [string, keys: string, bar: string, final: string][] = [
  ["a line below a deletion at the end", "GgaGo// end<Esc>", "1 of 3", "a\nb\nc\nd\ne\n// end\n"],
  ["that, undone", "GgaGo// end<Esc>u", "1 of 3", "a\nb\nc\nd\ne\n"],
  ["a line above a deletion", "gg]cga3GOnew<Esc>", "1 of 3", "a\nb\nnew\nd\ne\nf\n"],
  ["a line below the one before a deletion", "gg]cga2Gonew<Esc>", "1 of 3", "a\nb\nnew\nd\ne\nf\n"],
  [
    "lines around a change",
    "gggaggOtop<Esc>jobelow<Esc>",
    "1 of 3",
    "top\nA\nbelow\nb\nc\nd\ne\nf\n",
  ],
  ["its line split", "gggaggix<CR><Esc>", "1 of 3", "x\nA\nb\nc\nd\ne\nf\n"],
  ["two chosen, one edited away", "gggaGga1GSa<Esc>", "1 of 2", "a\nb\nc\nd\ne\n"],
  ["dropped and brought back", "gggaGgrgggru", "1 of 2", "A\nb\nc\nd\ne\nf\n"],
];

/** Such edits after which only the user knows: asked once, then done as the bar says. */
const DOUBTFUL: [string, keys: string, bar: string, question: string, final: string][] = [
  ["the only chosen one edited away", "gggaggSa<Esc>", "0 of 2", "none is chosen", "a\nb\nd\ne\n"],
  ["the only chosen one dropped", "gggagggr", "0 of 2", "none is chosen", "a\nb\nd\ne\n"],
  ["joined with one not chosen", "ggga2GSB<Esc>", "1 of 2", "edited together", "A\nB\nd\ne\nf\n"],
];

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

/** Ends like a line before it, and the hunk at the end not taken; chosen, then dropped. */
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

for (const version of BOTH_NEOVIMS) {
  describe(version.name, () => {
    test("what is accepted are exactly the chosen hunks, byte for byte", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      await a.attach();
      let round = 0;
      const cases = fc.sample(made, { numRuns: 60, seed: 20261121 });
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
        // The cursor stands on the first hunk, and goes on to the next by itself.
        const keys = sample.hunks.map((hunk) => {
          if (hunk.chosen) return byDropping ? "]c" : "ga";
          return byDropping ? "gr" : "]c";
        });
        await a.nvim.type(keys.join(""));
        await a.nvim.type("<CR>");
        const end = await a.outcome(id);
        await a.cleared();
        const chosen = sample.hunks.filter((hunk) => hunk.chosen).length;
        const context = { round, layout, byDropping, sample };
        if (chosen === 0 && byDropping)
          expect({ ...context, end: end.outcome }).toEqual({ ...context, end: "rejected" });
        else {
          const expected = chosen === 0 ? proposal : wanted;
          expect({ ...context, end: end.outcome, text: final(proposal, end) }).toEqual({
            ...context,
            end: "accepted",
            text: expected,
          });
        }
      }
    });

    test("[c and ]c in each layout, with counts, from each side; the bar says where", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      const path = a.file("main.txt", OLD);
      await a.edit(path);
      await a.attach();
      const at = (line: number, hunk: number) =>
        eventually(`line ${line}, hunk ${hunk}`, async () => {
          const bars = await a.nvim.lua<string>(
            `local bars = {} for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
              table.insert(bars, vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win, use_winbar = true }).str) end
            return table.concat(bars, "|")`,
          );
          expect(bars).toContain(`hunk ${hunk}/3`);
          expect(await a.nvim.lua("return vim.fn.line('.')")).toBe(line);
          return true;
        });
      for (const layout of LAYOUTS) {
        await a.diffLayout(layout);
        const id = await a.propose(path, NEW);
        await at(10, 1);
        await a.nvim.type("]c");
        await at(31, 2);
        await a.nvim.type("]c");
        await at(51, 3);
        await a.nvim.type("]c");
        await at(51, 3);
        await a.nvim.type("2[c");
        await at(10, 1);
        await a.nvim.type("20G");
        await at(20, 1);
        await a.nvim.type("[c");
        await at(10, 1);
        await a.nvim.type("gg]c");
        await at(10, 1);
        if (layout !== "inline") {
          await a.nvim.type("<C-w>p2]c");
          await at(50, 3);
          await a.nvim.type("[c");
          await at(31, 2);
        }
        await a.nvim.type("q");
        await a.outcome(id);
        await a.cleared();
      }
    });

    test("between an edit and a pause the bar shows one state, not two mixed; then the new one", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      const path = a.file("main.txt", OLD);
      await a.attach();
      for (const layout of LAYOUTS) {
        await a.diffLayout(layout);
        const id = await a.propose(path, OLD.replace("line 10\n", "LINE 10\n"));
        const shows = (text: string) =>
          eventually(text, async () => (await a.bar()).includes(text));
        await shows("hunk 1/1  +1 −1");
        // At once, as a key does it before anything else can happen.
        await a.nvim.lua(`
          vim.api.nvim_buf_set_lines(0, 29, 30, false, { "mine", "too" })
          vim.api.nvim_win_set_cursor(0, { 30, 0 })
          vim.cmd.doautocmd("CursorMoved")
          AT_ONCE = vim.wo.winbar`);
        expect(await a.nvim.lua("return AT_ONCE")).toMatch(/hunk 1\/1 .*\+1.*−1 /);
        await shows("hunk 2/2  +3 −2");
        await a.nvim.type("Onew<Esc>");
        await shows("hunk 2/2  +4 −2");
        await a.nvim.type("q");
        await a.outcome(id);
        await a.cleared();
      }
    });

    test("gr does not wait for a longer mapping where no language server serves the file", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      await a.nvim.lua("vim.o.timeoutlen = 60000; vim.keymap.set('n', 'grx', 'x')");
      await a.propose(a.file("a.txt", LETTERS), LETTERS.replace("b", "B"));
      await a.shown();
      await a.nvim.type("gg]cgr");
      await eventually("the hunk is dropped", async () =>
        expect(
          await a.nvim.lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, 2, false)"),
        ).toEqual(["a", "b"]),
      );
    });

    test("gr is undone by u; ga twice is as before; the bar says what <CR> takes", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      const path = a.file("main.txt", OLD);
      await a.edit(path);
      await a.attach();
      for (const layout of ["inline", "tab"]) {
        await a.diffLayout(layout);
        const first = await a.propose(path, NEW);
        const bar = (text: string | RegExp) => a.barShows(text);
        await a.nvim.type("gr");
        await bar("hunk 1/2  +1 −1");
        await a.nvim.type("gr");
        await bar("hunk 1/1  +0 −1");
        await a.nvim.type("u");
        await bar("hunk 1/2");
        await a.nvim.type("u");
        await bar("+2 −2");
        await a.nvim.type("ggga]cga");
        await bar("accept 1 of 3 hunks");
        await a.nvim.type("gg]cga");
        await bar(/<CR> accept$/);
        await a.nvim.type("gggr<CR>");
        expect(await a.outcome(first)).toEqual({ id: first, outcome: "accepted" });
        await a.cleared();
      }
    });

    test("edits go along with chosen hunks", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      const path = a.file("main.txt", OLD);
      await a.attach();
      await a.configure(`{ diff = { layout = "inline" } }`);
      const id = await a.propose(path, NEW);
      await a.nvim.type("A by me<Esc>ga<CR>");
      expect(final(NEW, await a.outcome(id))).toBe(OLD.replace("line 10\n", "LINE 10 by me\n"));
    });

    test("lines that repeat, a last newline on one side only: byte for byte", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      await a.attach();
      await a.configure(`{ diff = { layout = "inline" } }`);
      const samples = fc.sample(twoTexts, { numRuns: 60, seed: 20261122 });
      for (const sample of [...REPEATING, ...samples]) {
        const path = a.file("main.txt", sample.old);
        const id = await a.propose(path, sample.proposal);
        const list = await a.nvim.lua<Hunk[]>(HUNKS);
        const chosen = list.map((_, i) => sample.picks[i] === true);
        const byDropping = sample.picks.at(-1) === true;
        const keys = chosen.map((taken) => {
          if (taken) return byDropping ? "]c" : "ga";
          return byDropping ? "gr" : "]c";
        });
        await a.nvim.type(`${keys.join("")}<CR>`);
        const end = await a.outcome(id);
        await a.cleared();
        if (!chosen.includes(true)) continue;
        const context = { ...sample, list, byDropping };
        expect({ ...context, text: final(sample.proposal, end) }).toEqual({
          ...context,
          text: withHunks(sample.old, sample.proposal, list, chosen),
        });
      }
    });

    /** Proposes FEWER, edits it after a choice until the bar says how much is chosen, and accepts. */
    async function acceptEdited(a: Attached, keys: string, bar: string): Promise<number> {
      await a.attach();
      const id = await a.propose(a.file("main.txt", LETTERS), FEWER);
      await a.nvim.type(keys);
      await eventually(bar, async () => (await a.bar()).includes(`accept ${bar} hunks`));
      await a.nvim.type("<CR>");
      return id;
    }

    test.each(EDITED)("edited after a choice: %s", async (_, keys, bar, text) => {
      await using a = await Attached.asNew({ version, ui: UI });
      const id = await acceptEdited(a, keys, bar);
      expect(final(FEWER, await a.outcome(id))).toBe(text);
    });

    test.each(DOUBTFUL)(
      "edited after a choice, in doubt: %s",
      async (_, keys, bar, question, text) => {
        await using a = await Attached.asNew({ version, ui: UI });
        const id = await acceptEdited(a, keys, bar);
        await eventually("the question", async () => (await a.messages()).includes(question));
        expect(a.ended).toEqual([]);
        await a.nvim.type("<CR>");
        expect(final(FEWER, await a.outcome(id))).toBe(text);
      },
    );

    test("]c is no jump of the user's window", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      const path = a.file("main.txt", OLD);
      await a.edit(path);
      await a.attach();
      await a.configure(`{ diff = { layout = "inline" } }`);
      await a.nvim.command("normal! 10G20G30G40G");
      await a.nvim.lua(`vim.cmd([[execute "normal! 3\\<C-o>"]])`);
      const before = await a.picture();
      const id = await a.propose(path, NEW);
      await a.nvim.type("]c");
      await eventually("the hunk", async () => (await a.bar()).includes("hunk 2/3"));
      await a.nvim.type("q");
      await a.outcome(id);
      await a.cleared();
      expect((await a.picture()).windows).toEqual(before.windows);
    });

    test("by commands, from Claude's terminal too", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      const path = a.file("main.txt", OLD);
      await a.edit(path);
      await a.nvim.command("vsplit | terminal cat");
      await a.attach();
      const id = await a.propose(path, NEW);
      await a.nvim.command("Claude diff drop-hunk");
      await a.nvim.command("wincmd p | wincmd p");
      const terminal =
        "for _, w in ipairs(vim.api.nvim_list_wins()) do if vim.bo[vim.api.nvim_win_get_buf(w)].buftype == 'terminal' then vim.api.nvim_set_current_win(w) end end";
      await a.nvim.lua(terminal);
      await a.nvim.command("Claude diff accept-hunk");
      await a.nvim.command("Claude diff accept");
      expect(final(NEW, await a.outcome(id))).toBe(OLD.replace("line 30\n", "line 30\nadded\n"));
      await a.cleared();
      await a.nvim.command("Claude diff drop-hunk");
      await eventually("the message", async () =>
        (await a.messages()).includes("no diff is waiting"),
      );
    });

    test("a proposal that differs in line ends or the last newline only is accepted as it is", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      await a.attach();
      for (const [old, proposal] of [
        ["a\nb", "a\nb\n"],
        ["a\r\nb\r\n", "a\nb\n"],
        ["a\n", "a\n"],
        ["", "\n"],
        ["\uFEFFa\n", "a\n"],
      ] as const) {
        const id = await a.propose(a.file("main.txt", old), proposal);
        await a.nvim.type("grga]c<CR>");
        expect(await a.outcome(id)).toEqual({ id, outcome: "accepted" });
        await a.cleared();
      }
    });

    test("mixed line ends: lines put back keep theirs", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      await a.attach();
      const path = a.file("main.txt", "one\r\ntwo\r\nthree\r\n");
      const proposal = "ONE\r\ntwo\r\nTHREE\n";
      const id = await a.propose(path, proposal);
      await a.nvim.type("gr<CR>");
      expect(final(proposal, await a.outcome(id))).toBe("one\r\ntwo\r\nTHREE\n");
    });

    test("a new file: dropped is rejected", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      await a.attach();
      for (const layout of LAYOUTS) {
        await a.diffLayout(layout);
        const id = await a.propose(a.path("new.txt"), "a\nb\n");
        await a.barShows("(new file)");
        await a.nvim.type("gr:w<CR>");
        expect((await a.outcome(id)).outcome).toBe("rejected");
        await a.cleared();
      }
    });

    test("diff.keys: other keys, several, none", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      const path = a.file("main.txt", OLD);
      await a.edit(path);
      await a.attach();
      await a.configure(
        `{ diff = { keys = { accept = { "<Space>y", "<F2>" }, reject = false, drop_hunk = "<Space>d" } } }`,
      );
      const id = await a.propose(path, NEW);
      await eventually("the keys in the bar", async () =>
        (await a.bar()).includes("<Space>y accept"),
      );
      await a.nvim.type("qaq<Space>d<F2>");
      expect(final(NEW, await a.outcome(id))).toBe(NEW.replace("LINE 10", "line 10"));
      await a.cleared();
    });

    test("diff.keys changed while a diff waits: the old key is free once the new one works", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      const path = a.file("main.txt", OLD);
      await a.attach();
      await a.configure(`{ diff = { keys = { accept = "<F2>" } } }`);
      const id = await a.propose(path, NEW);
      await a.configure(`{ diff = { keys = { accept = "<F3>" } } }`);
      // A file that is written makes its diff begin again.
      a.file("main.txt", `${OLD}more\n`);
      const mapped = (key: string) =>
        a.nvim.lua<boolean>(`return vim.fn.maparg("${key}", "n") ~= ""`);
      await eventually("the new key", () => mapped("<F3>"));
      expect(await mapped("<F2>")).toBe(false);
      await a.nvim.type("<F3><F3>");
      expect(await a.outcome(id)).toEqual({ id, outcome: "accepted" });
    });

    test("several wait: the next and the previous one, edits kept, each answered to its own", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      const paths = ["a.txt", "b.txt", "c.txt"].map((name) => a.file(name, OLD));
      await a.edit(paths[0] as string);
      await a.attach();
      const before = await a.picture();
      await a.nvim.lua(
        `_G.opened = 0 vim.api.nvim_create_autocmd("User", { pattern = "ClaudeCodeDiffOpened", callback = function() opened = opened + 1 end })`,
      );
      const ids: number[] = [];
      for (const [i, path] of paths.entries())
        ids.push(await a.propose(path, NEW, { client: i + 1 }));
      const bar = (text: string) => eventually(text, async () => (await a.bar()).includes(text));
      await bar("[1/3] a.txt");
      await a.nvim.type("A mine<Esc>");
      await a.nvim.type("]f");
      await bar("[2/3] b.txt");
      await a.nvim.type("[f");
      await bar("[1/3] a.txt");
      await a.nvim.type("[f");
      await bar("[3/3] c.txt");
      await a.nvim.command("Claude diff next");
      await bar("[1/3] a.txt");
      await a.nvim.command("Claude diff previous");
      await bar("[3/3] c.txt");
      await a.nvim.type("q");
      expect((await a.outcome(ids[2] as number)).outcome).toBe("rejected");
      await bar("[1/3] a.txt");
      expect(await a.nvim.lua("return require('port').diff_count()")).toBe(2);
      await a.nvim.type("]f");
      await bar("[2/3] b.txt");
      // One that was looked at and waits is closed by the executable.
      expect(await a.call("diff_close", { ids: [ids[1]] })).toBe(1);
      await bar("[1/3] a.txt");
      await a.nvim.type("<CR>");
      const end = await a.outcome(ids[0] as number);
      expect(final(NEW, end)).toBe(NEW.replace("LINE 10\n", "LINE 10 mine\n"));
      await a.cleared();
      expect(await a.picture()).toEqual(before);
      expect(await a.nvim.lua("return opened")).toBe(3);
    });

    test("one that waits with the user's edits is accepted from outside with them", async () => {
      await using a = await Attached.asNew({ version, ui: UI });
      const paths = ["a.txt", "b.txt"].map((name) => a.file(name, OLD));
      await a.attach();
      const ids: number[] = [];
      for (const path of paths) ids.push(await a.propose(path, NEW));
      await a.nvim.type("gr]f");
      await eventually("the other", async () => (await a.bar()).includes("b.txt"));
      await a.nvim.lua("require('port').accept(...)", ids[0]);
      expect(final(NEW, await a.outcome(ids[0] as number))).toBe(NEW.replace("LINE 10", "line 10"));
      await a.nvim.type("q");
      await a.cleared();
    });
  });
}
