import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, NEOVIMS } from "#test";
import { Attached } from "../attached";

const UI = { width: 120, height: 40 };

const selected = `
  local from, to = vim.fn.getpos("v"), vim.fn.getpos(".")
  return { mode = vim.api.nvim_get_mode().mode, text = table.concat(vim.fn.getregion(from, to, { type = "v" }), "\\n") }`;

/** A search that goes on for longer than a moment, as on a busy machine, pauses: its selection comes later. */
const selects = (a: Attached, what: string, expected: { mode: string; text: string }) =>
  eventually(what, async () => expect(await a.nvim.lua(selected)).toEqual(expected));

describe.each(NEOVIMS)("$name", (version) => {
  const start = () => Attached.attached({ version, ui: UI });
  const opened = (text: string) => Attached.opened({ version, ui: UI }, text);
  const open = (a: Attached, path: string, more: object = {}) =>
    a.call("document_open", { path, front: true, select_to_eol: false, ...more });

  test("a file that changes beneath unsaved edits again and again leaves no autocommands", async () => {
    await using a = await opened("one\n");
    const path = a.main;
    const count = () => a.nvim.lua<number>("return #vim.api.nvim_get_autocmds({})");
    const before = await count();
    for (let i = 0; i < 3; i++) {
      await a.nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { ... })", `mine ${i}`);
      a.file("main.txt", `theirs, number ${i}\n`);
      await a.call("document_reload", { path });
      expect(await count()).toBeGreaterThan(before);
      await a.nvim.command("silent write!");
      expect(await count()).toBe(before);
    }
    expect(a.read("main.txt")).toBe("mine 2\n");
  });

  test("a symlinked folder or file finds the buffer that is open already", async () => {
    await using a = await start();
    const path = a.file("real/main.txt", "one\n");
    symlinkSync(a.path("real"), a.path("link"));
    symlinkSync(path, a.path("other.txt"));
    const buf = await a.edit(path);
    for (const name of ["link/main.txt", "other.txt", "real/../real//main.txt"]) {
      await open(a, `${a.nvim.cwd}/${name}`);
      expect(await a.nvim.lua("return vim.api.nvim_get_current_buf()")).toBe(buf);
    }
  });

  test("a buffer with edits is found by its file's name once a rename replaced what it links to", async () => {
    await using a = await start();
    const path = a.file("real.txt", "one\n");
    symlinkSync("real.txt", a.path("link.txt"));
    await a.edit(a.path("link.txt"));
    await a.nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'mine' })");
    renameSync(a.file("new.txt", "two\n"), path);
    expect(await a.call<string>("document_text", { path })).toBe("mine\n");
  });

  const RANGES: [string, object, string | null][] = [
    ["start only", { start_text: "function b" }, "function b"],
    [
      "start and end",
      { start_text: "function b", end_text: "end" },
      "function b()\n  return 'ä'\nend",
    ],
    ["the same text twice: its first occurrence", { start_text: "end", end_text: "end" }, "end"],
    [
      "an end within the start text: the start text",
      { start_text: "return '😀' end", end_text: "'" },
      "return '😀' end",
    ],
    [
      "no end before the start, on its line either",
      { start_text: "return", end_text: "function" },
      "return '😀' end\nfunction",
    ],
    ["over lines", { start_text: "b()\n  return" }, "b()\n  return"],
    ["CRLF in what is asked", { start_text: "b()\r\n  return" }, "b()\n  return"],
    ["plain text, no pattern", { start_text: "(.*)%a+[x]" }, "(.*)%a+[x]"],
    ["last character multibyte", { start_text: "'ä" }, "'ä"],
    [
      "to the end of the line",
      { start_text: "function", select_to_eol: true },
      "function a() return '😀' end",
    ],
    ["end not found: the start", { start_text: "function b", end_text: "nowhere" }, "function b"],
    ["not found: no selection", { start_text: "nowhere" }, null],
    ["end only", { end_text: "return" }, "return"],
  ];
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
      for (const [name, params, expected] of RANGES) {
        await a.nvim.type("<Esc>");
        await open(a, path, params);
        if (expected === null) expect([name, await a.mode()]).toEqual([name, "n"]);
        else await selects(a, `${option}: ${name}`, { mode: "v", text: expected });
      }
    }
    const left = await a.nvim.lua("return { vim.bo.modified, vim.o.selectmode }");
    expect(left).toEqual([false, "mouse,key,cmd"]);
  });

  test("selects over line ends as they are asked for and as the file has them", async () => {
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

  test("leaves a user who types where they are, until they stop", async () => {
    await using a = await start();
    const path = a.file("main.lua", SOURCE);
    const other = await a.edit(a.file("other.txt", ""));
    await a.nvim.type("ihello ");
    await open(a, path, { start_text: "function b" });
    await a.nvim.type("world");
    expect(await a.lines(other)).toEqual(["hello world"]);
    await a.nvim.type("<Esc>");
    await selects(a, "the selection", { mode: "v", text: "function b" });
    expect(a.read("main.lua")).toBe(SOURCE);
  });

  test("selects also when called in terminal mode", async () => {
    await using a = await start();
    const path = a.file("main.lua", SOURCE);
    await a.edit(a.file("other.txt", ""));
    await a.nvim.type(":split | terminal cat<CR>i");
    await a.inMode("t");
    await open(a, path, { start_text: "function b" });
    await selects(a, "the selection", { mode: "v", text: "function b" });
  });

  test("never replaces a terminal, tree, float or unsaved buffer", async () => {
    await using a = await start();
    const path = a.file("main.lua", SOURCE);
    await a.nvim.command("terminal cat");
    const terminal = await a.nvim.lua("return vim.api.nvim_get_current_buf()");
    await open(a, path);
    expect(await a.nvim.lua("return #vim.fn.win_findbuf(...)", terminal)).toBe(1);
    await a.nvim.lua(
      `vim.o.hidden = false vim.cmd.only() vim.cmd.edit("notes.txt") vim.api.nvim_buf_set_lines(0, 0, -1, false, { "mine" })`,
    );
    const notes = await a.nvim.lua<number>("return vim.api.nvim_get_current_buf()");
    await open(a, path);
    expect(await a.lines(notes)).toEqual(["mine"]);
    expect(await a.nvim.lua("return vim.api.nvim_buf_get_name(0)")).toBe(path);
  });

  test("a file made outside under unsaved edits: no question, edits kept, :w! only", async () => {
    await using a = await start();
    const path = a.path('odd "[New]" name.txt');
    const buf = await a.edit(path);
    await a.nvim.type("imine<Esc>omore<Esc>");
    writeFileSync(path, "theirs\n");
    await a.call("document_reload", { path });
    expect(await a.lines(buf)).toEqual(["mine", "more"]);
    expect(await a.nvim.lua("return vim.bo.modified")).toBe(true);
    await a.nvim.command("checktime");
    expect((await a.answer("document_save", { path })).error?.message).toContain("changed on disk");
    expect(await a.nvim.lua("return (pcall(vim.cmd, 'write'))")).toBe(false);
    expect(a.read('odd "[New]" name.txt')).toBe("theirs\n");
    // Later writes change nothing of that, and once the file was read, all is as with any other.
    writeFileSync(path, "theirs again\n");
    await a.call("document_reload", { path });
    expect(await a.lines(buf)).toEqual(["mine", "more"]);
    await a.nvim.command("edit!");
    writeFileSync(path, "theirs for good\n");
    await a.call("document_reload", { path });
    expect(await a.lines(buf)).toEqual(["theirs for good"]);
    await a.nvim.type("x");
    expect(await a.call("document_save", { path })).toEqual({ saved: true });
  });

  test("a file made outside under an unmodified buffer that has text: read, no question", async () => {
    await using a = await start();
    const path = a.path("template.txt");
    const buf = await a.edit(path);
    await a.nvim.lua(
      "vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'template' }) vim.bo.modified = false",
    );
    writeFileSync(path, "theirs\n");
    await a.call("document_reload", { path });
    expect(await a.lines(buf)).toEqual(["theirs"]);
  });

  test("after an accept the file is watched: written in place, by rename, or new", async () => {
    await using a = await start();
    await a.nvim.command("set noautoread");
    const write = {
      place: (path: string) => writeFileSync(path, "two\n"),
      rename: (path: string) => {
        writeFileSync(`${path}.tmp`, "two\n");
        renameSync(`${path}.tmp`, path);
      },
    };
    for (const [name, how] of Object.entries(write)) {
      for (const exists of [true, false]) {
        const path = join(a.nvim.cwd, `${name}-${exists}.txt`);
        if (exists) writeFileSync(path, "one\n");
        const buf = await a.edit(path);
        const id = await a.propose(path, "two\n");
        await a.nvim.type("<CR>");
        await a.outcome(id);
        how(path);
        await eventually(`${name}, ${exists}`, async () => (await a.lines(buf))[0] === "two");
        expect(await a.nvim.lua("return vim.bo[...].modified", buf)).toBe(false);
        await a.nvim.command("checktime");
        expect(await a.mode()).toBe("n");
      }
    }
  });

  test("a buffer whose file changed is entered without a question", async () => {
    await using a = await start();
    const edited = a.file("edited.txt", "one\n");
    const other = a.file("other.txt", "two\n");
    for (const [method, params] of [
      ["document_open", { path: edited, front: true }],
      ["tab_close", { path: other }],
    ] as const) {
      await a.edit(edited);
      await a.nvim.command("set noautoread");
      await a.nvim.lua('vim.api.nvim_buf_set_lines(0, 0, -1, false, { "mine" })');
      await a.edit(other);
      a.file("edited.txt", "written outside\n");
      await a.call(method, params);
      expect([method, await a.mode()]).toEqual([method, "n"]);
      expect(await a.nvim.lua("return vim.api.nvim_get_current_line()")).toBe("mine");
      await a.nvim.command("edit!");
    }
  });

  test("tab_close: no pinned window's file, no window lost, marks lead back", async () => {
    await using a = await opened("one\n");
    const path = a.main;
    await a.nvim.command("normal! mA");
    await a.nvim.command("setlocal winfixbuf");
    expect(await a.answer("tab_close", { path })).toMatchObject({
      error: { code: "pinned" },
    });
    await a.nvim.command("setlocal nowinfixbuf | vsplit");
    expect(await a.call("tab_close", { path })).toEqual({ closed: true });
    expect(await a.nvim.lua("return #vim.api.nvim_tabpage_list_wins(0)")).toBe(2);
    await a.nvim.type("`A");
    expect(await a.nvim.lua("return vim.api.nvim_buf_get_name(0)")).toBe(path);
  });
});
