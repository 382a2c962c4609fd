import { ALL, BOTH_NEOVIMS } from "#test";
import { Attached } from "../attached";
import { chooseHunks, chooseRepeating, final } from "./random-hunks";

const UI = { width: 150, height: 40 };
const LAYOUTS = ["vertical", "horizontal", "tab", "inline"] as const;

const OLD = Array.from({ length: 60 }, (_, i) => `line ${i + 1}\n`).join("");
/** A change, an addition, a deletion. */
const NEW = OLD.replace("line 10\n", "LINE 10\n")
  .replace("line 30\n", "line 30\nadded\n")
  .replace("line 50\n", "");

const LETTERS = "a\nb\nc\nd\ne\nf\n";
/** A change, a deletion, a deletion at the end. */
const FEWER = "A\nb\nd\ne\n";

type Edited = [what: string, keys: string, bar: string, final: string];
/** Edits after a choice: the hunks that were not chosen are left out. */
const EDITED: Edited[] = [
  ["a line below a deletion at the end", "GgaGo// end<Esc>", "1 of 3", "a\nb\nc\nd\ne\n// end\n"],
  ["that, undone", "GgaGo// end<Esc>u", "1 of 3", "a\nb\nc\nd\ne\n"],
  ["a line above a deletion", "gg]cga3GOnew<Esc>", "1 of 3", "a\nb\nnew\nd\ne\nf\n"],
  ["a line below the one before a deletion", "gg]cga2Gonew<Esc>", "1 of 3", "a\nb\nnew\nd\ne\nf\n"],
  ["around a change", "gggaggOtop<Esc>jobelow<Esc>", "1 of 3", "top\nA\nbelow\nb\nc\nd\ne\nf\n"],
  ["its line split", "gggaggix<CR><Esc>", "1 of 3", "x\nA\nb\nc\nd\ne\nf\n"],
  ["two chosen, one edited away", "gggaGga1GSa<Esc>", "1 of 2", "a\nb\nc\nd\ne\n"],
  ["dropped and brought back", "gggaGgrgggru", "1 of 2", "A\nb\nc\nd\ne\nf\n"],
];

type Doubtful = [...Edited, question: string];
/** Edits after which only the user knows what to take: asked once, then done as the bar says. */
const DOUBTFUL: Doubtful[] = [
  ["the only chosen one edited away", "gggaggSa<Esc>", "0 of 2", "a\nb\nd\ne\n", "none is chosen"],
  ["the only chosen one dropped", "gggagggr", "0 of 2", "a\nb\nd\ne\n", "none is chosen"],
  ["joined with one not chosen", "ggga2GSB<Esc>", "1 of 2", "A\nB\nd\ne\nf\n", "edited together"],
];

