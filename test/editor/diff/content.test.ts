import { truncateSync, writeFileSync } from "node:fs";
import { BOTH_NEOVIMS, claims, eventually, NEOVIMS, outcomeOf, platformSkip } from "#test";
import { MAX_MS, watchComputing } from "../../support/computing";
import { Attached } from "../attached";

const UI = { width: 120, height: 40 };

/** Differences besides the lines. */
const ENDS = [
  ["last newline removed", "a\n", "a"],
  ["last newline added", "a", "a\n"],
  ["line ends: CRLF to LF", "a\r\n", "a\n"],
  ["line ends: LF to CRLF", "a\n", "a\r\n"],
  ["byte order mark removed", "\uFEFFa\n", "a\n"],
  ["byte order mark added", "a\n", "\uFEFFa\n"],
] as const;

/** The groups from which the colours of both sides come. */
const colours = (a: Attached) =>
  a.nvim.lua<(string | false)[]>(`
    local buffers = require("port").diff_buffers()
    return vim.tbl_map(function(buf)
      return vim.treesitter.highlighter.active[buf] and "tree-sitter" or vim.b[buf].current_syntax or false
    end, { buffers.old, buffers.new })`);

describe.each(NEOVIMS)("$name", (version) => {
  test("decodes a file in UTF-16, unless it has a lone surrogate, which would crash Neovim", async () => {
    await using a = await Attached.start({ version, ui: UI });
    await a.attach();
    if ((await a.nvim.lua("return vim.iconv('aa', 'utf-16le', 'utf-8')")) !== "\u6161")
      return platformSkip("this Neovim has no iconv");
    for (const [bytes, decoded] of [
      [[0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, 0, 0xde], "a😀"],
      [[0xfe, 0xff, 0, 0x61, 0xd8, 0x3d, 0xde, 0], "a😀"],
      [[0xff, 0xfe, 0x61, 0, 0, 0xd8], undefined],
      [[0xfe, 0xff, 0, 0x61, 0xd8, 0, 0, 0x62], undefined],
    ] as const) {
      const id = await a.propose(a.file("main.txt", new Uint8Array(bytes)), "new\n");
      await a.shown();
      const shown = await a.nvim.lua<string>(`
        local buf = vim.fn.bufnr("claude-code://*on disk*")
        return vim.base64.encode(vim.api.nvim_buf_get_lines(buf, 0, -1, false)[1])`);
      expect(Buffer.from(shown, "base64")).toEqual(Buffer.from(decoded ?? bytes));
      await a.nvim.type("<CR>");
      await a.outcome(id);
    }
  });

  test("accepts a new file in a missing folder and unusual names, and refuses a folder", async () => {
    await using a = await Attached.attached({ version, ui: UI });
    for (const name of ["no/such/folder/neu.lua", "100% [1] #x $HOME äö '.lua", "a\nb.lua"]) {
      const id = await a.propose(a.path(name), "return 1\n");
      expect(await a.nvim.lua("return vim.bo.filetype")).toBe("lua");
      await a.accepts(id);
    }
    expect(await outcomeOf(a.propose(a.nvim.cwd, ""))).toThrow("is a folder");
    await a.says("is a folder: decide where Claude asks you");
  });

  test("lets the user edit the proposed side, not the old one, also for a read-only file", async () => {
    await using a = await Attached.opened({ version, ui: UI, args: ["-M"] }, "one\n");
    const id = await a.propose(a.main, "two\n");
    await a.nvim.type("<C-w>hx<C-w>lx<CR>");
    expect(await a.outcome(id)).toEqual({ id, outcome: "accepted", text: "wo\n" });
  });

  test("does not write or decide with :w other.txt, :saveas and an aborted :w", async () => {
    await using a = await Attached.attached({ version, ui: UI });
    await a.propose(a.file("main.txt", "one\n"), "two\nthree\n");
    for (const command of [":w other.txt", ":w! other.txt", ":saveas other.txt"]) {
      await a.plays(`
        ${command}<CR>   says other.txt was not written: a proposal is written only by   says ! traceback
                         {bufname()} /^claude-code:/
      `);
    }
    await a.plays(`
      :w<Esc>:1w!<CR>:wfoo<CR>   mode n   ended =   disk other.txt = absent
      :w<CR>                     ended = accepted   text as proposed   diffs gone
    `);
  });

  test.each(["vertical", "inline"])("restores the proposal after :edit! (%s)", async (layout) => {
    await using a = await Attached.attached({ version, ui: UI });
    await a.diffLayout(layout);
    const types =
      'TYPES = {} vim.api.nvim_create_autocmd("FileType", { callback = function(args) table.insert(TYPES, args.file) end })';
    await a.nvim.lua(types);
    for (const name of ["a.lua", "a.py"]) {
      const path = a.file(name, "x = 1\ny = 1\nz = 1\n");
      const proposal = "x = 2\ny = 1\nz = 2\n";
      const id = await a.propose(path, proposal);
      await a.nvim.type("x:e!<CR>uu");
      if (layout === "vertical") await a.nvim.type("<C-w>h:e!<CR>x<C-w>l");
      await eventually("the colours", async () => expect(await colours(a)).not.toContain(false));
      await a.nvim.plays(`
          <Ignore>   bar hunk 1/2 +2 −2
          Gdd        bar +1 −2
          u          bar +2 −2
        `);
      await a.accepts(id);
    }
    expect(await a.nvim.lua("return TYPES")).toEqual([]);
  });

  test.each(ENDS)("says in the bar: %s", async (words, old, proposal) => {
    await using a = await Attached.attached({ version, ui: UI });
    await a.propose(a.file("main.txt", old), proposal);
    await a.barShows(words);
  });

  test("leaves q to a macro that is recorded", async () => {
    await using a = await Attached.attached({ version, ui: UI });
    await a.propose(a.file("main.txt", "one\n"), "two\n");
    await a.nvim.lua('vim.api.nvim_feedkeys("ggqa", "n", false)');
    await a.plays(`
      xq   {reg_recording()} ${""}   {@a} x   ended =
      ZQ   ended = rejected
    `);
  });
});

