import { utimesSync, writeFileSync } from "node:fs";
import { BOTH_NEOVIMS } from "#test";
import { Attached } from "../attached";

const LINES = Array.from({ length: 200 }, (_, i) => `line ${i + 1}`);
const text = (lines: string[]) => `${lines.join("\n")}\n`;
/** Adds two lines at the top, changes one, removes one, and adds one at the end. */
const CHANGED = [
  "-- one",
  "-- two",
  ...LINES.map((line) => (line === "line 70" ? "line 70, changed" : line)).filter(
    (line) => line !== "line 150",
  ),
  "end",
];

/** Marks of Neovim and its plugins, each on the line of its name. */
const PLACE = `
  local buf = vim.api.nvim_get_current_buf()
  vim.fn.sign_define("B", { text = "B>" })
  vim.fn.sign_place(1, "", "B", buf, { lnum = 50 })
  NS = vim.api.nvim_create_namespace("test")
  vim.api.nvim_buf_set_extmark(buf, NS, 59, 2, {})
  vim.api.nvim_buf_set_mark(buf, "a", 70, 3, {})
  vim.api.nvim_buf_set_mark(buf, "b", 90, 0, {})
  vim.api.nvim_buf_set_mark(buf, "Q", 70, 0, {})
  vim.wo.foldmethod = "manual"
  vim.cmd("80,85fold | normal! 40GV44G\\27")`;
const PLACES = `
  local buf = vim.fn.bufnr("main.txt$")
  return {
    sign = vim.fn.sign_getplaced(buf)[1].signs[1].lnum,
    extmark = vim.api.nvim_buf_get_extmarks(buf, NS, 0, -1, {})[1][2] + 1,
    a = vim.api.nvim_buf_get_mark(buf, "a"), b = vim.api.nvim_buf_get_mark(buf, "b"),
    Q = vim.api.nvim_get_mark("Q", {})[1],
    visual = { vim.fn.line("'<"), vim.fn.line("'>") },
    fold = { vim.fn.foldclosed(84), vim.fn.foldclosedend(84) },
  }`;

const RECORD = `
  EVENTS, CHANGES = {}, {}
  vim.api.nvim_create_autocmd({ "FileChangedShellPost", "BufReadPost", "BufWritePre", "BufWritePost" }, {
    callback = function(args) table.insert(EVENTS, args.event .. " " .. vim.fs.basename(args.file)) end,
  })
  vim.api.nvim_buf_attach(0, false, {
    on_lines = function(_, _, _, first, last, now) table.insert(CHANGES, { first, last, now }) end,
    on_reload = function() table.insert(CHANGES, "all") end,
  })`;

