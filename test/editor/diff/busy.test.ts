import { NEOVIMS } from "#test";
import { Attached } from "../attached";

/* A diff does not appear while the next key is meant for something else. */

const UI = { width: 143, height: 47 };
const OLD = Array.from({ length: 60 }, (_, i) => `line ${i + 1}\n`).join("");
const NEW = OLD.replace("line 30\n", "LINE 30\n");

const FLOAT = `vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true,
  { relative = "editor", row = 2, col = 2, width = 60, height = 20 })`;

const CLOSED_BY_Q = `${FLOAT} vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = 0 })`;
const TERMINAL = `${FLOAT} vim.cmd("terminal cat") vim.cmd.startinsert()`;
const ASKS = `vim.keymap.set("n", "<F2>", function() KEY = vim.fn.getcharstr() end)`;

/** An act of the user, the Lua and the keys that begin it, and the keys that end it. */
const BUSY: [what: string, lua: string, keys: string, end: string][] = [
  ["a float in normal mode, closed by its own key", CLOSED_BY_Q, "", "q"],
  ["a float, closed by :q", FLOAT, "", ":q<CR>"],
  ["a float, left", FLOAT, "", "<C-w>p"],
  ["a picker's prompt", FLOAT, "ioth", "<Esc>:close<CR>"],
  ["a terminal in a float", TERMINAL, "", "<C-\\><C-n>:close<CR>"],
  ["a plugin that asks for a key", ASKS, "<F2>", "q"],
  ["a macro that is recorded", "", "qa", "q"],
  ["visual mode", "", "vj", "<Esc>"],
  ["a pending operator", "", "d", "<Esc>"],
  ["a command line", "", ":echo", "<Esc>"],
  ["the window of the command line", "", "q:", ":q<CR>"],
];

describe.each(NEOVIMS)("$name", (version) => {
  const start = () => Attached.opened({ version, ui: UI }, OLD);

  test.each(BUSY)("waits for the end of %s", async (_, lua, keys, end) => {
    await using a = await start();
    await a.nvim.lua(lua);
    await a.nvim.type(keys);
    if (lua === TERMINAL) await a.inMode("t");
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
    if (keys === "qa") await a.plays("<Ignore>  {@a} =");
    if (keys === "<F2>") expect(await a.nvim.lua("return KEY")).toBe("q");
    await a.accepts(id);
  });

  test("appears on a tab page of its own when the user asks for it", async () => {
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

  test("shows a file in a float, as in zen-mode, on a tab page of its own, and goes back", async () => {
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
