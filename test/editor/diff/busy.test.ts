import { NEOVIMS } from "#test";
import { Attached } from "../attached";

/* A diff does not appear where the next key is for something else. */

const UI = { width: 143, height: 47 };
const OLD = Array.from({ length: 60 }, (_, i) => `line ${i + 1}\n`).join("");
const NEW = OLD.replace("line 30\n", "LINE 30\n");

const FLOAT = `vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true,
  { relative = "editor", row = 2, col = 2, width = 60, height = 20 })`;

/** An act of the user's, and how it ends. */
const BUSY: { with: string; lua?: string; keys?: string; end: string }[] = [
  {
    with: "a float in normal mode, closed by its own key",
    lua: `${FLOAT} vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = 0 })`,
    end: "q",
  },
  { with: "a float, closed by :q", lua: FLOAT, end: ":q<CR>" },
  { with: "a float, left", lua: FLOAT, end: "<C-w>p" },
  { with: "a picker's prompt", lua: FLOAT, keys: "ioth", end: "<Esc>:close<CR>" },
  {
    with: "a terminal in a float",
    lua: `${FLOAT} vim.cmd("terminal cat") vim.cmd.startinsert()`,
    end: "<C-\\><C-n>:close<CR>",
  },
  {
    with: "a plugin that asks for a key",
    lua: `vim.keymap.set("n", "<F2>", function() KEY = vim.fn.getcharstr() end)`,
    keys: "<F2>",
    end: "q",
  },
  { with: "a macro that is recorded", keys: "qa", end: "q" },
  { with: "visual mode", keys: "vj", end: "<Esc>" },
  { with: "a pending operator", keys: "d", end: "<Esc>" },
  { with: "a command line", keys: ":echo", end: "<Esc>" },
  { with: "the window of the command line", keys: "q:", end: ":q<CR>" },
];

describe.each(NEOVIMS)("$name", (version) => {
  const start = () => Attached.opened({ version, ui: UI }, OLD);

  test.each(BUSY)("$with: the diff waits for its end", async ({ lua, keys, end }) => {
    await using a = await start();
    if (lua) await a.nvim.lua(lua);
    if (keys) await a.nvim.type(keys);
    if (lua?.includes("terminal")) await a.inMode("t");
    await a.holdClock();
    const { layout, mode } = await a.picture();
    const id = await a.propose(a.main, NEW);
    await a.advance(1_000);
    expect(await a.picture()).toMatchObject({ layout, mode });
    expect(await a.nvim.lua('return require("port").diff_shown()')).toBe(false);
    await a.nvim.type(end);
    await a.shownLater();
    await a.says("]f or :Claude diff shows main.txt: its change waits until you are done here");
    await a.plays("<Ignore>  ended =  {expand('%:t')} main.txt (proposed)");
    expect(await a.nvim.lua('return require("port").diff_text("new")')).toBe(NEW);
    if (keys === "qa") expect(await a.nvim.lua('return vim.fn.getreg("a")')).toBe("");
    if (keys === "<F2>") expect(await a.nvim.lua("return KEY")).toBe("q");
    await a.accepts(id);
  });

  test("no turn of the event loop is spent on waiting", async () => {
    await using a = await start();
    await a.nvim.lua(FLOAT);
    await a.propose(a.main, NEW);
    await a.nvim.type("j");
    const count = `
      COUNT = 0
      vim.api.nvim_create_autocmd("SafeState", { callback = function() COUNT = COUNT + 1 end })`;
    await a.nvim.lua(count);
    // An endless row of turns makes thousands.
    await Bun.sleep(100);
    expect(await a.nvim.lua("return COUNT")).toBeLessThan(5);
  });

  test("the user may show it all the same: on a tab page of its own", async () => {
    await using a = await start();
    const before = await a.picture();
    await a.nvim.lua(FLOAT);
    await a.propose(a.main, NEW);
    await a.says("]f or :Claude diff shows");
    await a.plays(`
      ]f       diffs shown 1   {tabpagenr('$')} 2
      q        diffs gone   {nvim_win_get_config(0).relative} editor
      :close   ended = rejected
    `);
    expect((await a.picture()).layout).toEqual(before.layout);
  });

  test("a file in a float, as in zen-mode: a tab page of its own, and back", async () => {
    await using a = await start();
    await a.nvim.lua(FLOAT.replace("vim.api.nvim_create_buf(false, true)", "0"));
    const before = await a.picture();
    for (const key of ["q", "<C-w>T"]) {
      const id = await a.propose(a.main, NEW);
      await a.plays(`
        <Ignore>   diffs shown 1   {tabpagenr('$')} 2
        ${key}     diffs ${key === "q" ? "gone" : "wait 1"}
      `);
      if (key !== "q") await a.reject(id);
      expect((await a.outcome(id)).outcome).toBe("rejected");
      expect(await a.picture()).toEqual(before);
    }
  });
});
