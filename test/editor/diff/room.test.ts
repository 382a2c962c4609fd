import { writeFileSync } from "node:fs";
import { eventually, lacks, NEOVIMS, TestClient, TestNeovim } from "#test";
import { join } from "../../../src/lib/platform";
import { shows, terminalText, windows } from "../../terminal/workbench";
import { Attached } from "../attached";

/* Side by side where both sides fit in the file's window, else inline. Nothing else changes its size. */
const OLD = Array.from({ length: 200 }, (_, i) => `line ${i + 1}\n`).join("");
const NEW = OLD.replace("line 100\n", "LINE 100\n");
const UI = { width: 160, height: 45 };

/** Tab page, and width and height of the diff's windows. */
const DIFF = `
  local windows = require("port").diff_windows()
  local sizes = vim.tbl_map(function(win)
    return { vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) }
  end, windows)
  return { tab = vim.fn.tabpagenr("$"), sizes = sizes }`;

interface Shown {
  tab: number;
  sizes: [width: number, height: number][];
}

const NARROW = "vsplit b.txt | wincmd p | vertical resize 39";

/** The other windows, and where the diff of the file in the current window appears. */
const places: [name: string, layout: string, make: string, shown: Shown][] = [
  ["one window", "vertical", "", sides(1, [79, 43], [80, 43])],
  ["two columns", "vertical", "vsplit b.txt", sides(1, [79, 43])],
  ["three rows", "vertical", "split b.txt | split b.txt", sides(1, [79, 13], [80, 13])],
  ["two rows", "vertical", "split b.txt", sides(1, [79, 21], [80, 21])],
  ["a file tree", "vertical", "30vnew | set bt=nofile | wincmd p", sides(1, [64, 43], [64, 43])],
  ["two columns", "horizontal", "vsplit b.txt", sides(1, [79, 21], [79, 21])],
  ["two rows", "horizontal", "split b.txt", sides(1, [160, 10], [160, 10])],
  ["two columns", "inline", "vsplit b.txt", sides(1, [79, 43])],
  ["a narrow column", "vertical", NARROW, sides(2, [79, 42], [80, 42])],
  ["a narrow column", "inline", NARROW, sides(2, [160, 42])],
  ["a low row", "inline", "split b.txt | wincmd p | resize 4", sides(2, [160, 42])],
  ["three columns", "inline", "vsplit b.txt | vsplit b.txt", sides(1, [52, 43])],
];

function sides(tab: number, ...sizes: [number, number][]): Shown {
  return { tab, sizes };
}