describe.each(NEOVIMS)("big changes, in $name", (version) => {
  const lines = (word: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${word} ${i * 7}\n`).join("");
  const old = lines("old", 3_000);
  const many = lines("old", 19_999);
  const code = Array.from({ length: 12_000 }, (_, i) => `local value_${i} = f(${i})\n`).join("");
  test.each([
    ["inline", "unlike lines", old, old.replaceAll("old", "new")],
    ["inline", "more of them", many, many.replaceAll("old", "new")],
    ["inline", "thousands of hunks", many, many.replaceAll("0\n", "0!\n")],
    ["side by side", "hundreds of hunks", old, old.replaceAll("4\n", "4!\n")],
    ["side by side", "one line of many", many, many.replace("old 70\n", "new\n")],
    ["inline", "a long line", `${"x".repeat(240_000)}\n`, `${"y".repeat(240_000)}\n`],
    ["inline", "each second line", many, many.replaceAll(/4\n(.*)\n/g, "4!\n$1\n")],
    ["inline", "a new file", "", many],
    ["side by side", "code", code, code.replace("f(7)", "g(7)")],
  ])("%s, without a long pause: %s", async (where, what, before, after) => {
    claims("A big proposal does not freeze Neovim");
    await using a = await Attached.attached({ version, ui: UI });
    // The first diff loads everything that all diffs need.
    const first = await a.propose(a.file("small.txt", "old\n"), "new\n");
    await a.barShows("hunk 1/1");
    await a.rejects(first);
    let longest = Number.POSITIVE_INFINITY;
    // Other processes take Neovim's time, too: the least disturbed run counts.
    for (let run = 0; run < 3 && longest >= MAX_MS; run++) {
      const computed = await watchComputing(a.nvim);
      await a.nvim.command("messages clear");
      const id = await a.propose(a.file(what === "code" ? "a.lua" : "a.txt", before), after);
      await a.barShows("hunk 1/");
      expect(await a.nvim.lua("return vim.wo.diff")).toBe(where === "side by side");
      const message = "shown inline: the change is too big for diff mode";
      expect((await a.messages()).includes(message)).toBe(where === "inline");
      // The colours of the last hunks come later.
      await Bun.sleep(100);
      longest = Math.min(longest, await computed());
      await a.rejects(id);
    }
    expect(longest).toBeLessThan(MAX_MS);
  });

  test("draws the hunks on screen out of 10,000, wherever the cursor moves, and again after an edit", async () => {
    claims("A big proposal does not freeze Neovim");
    await using a = await Attached.attached({ version, ui: UI });
    let line = 0;
    const after = many.replaceAll("old", (word) => (line++ % 2 ? word : "new"));
    const id = await a.propose(a.file("a.txt", many), after);
    await a.barShows("hunk 1/10000");
    for (const [keys, shown] of [
      ["", "- old 0"],
      ["G", "- old 139972"],
      ["<C-u><C-u>", "- old 139818"],
      ["9999Gdd", "- old 69972"],
    ] as const) {
      await a.nvim.type(keys);
      await eventually(shown, async () => (await a.screen()).some((row) => row.includes(shown)));
      expect((await a.marks("diff.inline")).length).toBeLessThan(1_500);
    }
    await a.nvim.type("u");
    await a.rejects(id);
  });

  test.each(["histogram", "minimal"])("does not use the slow %s", async (algorithm) => {
    await using a = await Attached.asNew({ version, ui: UI });
    await a.nvim.command(`set diffopt+=algorithm:${algorithm}`);
    await a.attach();
    const after = many.split("\n").map((line, i) => (i % 2 ? line : `${line}!`));
    const computed = await watchComputing(a.nvim);
    await a.propose(a.file("big.txt", many), after.join("\n"));
    await a.barShows("hunk 1/");
    expect(await computed()).toBeLessThan(500);
  });

  test("marks thousands of hidden characters in one cell once, with some of their codes", async () => {
    await using a = await Attached.attached({ version, ui: UI });
    // Searching for the cell of each of them took minutes.
    const id = await a.propose(a.file("main.txt", "x\n"), `x${"\u034f".repeat(30_000)}\u200by\n`);
    await a.barShows("hunk 1/1");
    const marks = await a.nvim.lua<string[]>(`
      local space = vim.api.nvim_get_namespaces()["claude-code.hidden"]
      local buf = require("port").diff_buffers().new
      return vim.tbl_map(function(mark)
        return mark[4].virt_text and mark[4].virt_text[1][1] or "as Neovim shows it"
      end, vim.api.nvim_buf_get_extmarks(buf, space, 0, -1, { details = true }))`);
    expect(marks).toEqual(["<034f>".repeat(10), "as Neovim shows it"]);
    await a.rejects(id);
  });

  test.each([
    ["too many bytes", `${"x".repeat(99)}\n`.repeat(11_000), "more than 1 MB"],
    ["too many lines", "x\n".repeat(20_001), "more than 20000 lines"],
    ["a line that is too long", "x".repeat(250_001), "a line of more than 250 KB"],
  ])("refuses %s on either side, and says so", async (_what, big, limit) => {
    claims("A big proposal does not freeze Neovim");
    await using a = await Attached.attached({ version, ui: UI });
    const buffers = "return #vim.api.nvim_list_bufs()";
    const before = await a.nvim.lua(buffers);
    const problem = `main.txt is too big for a diff (${limit})`;
    const path = a.file("main.txt", "one\n");
    expect(await outcomeOf(a.propose(path, big))).toThrow(problem);
    a.file("main.txt", big);
    expect(await outcomeOf(a.propose(path, "one\n"))).toThrow(problem);
    const renamed = a.propose(a.path("new.txt"), "one\n", { old_path: path });
    expect(await outcomeOf(renamed)).toThrow("too big");
    expect(await a.messages()).toContain(`${problem}: decide where Claude asks you`);
    expect(await a.nvim.lua(buffers)).toBe(before);
    // A smaller one is shown.
    a.file("main.txt", "one\n");
    await a.propose(path, "two\n");
    await a.barShows("hunk 1/1");
  });

  test("does not read a file that becomes too big while its diff waits, and says so", async () => {
    await using a = await Attached.attached({ version, ui: UI });
    const path = a.file("main.txt", "one\n");
    const id = await a.propose(path, "two\n");
    await a.barShows("hunk 1/1");
    truncateSync(path, 20_000_000_000);
    await a.plays("<Ignore>  bars written since proposed, too big to be shown  old = one|");
    // It becomes small again.
    writeFileSync(path, "three\n");
    await a.plays("<Ignore>  bars ! too big  old = three|");
    await a.rejects(id);
  });
});

describe.each(NEOVIMS)("white space that 'diffopt' ignores, in $name", (version) => {
  test.each([
    ["iwhite", "if a:\n        b()\n"],
    ["iwhiteall", "if a :\n    b( )\n"],
    ["iwhiteeol", "if a:\n    b()  \n"],
    ["iblank", "if a:\n\n    b()\n"],
  ])("shows a change of white space that %s hides", async (flag, proposed) => {
    await using a = await Attached.asNew({ version, ui: UI });
    await a.nvim.command(`set diffopt+=${flag}`);
    await a.attach();
    const path = a.file("main.py", "if a:\n    b()\n");
    const id = await a.propose(path, proposed);
    await a.says("shown inline: 'diffopt' hides changes of white space");
    await a.plays("<Ignore>  {winnr('$')} 1  bar hunk 1/1");
    await a.rejects(id);
    // The text that it does not hide is shown side by side.
    await a.propose(path, "if a:\n    c()\n");
    await a.plays(`<Ignore>  {&diff} 1  {&diffopt} /${flag}/`);
  });
});

test.each(BOTH_NEOVIMS)("takes colours from the file's buffer in $name", async (version) => {
  await using a = await Attached.attached({ version, ui: UI });
  const path = a.file("main.lua", "return 1\n");
  const canParseInSteps = await a.nvim.lua<boolean>("return vim.fn.has('nvim-0.11') == 1");
  const sourceIs = async (wanted: string) => {
    const id = await a.propose(path, "return 2\n");
    await eventually("the colours", async () => expect(await colours(a)).toEqual([wanted, wanted]));
    await a.rejects(id);
  };
  await sourceIs("lua");
  const buf = await a.edit(path);
  await a.nvim.lua("vim.treesitter.start(..., 'lua')", buf);
  await sourceIs(canParseInSteps ? "tree-sitter" : "lua");
  await a.nvim.lua("vim.treesitter.stop(...) vim.bo[...].syntax = 'conf'", buf);
  await sourceIs("conf");
});
