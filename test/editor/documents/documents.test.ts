import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { eventually, NEOVIMS, needs, rows } from "#test";
import { Attached } from "../attached";

const UI = { width: 120, height: 40 };

const selected = `
  local from, to = vim.fn.getpos("v"), vim.fn.getpos(".")
  return { mode = vim.api.nvim_get_mode().mode, text = table.concat(vim.fn.getregion(from, to, { type = "v" }), "\\n") }`;

/** On a busy machine a long search pauses, and its selection comes later. */
const selects = (a: Attached, what: string, expected: { mode: string; text: string }) =>
  eventually(what, async () => expect(await a.nvim.lua(selected)).toEqual(expected));

describe.each(NEOVIMS)("$name", (version) => {
  const start = () => Attached.attached({ version, ui: UI });
  const opened = (text: string) => Attached.opened({ version, ui: UI }, text);
  const open = (a: Attached, path: string, more: object = {}) =>
    a.call("document_open", { path, front: true, select_to_eol: false, ...more });

  needs("symlinks")("finds the open buffer of a symlinked folder or file", async () => {
    await using a = await start();
    const path = a.file("real/main.txt", "one\n");
    symlinkSync(a.path("real"), a.path("link"));
    symlinkSync(path, a.path("other.txt"));
    const buf = await a.edit(path);
    for (const name of ["link/main.txt", "other.txt", "real/../real//main.txt"]) {
      await open(a, `${a.nvim.cwd}/${name}`);
      await a.nvim.plays(`<Ignore>  {bufnr()} ${buf}`);
    }
  });

  needs("symlinks")(
    "finds a buffer with edits by its file's name once a rename replaced its target",
    async () => {
      await using a = await start();
      const path = a.file("real.txt", "one\n");
      symlinkSync("real.txt", a.path("link.txt"));
      await a.nvim.command("edit link.txt | call setline(1, 'mine')");
      renameSync(a.file("new.txt", "two\n"), path);
      expect(await a.call<string>("document_text", { path })).toBe("mine\n");
    },
  );

  /** The question and the selected text, both as JSON. */
  const RANGES = rows(String.raw`
    start only | {"start_text": "function b"} | "function b"
    start and end | {"start_text": "function b", "end_text": "end"} | "function b()\n  return '\u00e4'\nend"
    the same text twice: its first occurrence | {"start_text": "end", "end_text": "end"} | "end"
    an end within the start text: the start text | {"start_text": "return '\ud83d\ude00' end", "end_text": "'"} | "return '\ud83d\ude00' end"
    no end before the start | {"start_text": "return", "end_text": "function"} | "return '\ud83d\ude00' end\nfunction"
    over lines | {"start_text": "b()\n  return"} | "b()\n  return"
    CRLF in what is asked | {"start_text": "b()\r\n  return"} | "b()\n  return"
    plain text, no pattern | {"start_text": "(.*)%a+[x]"} | "(.*)%a+[x]"
    last character multibyte | {"start_text": "'\u00e4"} | "'\u00e4"
    to the end of the line | {"start_text": "function", "select_to_eol": true} | "function a() return '\ud83d\ude00' end"
    end not found: the start | {"start_text": "function b", "end_text": "nowhere"} | "function b"
    not found: no selection | {"start_text": "nowhere"} | null
    end only | {"end_text": "return"} | "return"`);
  const SOURCE = "function a() return '😀' end\nfunction b()\n  return 'ä'\nend\n(.*)%a+[x]\n";

  test("selects by text in visual mode, whatever 'selection' and 'selectmode' are", async () => {
    await using a = await start();
    const path = a.file("main.lua", SOURCE);
    for (const option of [
      "selection=exclusive",
      "selection=inclusive",
      "selectmode=mouse,key,cmd",
    ]) {
      await a.nvim.command(`set ${option}`);
      for (const [name, params = "", selection = ""] of RANGES) {
        await a.nvim.type("<Esc>");
        await open(a, path, JSON.parse(params));
        const expected = JSON.parse(selection);
        if (expected === null) expect([name, await a.mode()]).toEqual([name, "n"]);
        else await selects(a, `${option}: ${name}`, { mode: "v", text: expected });
      }
    }
    const left = await a.nvim.lua("return { vim.bo.modified, vim.o.selectmode }");
    expect(left).toEqual([false, "mouse,key,cmd"]);
  });

  test("selects across line ends of either kind", async () => {
    await using a = await start();
    const mixed = a.file("mixed.txt", "one\r\ntwo\nthree\r\nfour\r\n");
    const dos = a.file("dos.txt", "one\r\ntwo\r\nthree\r\n");
    for (const [path, start_text, expected] of [
      [mixed, "one\r\ntwo", "one\r\ntwo"],
      [mixed, "two\r\nthree", "two\nthree"],
      [dos, "one\r\ntwo", "one\ntwo"],
      [dos, "one\ntwo", "one\ntwo"],
    ] as const) {
      await a.nvim.type("<Esc>");
      await open(a, path, { start_text });
      await selects(a, `${path}: ${start_text}`, { mode: "v", text: expected });
    }
  });

  test("leaves the cursor alone until the user stops typing", async () => {
    await using a = await start();
    const path = a.file("main.lua", SOURCE);
    await a.edit(a.file("other.txt", ""));
    await a.nvim.type("ihello ");
    await open(a, path, { start_text: "function b" });
    await a.nvim.plays("world  lines = hello world  other.txt:*");
    await a.nvim.type("<Esc>");
    await selects(a, "the selection", { mode: "v", text: "function b" });
    expect(a.read("main.lua")).toBe(SOURCE);
  });

  test("also selects when called in terminal mode", async () => {
    await using a = await start();
    const path = a.file("main.lua", SOURCE);
    await a.edit(a.file("other.txt", ""));
    await a.nvim.plays(":split | terminal cat<CR>i  mode t");
    await open(a, path, { start_text: "function b" });
    await selects(a, "the selection", { mode: "v", text: "function b" });
  });

  test("replaces no terminal, tree, float or unsaved buffer", async () => {
    await using a = await start();
    const path = a.file("main.lua", SOURCE);
    await a.nvim.command("terminal cat");
    await open(a, path);
    await a.nvim.plays(`
      <Ignore>   windows main.lua terminal
      :set nohidden | only | edit notes.txt | call setline(1, 'mine')
    `);
    await open(a, path);
    await a.nvim.plays(
      "<Ignore>  main.lua:*  windows main.lua notes.txt  {getbufline('notes.txt', 1)} ['mine']",
    );
  });

  test("keeps edits when another program creates the file, without a question", async () => {
    await using a = await start();
    const path = a.path("odd '[New]' name.txt");
    const buf = await a.edit(path);
    await a.nvim.plays("imine<Esc>omore<Esc>  lines = mine|more");
    writeFileSync(path, "theirs\n");
    await a.call("document_reload", { path });
    expect(await a.lines(buf)).toEqual(["mine", "more"]);
    await a.nvim.plays(":checktime  {&modified} 1");
    expect((await a.answer("document_save", { path })).error?.message).toContain("changed on disk");
    expect(await a.nvim.lua("return (pcall(vim.cmd, 'write'))")).toBe(false);
    expect(a.read("odd '[New]' name.txt")).toBe("theirs\n");
    // Later writes do not change that. Once the file was read, it is treated like any other file.
    for (const [text, command, lines] of [
      ["theirs again", "", ["mine", "more"]],
      ["theirs for good", "edit!", ["theirs for good"]],
    ] as const) {
      await a.nvim.command(command);
      writeFileSync(path, `${text}\n`);
      await a.call("document_reload", { path });
      expect(await a.lines(buf)).toEqual([...lines]);
    }
    await a.nvim.type("x");
    expect(await a.call("document_save", { path })).toEqual({ saved: true });
  });

  test("reads a file that another program creates for an unmodified buffer", async () => {
    await using a = await start();
    const path = a.path("template.txt");
    const buf = await a.edit(path);
    await a.nvim.command("call setline(1, 'template') | set nomodified");
    writeFileSync(path, "theirs\n");
    await a.call("document_reload", { path });
    expect(await a.lines(buf)).toEqual(["theirs"]);
  });

  test.each([
    ["in place", true],
    ["in place", false],
    ["by rename", true],
    ["by rename", false],
  ])("watches a file after an accept: written %s, there before: %p", async (how, exists) => {
    await using a = await start();
    const path = a.path("x.txt");
    if (exists) a.file("x.txt", "one\n");
    await a.nvim.command("set noautoread | edit x.txt");
    const id = await a.propose(path, "two\n");
    await a.nvim.type("<CR>");
    await a.outcome(id);
    if (how === "in place") writeFileSync(path, "two\n");
    else renameSync(a.file("new.txt", "two\n"), path);
    await a.nvim.plays(`
      <Ignore>     x.txt:*   lines = two   {&modified} 0
      :checktime   mode n
    `);
  });

  test("enters a buffer whose file changed without a question", async () => {
    await using a = await start();
    const edited = a.file("edited.txt", "one\n");
    const other = a.file("other.txt", "two\n");
    for (const [method, params] of [
      ["document_open", { path: edited, front: true }],
      ["tab_close", { path: other }],
    ] as const) {
      await a.nvim.command(
        `edit ${edited} | set noautoread | call setline(1, "mine") | edit ${other}`,
      );
      a.file("edited.txt", "written outside\n");
      await a.call(method, params);
      await a.nvim.plays(`
        <Ignore>   mode n   lines = mine
        :edit!
      `);
    }
  });

  test("closes a file with tab_close, but keeps pinned windows, all windows and marks", async () => {
    await using a = await opened("one\n");
    const path = a.main;
    await a.nvim.command("normal! mA");
    await a.nvim.command("setlocal winfixbuf");
    expect(await a.answer("tab_close", { path })).toMatchObject({ error: { code: "pinned" } });
    await a.nvim.command("setlocal nowinfixbuf | vsplit");
    expect(await a.call("tab_close", { path })).toEqual({ closed: true });
    await a.nvim.plays(`
      <Ignore>   windows 2
      \`A        main.txt:*
    `);
  });
});
