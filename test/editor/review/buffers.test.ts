import { World } from "#review";
import { claims, eventually, first, onEachNeovim, TestNeovim } from "#test";

const TEN = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join("");
const CHANGED = TEN.replace("line 2\n", "LINE 2\n").replace("line 8\n", "LINE 8\nand more\n");

/**
 * The review in the current buffer: rows with old lines above them, the number of hunks, and whether our keys are
 * mapped.
 */
const SHOWN = `
  local space, rows = vim.api.nvim_create_namespace("claude-code.review"), {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
    if mark[4].virt_lines then table.insert(rows, mark[2] + 1) end
  end
  local has_keys = vim.fn.maparg("gr", "n", false, true).buffer == 1
  return ("%s of %d%s"):format(table.concat(rows, ","), (vim.b.claude_code_review or { hunks = 0 }).hunks,
    has_keys and ", keys" or "")`;
const NOTHING = "shows = of 0   bar =";
const BOTH = "shows = 2,8 of 2, keys   bar hunk 1/2";
const SECOND = "shows = 8 of 1, keys   bar hunk 1/1";

/** A file under review whose buffer is unloaded, read again or renamed. */
onEachNeovim((session, version) => {
  let world: World;
  const nvim = () => session.neovim;
  const lua = <T>(code: string, ...args: unknown[]) => nvim().lua<T>(code, ...args);
  const plays = (script: string) => nvim().plays(script, { words: { shows: () => lua(SHOWN) } });

  beforeEach(async () => {
    world = new World(nvim().cwd, nvim().home);
    await lua(`vim.fn.setqflist({}, "f")`);
  });
  afterEach(async () => {
    await nvim().command("silent! Claude review close | silent! Claude review done");
    await eventually("the end", async () => (await world.list()).files.length === 0);
    await session.reset();
    world[Symbol.dispose]();
  });

  /** A review of two hunks in `a`, with the cursor on the first. */
  async function reviewed(): Promise<void> {
    world.edited("a", TEN, CHANGED);
    await plays(`:Claude review  list a:2 a:8  ${BOTH}`);
  }

  test("shows a change beside a NUL far down, and the NUL in the base text", async () => {
    const far = `${"a long line of text\n".repeat(500)}`;
    world.edited("a", `${far}one\0\nkept\0\n`, `${far}ONE\0\nkept\0\n`);
    await plays(":edit a | Claude review  list 1  shows = 501 of 1, keys  bar hunk 1/1");
    world.claude({ a: undefined });
    await plays(`:edit claude-code://base/${session.path("a")}  {getline(501) == "one\\n"} 1`);
  });

  test("marks hidden characters, and blanks before text, only in Claude's lines", async () => {
    claims("Invisible characters are shown as codes");
    const hidden = `x\u{e0063}${" ".repeat(150)}rm\n`;
    const bytes = (text: string) => Buffer.from(text).toString("latin1");
    const [before, far] = [`mine\u3164\n${TEN.repeat(30)}`, "far\u{e0063}\n"];
    world.edited("a", bytes(before), bytes(before.replace("\n", `\n${hidden}`) + far));
    /** Rows and codes. */
    const codes = () =>
      lua<string>(`
        local space = vim.api.nvim_create_namespace("claude-code.review")
        return vim.iter(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true }))
          :filter(function(mark) return mark[4].virt_text end)
          :map(function(mark) return mark[2] .. mark[4].virt_text[1][1] end):join(" ")`);
    const script = `
      :edit a | Claude review   codes = 1<e0063> 1<150 blanks>
      :$                        codes = 1<e0063> 1<150 blanks> 302<e0063>
      :Claude review close      codes =
    `;
    await nvim().plays(script, { words: { codes } });
  });

  test.each(first(1, ["bdelete", "bwipeout", "bunload"]))(
    ":%s and the file again: everything is shown as before, and gr undoes",
    async (command) => {
      await reviewed();
      await plays(`
        :new | ${command} a           ${NOTHING}
        :edit a | call cursor(2, 1)   ${BOTH}
        gr                            ${SECOND}   list 1   disk a |line 2|
      `);
    },
  );

  test("shows the text that :edit! loads", async () => {
    await reviewed();
    await plays(`
      :1delete | edit!              ${BOTH}
      :call setline(2, 'line 2')    ${SECOND}
      :edit!                        ${BOTH}
    `);
    world.claude({ a: CHANGED.replace("line 5\n", "line five\n") });
    await plays(":edit!  shows = 2,5,8 of 3, keys  bar hunk 1/3  list 3");
  });

  test.each(["file", "saveas"])("follows :%s to another file", async (command) => {
    await reviewed();
    await plays(`
        :${command} other             ${NOTHING}   list 2
        :edit a | call cursor(2, 1)   ${BOTH}
        :bwipeout! other
      `);
  });

  test("shows the hunks of a buffer that gets the name of a file under review", async () => {
    await reviewed();
    await plays(`
      :bwipeout a | edit ++ff=unix new   {&modified} 0
      :call setline(1, readfile('a')) | file a | call cursor(2, 1)   ${BOTH}
      :bwipeout!
    `);
  });

  test("keeps the bar out of a session file", async () => {
    await reviewed();
    await nvim().command("set noswapfile sessionoptions+=localoptions");
    await nvim().command("vsplit | mksession! s.vim | only");
    // It is read while the review is open, and must not copy the review's bar.
    await plays(`
      :doautocmd SessionLoadPost                         {&winbar} /^%\\(%\\)/
      :Claude review close | set sessionoptions&
    `);
    await using other = await TestNeovim.start({ version, cwd: nvim().cwd });
    const bars = "{nvim_list_wins()->map('getwinvar(v:val, \"&winbar\")')->join('')}";
    await other.plays(`:set noswapfile | source s.vim  a:*  ${bars} =`);
  });

  test("says that gr does nothing in a text that goes on changing", async () => {
    await reviewed();
    await lua(`
      local client = require("claude-code.server.channel")
      _G.request = client.request
      client.request = function(method, params, callback)
        _G.request(method, params, callback)
        if method == "review/file" then vim.fn.append("$", "more") end
      end
      vim.fn.setline(10, "mine")`);
    await plays(":Claude undo  says the text has changed since then  {getline(2)} LINE 2");
    await lua(`require("claude-code.server.channel").request = _G.request`);
    await nvim().command("edit!");
  });
});
