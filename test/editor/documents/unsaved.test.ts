import { readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { eventually, NEOVIMS, oneLine } from "#test";
import { Attached } from "../attached";

const LINES = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);
const text = (lines: string[]) => lines.map((line) => `${line}\n`).join("");
/** Replaces some lines of the text. */
const having = (changes: Record<number, string>, lines = LINES) =>
  lines.map((line, i) => changes[i + 1] ?? line);

describe.each(NEOVIMS)("$name", (version) => {
  const UI = { width: 120, height: 40 };
  /** Starts with a client, so that files are followed. */
  const open = async (content: string | Uint8Array = text(LINES), before = "") => {
    const a = await Attached.asNew({ version, ui: UI });
    await a.edit(a.file("main.txt", content));
    if (before) await a.nvim.type(before);
    await a.attach();
    await a.call("clients", { clients: [{ id: 1, name: "claude-code" }] });
    return a;
  };
  const isModified = (a: Attached) => a.nvim.lua<boolean>("return vim.bo.modified");
  const shows = (a: Attached, lines: string[], modified = true) =>
    eventually("both texts", async () =>
      expect([await a.lines(), await isModified(a)]).toEqual([lines, modified]),
    );
  /** Runs `:w`, which must not ask. */
  const saves = async (a: Attached, content: string | Uint8Array) => {
    await a.nvim.type(":silent write<CR>");
    expect(await a.mode()).toBe("n");
    expect(readFileSync(a.main)).toEqual(Buffer.from(content));
    expect(await isModified(a)).toBe(false);
  };

  test("merges repeated outside edits with unsaved ones, each in one undo step", async () => {
    await using a = await open();
    await a.nvim.type("Gomine<Esc>20GA mine<Esc>");
    await a.nvim.lua(`
      NS = vim.api.nvim_create_namespace("test")
      vim.api.nvim_buf_set_extmark(0, NS, 29, 2, {})
      vim.cmd("10mark a | setlocal foldmethod=manual | 32,35fold | normal! 20Gzt3l")`);
    const mine = [...having({ 20: "line 20 mine" }), "mine"];
    for (const count of [1, 2, 3]) {
      const top = Array.from({ length: count }, (_, i) => `top ${i}`);
      writeFileSync(a.main, text([...top, ...LINES]));
      await shows(a, [...top, ...mine]);
    }
    expect(
      await a.nvim.lua<unknown>(`return {
        vim.api.nvim_buf_get_extmarks(0, NS, 0, -1, {})[1][2], vim.api.nvim_buf_get_mark(0, "a")[1],
        vim.fn.foldclosed(36), vim.fn.line("."), vim.fn.line("w0"), vim.fn.col("."), vim.fn.mode() }`),
    ).toEqual([32, 13, 35, 23, 23, 12, "n"]);
    expect(await a.messages()).not.toContain("unsaved");
    await a.nvim.plays(`
      u     lines = top 0|top 1|${mine.join("|")}
      uuu   lines = ${[...LINES, "mine"].join("|")}   {&modified} 1
      <C-r><C-r><C-r><C-r>
    `);
    await saves(a, text(["top 0", "top 1", "top 2", ...mine]));
  });

  test("merges a text that was just written before :w, but not before :w!", async () => {
    await using a = await open();
    /** Writes and saves at the same moment. */
    const write = async (command: string, line: string, both: string[]) => {
      const lines = JSON.stringify(text(having({ 1: line })).trimEnd());
      await a.nvim.plays(`
        :call writefile(split(${lines}, "\\n"), "main.txt") | silent ${command}
        <Ignore>   lines = ${both.join("|")}   disk main.txt = ${both.join("|")}|
      `);
    };
    await a.nvim.type("Gomine<Esc>");
    const both = [...having({ 1: "theirs" }), "mine"];
    await write("write", "theirs", both);
    await a.nvim.type("Gonow<Esc>");
    await write("write!", "lost", [...both, "now"]);
  });

  const [OURS, BASE] = ["<<<<<<< your unsaved edits", "||||||| before both"];
  const CONFLICT = [OURS, "mine", BASE, "line 3", "=======", "theirs", ">>>>>>> the file on disk"];

  test.each(["gm", ":Claude diff merge"])("merges conflicts with %s", async (keys) => {
    await using a = await open();
    await a.nvim.type("3Gccmine<Esc>30G");
    const [theirs, mine] = [
      having({ 3: "theirs", 10: "theirs, too" }),
      having({ 3: "mine" }).join("|"),
    ];
    writeFileSync(a.main, text(theirs));
    const status = "{v:lua.require'claude-code'.statusline()}";
    const merged = [...theirs.slice(0, 2), ...CONFLICT, ...theirs.slice(3)].join("|");
    await a.nvim.plays(`
      <Ignore>   says gm merges main.txt with your unsaved edits, which conflict   ${status} /gm merges main.txt/
                 lines = ${mine}   disk main.txt = ${theirs.join("|")}|
      ${keys}    says resolve 1 conflict, then :w; u undoes the merge   ${status} ! gm
                 lines = ${merged}   :3   {maparg('gm', 'n')} =
      u          lines = ${mine}
      <C-r>:5,9delete<CR>:3delete<CR>
    `);
    await saves(a, text(having({ 3: "mine", 10: "theirs, too" })));
  });

  test("merges automatically once a conflicting edit was undone", async () => {
    await using a = await open();
    await a.nvim.type("Gomine<Esc>3Gccmine<Esc>");
    writeFileSync(a.main, text(having({ 3: "theirs" })));
    await a.says("which conflict");
    const both = text([...having({ 3: "theirs" }), "mine"]);
    await a.nvim.plays(`u:silent write<CR>  disk main.txt = ${oneLine(both)}`);
  });

  test("does not touch a buffer in which a plugin shows other text", async () => {
    await using a = await open();
    await a.nvim.command("autocmd BufReadPost *.rot normal! ggg?G");
    const path = a.file("x.rot", "frperg\n");
    await a.edit(path);
    for (const [written, shown] of [
      ["uryyb\n", "hello"],
      ["tbbq\n", "good"],
    ] as const) {
      writeFileSync(path, written);
      await a.nvim.plays(`<Ignore>  lines = ${shown}`);
    }
  });

  test("waits for the end of insert mode and of a command line", async () => {
    await using a = await open();
    for (const [index, [begin, end]] of [
      ["Gomine", " typed<Esc>"],
      [":$delete", "<CR>"],
    ].entries()) {
      const before = await a.lines();
      await a.nvim.type(begin as string);
      const during = await a.lines();
      writeFileSync(a.main, text([`top ${index}`, ...LINES]));
      // The plugin looks several times.
      await Bun.sleep(700);
      expect(await a.lines()).toEqual(during);
      if (index === 0) {
        const { error } = await a.answer("document_save", { path: a.main });
        expect(error?.message).toContain("changed on disk");
      }
      await a.nvim.type(end as string);
      const rest = index === 0 ? [...LINES, "mine typed"] : before.slice(1, -1);
      await shows(a, [`top ${index}`, ...rest], index === 0);
    }
  });

  test("merges into buffers with two windows or no window, and edits from before Claude started", async () => {
    await using a = await open(undefined, "Gomine<Esc>:split<CR>gg");
    const buf = await a.nvim.lua<number>("return vim.fn.bufnr()");
    writeFileSync(a.main, text(["theirs", ...LINES]));
    await shows(a, ["theirs", ...LINES, "mine"]);
    await a.nvim.plays(`
      <Ignore>       {nvim_list_wins()->map('line(".", v:val)')} [2, 42]
      :only | enew
    `);
    writeFileSync(a.main, text(["theirs", "again", ...LINES]));
    await eventually("both texts", async () =>
      expect(await a.lines(buf)).toEqual(["theirs", "again", ...LINES, "mine"]),
    );
  });

  const dos = (lines: string[]) => lines.map((line) => `${line}\r\n`).join("");
  const bom = (lines: string[]) => `\uFEFF${text(lines)}`;
  const X = having({ 1: "x" });
  const BOTH = [...X, "mine"];
  test.each<[string, string | Uint8Array, string | Uint8Array, string | Uint8Array]>([
    ["CRLF", dos(LINES), dos(X), dos(BOTH)],
    ["a BOM", bom(LINES), bom(having({ 2: "x" })), bom([...having({ 2: "x" }), "mine"])],
    ["no last line end, which the file gets", text(LINES).slice(0, -1), text(X), text(BOTH)],
  ])("keeps %s", async (_name, before, theirs, both) => {
    await using a = await open(before);
    await a.nvim.command("setlocal nofixendofline");
    await a.nvim.type("Gomine<Esc>");
    writeFileSync(a.main, theirs);
    await a.nvim.plays("<Ignore>  {search('^x$', 'nw') > 0} 1");
    await saves(a, both);
  });

  test.each<[string, string | Uint8Array]>([
    ["line ends", dos(X)],
    ["its encoding", new Uint8Array([0xe4, 0x0a])],
    ["bytes that are not text", "a\0b\n"],
    [
      "more lines than are merged in 100 ms",
      text(Array.from({ length: 30_000 }, (_, i) => `${i}`)),
    ],
  ])("changes nothing if the file changed %s", async (_name, theirs) => {
    await using a = await open();
    await a.nvim.type("Gomine<Esc>");
    writeFileSync(a.main, theirs);
    await a.says(":w! overwrites main.txt, :e! loads it");
    await a.nvim.type("gm");
    expect(await a.lines()).toEqual([...LINES, "mine"]);
  });

  test("merges as git does", async () => {
    await using a = await Attached.asNew({ version, ui: UI });
    const line = fc.constantFrom(..."abcdefgh");
    const change = fc.tuple(fc.nat(12), fc.nat(2), fc.array(line, { maxLength: 2 }));
    const input = fc.tuple(fc.array(line, { maxLength: 12 }), fc.array(change), fc.array(change));
    const labels = ["ours", "base", "theirs"];
    await fc.assert(
      fc.asyncProperty(input, async ([base, ...changes]) => {
        const [ours, theirs] = changes.map((list) => {
          const lines = [...base];
          for (const [at, count, added] of list.slice(0, 3)) lines.splice(at, count, ...added);
          return lines;
        }) as [string[], string[]];
        const files = [ours, base, theirs].map((lines, i) => a.file(`${i}.txt`, text(lines)));
        const options = labels.flatMap((label) => ["-L", label]);
        const git = Bun.spawnSync(["git", "merge-file", "-p", "--diff3", ...options, ...files], {
          cwd: a.nvim.cwd,
        });
        const merged = await a.nvim.lua<[string[], number]>(
          "return { require('claude-code.editor.documents.merge').three_way(...) }",
          ...[ours, base, theirs, labels],
        );
        expect([text(merged[0]), merged[1]]).toEqual([git.stdout.toString(), git.exitCode]);
      }),
      { numRuns: 200 },
    );
  });
});