describe.each(NEOVIMS)("$name", (version) => {
  test.each(places)("beside %s (%s)", async (_, layout, make, shown) => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    a.file("b.txt", OLD);
    if (make) await a.nvim.command(make);
    await a.nvim.command("normal! 77Gzb");
    await a.diffLayout(layout);
    const before = await a.picture();
    for (const key of ["q", "<CR>"]) {
      const id = await a.propose(a.main, NEW);
      const found = await a.nvim.lua<Shown>(DIFF);
      // Neovim chooses the side that gets the odd column.
      for (const sizes of [found.sizes, shown.sizes]) sizes.sort(([x], [y]) => x - y);
      expect(found).toEqual(shown);
      await a.nvim.type(key);
      await a.outcome(id);
      await a.cleared();
      expect(await a.picture()).toEqual(before);
    }
  });

  const CLAUDE = `
    local buf = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_call(buf, function() vim.fn.termopen("cat") end)
    vim.b[buf].claude_code_terminal = true
    require("port").window.show(buf)`;

  test.each(["inline", "tab"])("has half of the rows (%s)", async (layout) => {
    await using a = await Attached.opened({ version, ui: { width: 80, height: 24 } }, OLD);
    await a.nvim.lua(`${CLAUDE} vim.cmd.wincmd("p")`);
    await a.diffLayout(layout);
    const before = await a.picture();
    const id = await a.propose(a.main, NEW);
    await a.shown();
    const { sizes } = await a.nvim.lua<Shown>(DIFF);
    expect(sizes[0]?.[1]).toBeGreaterThanOrEqual(10);
    await a.rejects(id);
    expect(await a.picture()).toEqual(before);
  });

  test("joins two sides that have too little room left, and leaves the cursor", async () => {
    await using a = await Attached.opened({ version, ui: { width: 140, height: 40 } }, OLD);
    for (const [open, isInside] of [
      [CLAUDE, false],
      ["vim.cmd('botright vnew') vim.api.nvim_win_set_width(0, 70) vim.cmd.wincmd('p')", true],
    ] as const) {
      const id = await a.propose(a.main, NEW);
      await a.shown();
      expect((await a.nvim.lua<Shown>(DIFF)).sizes).toHaveLength(2);
      await a.nvim.type("ggOmine<Esc>");
      await a.nvim.lua(open);
      await a.nvim.until("one side", 'return #require("port").diff_windows() == 1');
      const inside = 'return vim.api.nvim_get_current_win() == require("port").diff_window()';
      expect(await a.nvim.lua(inside)).toBe(isInside);
      expect(await a.nvim.lua('return require("port").diff_text("new")')).toBe(`mine\n${NEW}`);
      await a.reject(id);
      await a.nvim.command("silent! wincmd t | silent! only");
    }
  });

  test("shows the diff beside the cursor with `diff.focus = false`", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    await a.nvim.command("vsplit b.txt");
    await a.configure("{ diff = { focus = false } }");
    const before = await a.picture();
    const id = await a.propose(a.main, NEW);
    await a.shown();
    const { current, tab } = await a.picture();
    expect({ current, tab }).toEqual({ current: before.current, tab: before.tab });
    expect(await a.nvim.lua<Shown>(DIFF)).toEqual(sides(1, [79, 43]));
    await a.call("diff_close", { ids: [id] });
    await a.cleared();
    expect(await a.picture()).toEqual(before);
  });

  test.each(["vertical", "horizontal", "inline"])("scrolls to the right (%s)", async (layout) => {
    const far = (line: number, word: string) => `${line} ${"x".repeat(600)} ${word}\n`;
    const text = (word: string) =>
      `${far(1, word)}same\n${word}\n${"same\n".repeat(20)}${far(9, word)}`;
    await using a = await Attached.opened({ version, ui: UI }, text("old"));
    await a.nvim.command("set nowrap");
    await a.diffLayout(layout);
    const seen = (count: number) =>
      eventually("the change", async () => {
        const shown = (await a.screen()).slice(1, -1).join("\n");
        // Deleted virtual lines scroll along only from 0.11 on.
        for (const word of layout === "inline" ? ["new"] : ["old", "new"])
          expect(shown.match(new RegExp(`x ${word}`, "g"))?.length ?? 0).toBe(count);
      });
    await a.propose(a.main, text("new"));
    await a.shown();
    await seen(2);
    await a.nvim.type("]c");
    await seen(0);
    await a.nvim.type("]c");
    await seen(2);
  });

  test("shows all of a hunk, and the lines after it (inline)", async () => {
    const line = (n: number) => `line ${n}\n`;
    const all = Array.from({ length: 90 }, (_, i) => line(i + 1));
    await using a = await Attached.opened({ version, ui: { width: 80, height: 24 } }, all.join(""));
    const added = Array.from({ length: 8 }, (_, i) => `new ${i}\n`).join("");
    const text = all.with(17, `eighteen\n${added}`).with(31, "").with(32, "").with(70, "end\n");
    await a.propose(a.main, text.join(""));
    await a.shown();
    await a.nvim.plays(`
      <Ignore>   screen |- line 18 |   screen | line 21 |
      ]c         screen |- line 32 |   screen | line 36 |
      ]c         screen |- line 71 |   screen | line 74 |
      [c[c       screen |- line 18 |   screen | line 21 |
    `);
  });
});

/** Runs in Claude's place. Shows its number of columns, first at once and then after each change. */
const COLUMNS = `{ "sh", "-c", [[
  show() { echo "has $(stty size | cut -d' ' -f2)."; }
  trap show WINCH; sleep 0.1; show; while :; do sleep 0.05; done]] }`;

describe.skipIf(lacks("a shell")).each(NEOVIMS)(
  "Claude's terminal at the side in $name",
  (version) => {
    async function start(options = "", command = "") {
      const neovim = await TestNeovim.start({
        version,
        ui: UI,
        setup: `{ terminal = { command = ${COLUMNS} }, diff = { ${options} } }`,
      });
      writeFileSync(join(neovim.cwd, "a.txt"), OLD);
      await neovim.command(`edit a.txt${command}`);
      await neovim.command("Claude");
      await shows(neovim, "has 60.");
      return neovim;
    }

    test.each([
      ["vertical", "", 2],
      ["vertical", " | vsplit", 1],
      ["inline", "", 1],
      ["tab", "", 2],
    ])("keeps its columns beside a diff (%s, edit%s)", async (layout, make, count) => {
      await using neovim = await start(`layout = "${layout}"`, make);
      using client = await TestClient.open(await neovim.lock(), "claude-code");
      const before = await windows(neovim);
      const answer = client.propose(join(neovim.cwd, "a.txt"), NEW);
      await neovim.until("the diff", 'return require("port").diff_shown()');
      expect((await neovim.lua<Shown>(DIFF)).sizes.length).toBe(count);
      expect((await windows(neovim)).at(-1)?.width).toBe(60);
      // Neovim, and then the program, learn of a new size later.
      await Bun.sleep(300);
      const text = (await terminalText(neovim)).replaceAll(/\s+/g, "");
      expect([...new Set(text.match(/has\d+\./g))]).toEqual(["has60."]);
      await neovim.command("Claude diff reject");
      await answer;
      await eventually("the windows", async () => expect(await windows(neovim)).toEqual(before));
      await neovim.inMode("t");
    });
  },
);