describe.each(BOTH_NEOVIMS)("$name", (version) => {
  const open = (content = text(LINES)) =>
    Attached.opened({ version, ui: { width: 120, height: 40 } }, content);
  const rewrite = async (a: Attached, now: string | Uint8Array) => {
    // File times have the resolution of the kernel's clock.
    await Bun.sleep(15);
    writeFileSync(a.main, now);
    await a.call("document_reload", { path: a.main });
  };

  for (const autoread of ["autoread", "noautoread", "autoread | setlocal autoread"]) {
    test(`'${autoread}': marks, signs, extmarks, folds, cursor and view move with lines`, async () => {
      await using a = await open();
      await a.nvim.command(`set ${autoread}`);
      await a.nvim.lua(PLACE);
      await a.nvim.type("100Gzt3l");
      await a.nvim.command("tab split | normal! 120Gzb");
      await a.nvim.command("tabfirst");
      const views = `return vim.tbl_map(function(win)
        local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
        return { view.lnum, view.topline, view.col }
      end, vim.api.nvim_list_wins())`;
      const before = await a.nvim.lua<number[][]>(views);
      await a.nvim.lua(RECORD);
      await rewrite(a, text(CHANGED));

      expect(await a.lines()).toEqual(CHANGED);
      expect(await a.nvim.lua<object>(PLACES)).toEqual({
        sign: 52,
        extmark: 62,
        a: [72, 3],
        b: [92, 0],
        Q: 72,
        visual: [42, 46],
        fold: [82, 87],
      });
      expect(await a.nvim.lua<number[][]>(views)).toEqual(
        before.map(([lnum = 0, top = 0, col = 0]) => [lnum + 2, top + 2, col]),
      );
      // Language servers receive the same changes.
      expect(await a.nvim.lua<unknown>("return { EVENTS, CHANGES }")).toEqual([
        ["FileChangedShellPost main.txt"],
        [
          [200, 200, 201],
          [149, 150, 149],
          [69, 70, 70],
          [0, 0, 2],
        ],
      ]);
      expect(await a.nvim.lua<boolean>("return vim.bo.modified")).toBe(false);
    });
  }

  test("makes one undo step, after which neither :checktime nor :w asks", async () => {
    await using a = await open();
    await a.nvim.type("Omine<Esc>:silent write<CR>");
    const saved = await a.lines();
    await rewrite(a, text(CHANGED));
    await a.nvim.plays(`
      :set noautoread | autocmd FileChangedShell * let g:asked = 1
      :checktime   {exists('g:asked')} 0
      u            lines = ${saved.join("|")}   {&modified} 1
      <C-r>        lines = ${CHANGED.join("|")}
      dd:write<CR> mode n   disk main.txt = ${CHANGED.slice(1).join("|")}|
    `);
  });

  test("makes a separate undo step in insert mode", async () => {
    await using a = await open();
    await a.nvim.type("GAx");
    await a.nvim.command("silent write");
    const typed = [...LINES.slice(0, -1), "line 200x"];
    await rewrite(a, text(["-- one", ...typed]));
    await a.nvim.plays(`
      y<Esc>   lines = -- one|${typed.join("|")}y
      u        lines = -- one|${typed.join("|")}
      u        lines = ${typed.join("|")}   disk main.txt = -- one|${typed.join("|")}|
    `);
  });

  const WHOLE: [name: string, content: string | Uint8Array][] = [
    ["no end of line", text(LINES).slice(0, -1)],
    ["CRLF", text(CHANGED).replaceAll("\n", "\r\n")],
    ["CRLF and LF", `one\r\n${text(CHANGED)}`],
    ["a BOM", `\uFEFF${text(CHANGED)}`],
    ["latin1", new Uint8Array([0xe4, 0x0a, 0x62, 0x0a])],
    ["UTF-8", "ä\n日本\n😀\n"],
    ["nothing", ""],
    ["a line end alone", "\n"],
    ["nothing again", ""],
    ["a line", "x\n"],
    ["a NUL", "a\0b\nc\n"],
    ["only a BOM", "\uFEFF"],
    ["an empty line", "\n"],
  ];

  test("takes over line ends, encoding, BOM and the last line end", async () => {
    await using a = await open();
    const state = `return {
      vim.bo.fileformat, vim.bo.fileencoding, vim.bo.bomb, vim.bo.endofline, vim.bo.modified,
      vim.fn.wordcount().bytes,
      vim.api.nvim_buf_get_lines(0, 0, -1, false) }`;
    for (const [name, content] of WHOLE) {
      await rewrite(a, content);
      const got = await a.nvim.lua<unknown[]>(state);
      await a.nvim.command("silent edit!");
      expect([name, ...got]).toEqual([name, ...(await a.nvim.lua<unknown[]>(state))]);
      // Change from each format to plain text, and to the next format.
      await rewrite(a, text(LINES));
      expect([name, await a.lines()]).toEqual([name, LINES]);
      await rewrite(a, content);
    }
  });

  test("keeps CRLF, with the marks", async () => {
    const dos = (of: string[]) => text(of).replaceAll("\n", "\r\n");
    await using a = await open(dos(LINES));
    await a.nvim.lua(PLACE);
    await rewrite(a, dos(CHANGED));
    expect(await a.lines()).toEqual(CHANGED);
    expect(await a.nvim.lua("return vim.bo.fileformat")).toBe("dos");
    expect(await a.nvim.lua<object>(PLACES)).toMatchObject({ sign: 52, extmark: 62 });
  });

  test.each([0, 1])("reloads a file that is %d s newer", async (later) => {
    await using a = await open("one\n");
    for (const [at, now] of ["one", "two", "six"].entries()) {
      await Bun.sleep(15);
      writeFileSync(a.main, `${now}\n`);
      utimesSync(a.main, at * later, at * later);
      if (at === 0) await a.nvim.command("edit!");
      await a.call("document_reload", { path: a.main });
      expect(await a.lines()).toEqual([now]);
    }
  });

  test("corrects line ends that Neovim read with the old 'fileformat'", async () => {
    await using a = await open("one\r\ntwo\r\n");
    await Bun.sleep(15);
    writeFileSync(a.main, "one\nthree\n");
    await a.nvim.command("set autoread | checktime");
    await a.call("document_reload", { path: a.main });
    await a.nvim.plays("<Ignore>  lines = one|three  {&fileformat} unix");
  });

  test("does not read mixed line ends again unless the file changed", async () => {
    await using a = await open("one\r\ntwo\nthree\r\n");
    await a.nvim.lua(RECORD);
    await a.call("document_reload", { path: a.main });
    expect(await a.nvim.lua("return { EVENTS, CHANGES }")).toEqual([[], []]);
  });

  test.each([
    ["setlocal readonly nomodifiable", "{[&readonly, &modifiable, &modified]} [1, 0, 0]"],
    ["autocmd BufWriteCmd main.* let g:wrote = 1", "{exists('g:wrote')} 0"],
  ])("reloads without a message after :%s", async (command, unchanged) => {
    await using a = await open();
    await a.nvim.command(command);
    await rewrite(a, text(CHANGED));
    await a.nvim.plays(`<Ignore>  lines = ${CHANGED.join("|")}  ${unchanged}  says ! W10`);
  });

  test("lets the user's autocommand for FileChangedShell decide", async () => {
    await using a = await open();
    await a.nvim.command("set noautoread");
    await a.nvim.command("autocmd FileChangedShell *.txt let v:fcs_choice = g:choice");
    for (const [choice, now, shown] of [
      ["", CHANGED, LINES],
      ["reload", CHANGED.slice(1), CHANGED.slice(1)],
    ] as const) {
      await a.nvim.command(`let g:choice = "${choice}"`);
      await rewrite(a, text([...now]));
      expect(await a.lines()).toEqual([...shown]);
    }
  });

  test("loads lines that were all changed, exchanged or reformatted", async () => {
    await using a = await open();
    const many = Array.from({ length: 6_000 }, (_, i) => `ä${i}`);
    for (const now of [
      LINES.toReversed(),
      LINES.map((line) => `  ${line} ö`),
      many,
      many.map((line) => `${line}ü`),
      many.filter((_, i) => i % 3 !== 0),
      many.flatMap((line, i) => (i % 5 === 0 ? [line, "é", "è"] : [line])),
      ["é"],
      ["è"],
      ["aè", "", "b"],
      ["", "è", "", "", "b", ""],
    ]) {
      await rewrite(a, text(now));
      expect(await a.lines()).toEqual(now);
      expect(await a.nvim.lua("return vim.bo.modified")).toBe(false);
    }
  });
});