describe.each(BOTH_NEOVIMS)("$name", (version) => {
  test.each([
    ["accepts exactly the chosen hunks, byte for byte", chooseHunks],
    ["lines that repeat, a last newline on one side only: byte for byte", chooseRepeating],
  ])(
    "%s",
    async (_what, choose) => {
      await using a = await Attached.attached({ version, ui: UI });
      await choose(a, ALL ? 112 : 12);
    },
    120_000,
  );

  test("moves with [c and ]c in each layout, with counts, from each side", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    const fromOldSide = `
      <C-w>p2]c   :50   bars hunk 3/3
      [c          :31   bars hunk 2/3`;
    for (const layout of LAYOUTS) {
      await a.diffLayout(layout);
      const id = await a.propose(a.main, NEW);
      await a.nvim.plays(`
      <Ignore>    :10   bars hunk 1/3
      ]c          :31   bars hunk 2/3
      ]c          :51   bars hunk 3/3
      ]c          :51   bars hunk 3/3
      2[c         :10   bars hunk 1/3
      20G         :20   bars hunk 1/3
      [c          :10   bars hunk 1/3
      gg]c        :10   bars hunk 1/3
      ${layout === "inline" ? "" : fromOldSide}`);
      await a.rejects(id);
    }
  });

  test("repeats gr with a dot, takes a count, and shows the keys with g?", async () => {
    await using a = await Attached.attached({ version, ui: UI });
    const old = "a\nb\nc\nd\ne\nf\ng\nh\ni\n";
    await a.proposeAndShow(
      a.file("a.txt", old),
      old.replace(/[aceg]/g, (letter) => letter.toUpperCase()),
    );
    await a.nvim.plays(`
      gr.   lines = a|b|c|d|E|f|G|h|i
      u     lines = a|b|C|d|E|f|G|h|i
      3gr   lines = a|b|c|d|e|f|g|h|i
      g?    lines <CR> ZZ accepts the proposal
      q     lines = a|b|c|d|e|f|g|h|i
    `);
  });

  test("does not wait for a longer mapping than gr", async () => {
    await using a = await Attached.asNew({ version, ui: UI });
    await a.nvim.lua("vim.o.timeoutlen = 60000; vim.keymap.set('n', 'grx', 'x')");
    await a.propose(a.file("a.txt", LETTERS), LETTERS.replace("b", "B"));
    await a.shown();
    await a.nvim.plays("gg]cgr  lines a|b|");
  });

  test("undoes gr with u, and ga with ga; the bar says what <CR> takes", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    for (const layout of ["inline", "tab"]) {
      await a.diffLayout(layout);
      const first = await a.propose(a.main, NEW);
      await a.nvim.plays(`
        gr         bar hunk 1/2 +1 −1
        gr         bar hunk 1/1 +0 −1
        u          bar hunk 1/2
        u          bar +2 −2
        ggga]cga   bar accept 1 of 3 hunks
        :vertical resize 36   bar accept 1 of 3 hunks
        :wincmd =             bar accept 1 of 3 hunks
        gg]cga     bar /<CR> accept$/
      `);
      await a.nvim.type("gggr<CR>");
      expect(await a.outcome(first)).toEqual({ id: first, outcome: "accepted" });
      await a.cleared();
    }
  });

  const edited = [...EDITED.map((row): Doubtful => [...row, ""]), ...DOUBTFUL];
  test.each(edited)("edited after a choice: %s", async (_, keys, bar, text, question) => {
    await using a = await Attached.attached({ version, ui: UI });
    const id = await a.propose(a.file("main.txt", LETTERS), FEWER);
    await a.nvim.type(keys);
    await a.barShows(`accept ${bar} hunks`);
    await a.nvim.type("<CR>");
    if (question) {
      await a.says(question);
      expect(a.ended).toEqual([]);
      await a.nvim.type("<CR>");
    }
    expect(final(FEWER, await a.outcome(id))).toBe(text);
  });

  test("accepts and drops hunks with commands, also from Claude's terminal", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    await a.nvim.command("vsplit | terminal cat");
    const id = await a.propose(a.main, NEW);
    await a.nvim.command("Claude diff drop-hunk");
    await a.nvim.command("wincmd p | wincmd p");
    await a.nvim.plays(`
      <C-w>t                    {&buftype} terminal
      :Claude diff accept-hunk  {&buftype} terminal
    `);
    await a.nvim.command("Claude diff accept");
    expect(final(NEW, await a.outcome(id))).toBe(OLD.replace("line 30\n", "line 30\nadded\n"));
    await a.plays(`
      <Ignore>                diffs gone
      :Claude diff drop-hunk  says no diff is waiting
    `);
  });

  test("rejects a new file whose hunk is dropped", async () => {
    await using a = await Attached.attached({ version, ui: UI });
    for (const layout of LAYOUTS) {
      await a.diffLayout(layout);
      const id = await a.propose(a.path("new.txt"), "a\nb\n");
      await a.barShows("(new file)");
      await a.rejects(id, "gr:w<CR>");
    }
  });

  test("takes other keys, several or none from diff.keys", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    await a.configure(
      `{ diff = { keys = { accept = { "<Space>y", "<F2>" }, reject = false, drop_hunk = "<Space>d" } } }`,
    );
    const id = await a.propose(a.main, NEW);
    await a.barShows("<Space>y accept");
    await a.nvim.type("qaq<Space>d<F2>");
    expect(final(NEW, await a.outcome(id))).toBe(NEW.replace("LINE 10", "line 10"));
    await a.cleared();
  });

  test("shows the next and the previous of several, keeps edits, and answers each one", async () => {
    await using a = await Attached.asNew({ version, ui: UI });
    const paths = ["a.txt", "b.txt", "c.txt"].map((name) => a.file(name, OLD));
    await a.edit(paths[0] as string);
    await a.attach();
    const before = await a.picture();
    await a.nvim.command("let g:opened = 0 | au User ClaudeCodeDiffOpened let g:opened += 1");
    const ids: number[] = [];
    for (const [i, path] of paths.entries())
      ids.push(await a.propose(path, NEW, { client: i + 1 }));
    await a.plays(`
      <Ignore>        bar [1/3] a.txt
      A mine<Esc>]f   bar [2/3] b.txt
      [f              bar [1/3] a.txt
      [f              bar [3/3] c.txt
      :Claude diff    bar [1/3] a.txt
      [f              bar [3/3] c.txt
      q               bar [1/3] a.txt
    `);
    await a.plays(`
      <Ignore>        ended = rejected   diffs shown 2
      ]f              bar [2/3] b.txt
    `);
    // A waiting diff is accepted from outside with the user's edits.
    await a.nvim.lua("require('port').accept(...)", ids[0]);
    const end = await a.outcome(ids[0] as number);
    expect(final(NEW, end)).toBe(NEW.replace("LINE 10\n", "LINE 10 mine\n"));
    await a.barShows("b.txt");
    expect(await a.call("diff_close", { ids: [ids[1]] })).toBe(1);
    await a.cleared();
    expect(await a.picture()).toEqual(before);
    expect(await a.nvim.lua("return vim.g.opened")).toBe(3);
  });
});
