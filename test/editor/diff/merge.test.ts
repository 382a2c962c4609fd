import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { eventually } from "../../support/eventually";
import { NEOVIMS } from "../../support/neovim";
import { Attached } from "../attached";

const UI = { width: 150, height: 40 };
const OLD = "one\ntwo\nthree\nfour\nfive\n";
const NEW = "ONE\ntwo\nthree\nfour\nfive\n";
const MERGED = "ONE\ntwo\nthree\nfour\nfive and mine\n";

describe.each(NEOVIMS)("$name", (version) => {
  /** A file with unsaved edits of its last line, and a proposal that changes its first. */
  async function start(
    options: { old?: string; edit?: string; proposal?: string; env?: Record<string, string> } = {},
  ) {
    const a = await Attached.asNew({ version, ui: UI, ...(options.env && { env: options.env }) });
    const path = a.file("main.txt", options.old ?? OLD);
    const buf = await a.edit(path);
    await a.nvim.type(options.edit ?? "GA and mine<Esc>gg");
    await a.attach();
    const proposal = options.proposal ?? NEW;
    const id = await a.propose(path, proposal);
    const said = (text: string) => a.says(text);
    const merge = async () => {
      await a.nvim.type("gm");
      await said("your unsaved edits are in the proposal now");
    };
    const buffer = () =>
      a.nvim.lua(
        "return { table.concat(vim.api.nvim_buf_get_lines(..., 0, -1, false), '\\n') .. '\\n', vim.bo[...].modified }",
        buf,
      );
    /** Accepts; the client writes what it gets. */
    const accept = async () => {
      await a.nvim.type("<CR>");
      const { text = proposal } = await a.outcome(id);
      writeFileSync(path, text);
      return text;
    };
    const bufferHas = (text: string, isModified: boolean) =>
      eventually("the buffer", async () => expect(await buffer()).toEqual([text, isModified]));
    return { a, buf, said, merge, bufferHas, accept };
  }

  test("merged and accepted: the file has both, and so has the buffer, saved", async () => {
    const { a, buf, said, merge, bufferHas, accept } = await start();
    await using _ = a;
    await said("gm or :Claude diff merge merges them in");
    await merge();
    expect(await accept()).toBe(MERGED);
    await bufferHas(MERGED, false);
    // Nothing is lost: undo leads back to what was unsaved.
    await a.cleared();
    await a.nvim.command("undo");
    await bufferHas(OLD.replace("five", "five and mine"), true);
    expect(await a.nvim.lua("return vim.fn.bufnr()")).toBe(buf);
  });

  test("CRLF, a missing last newline and a BOM stay the proposal's", async () => {
    const { a, merge, accept } = await start({
      old: "\uFEFFone\r\ntwo\r\nthree\r\nfour\r\nfive",
      proposal: "\uFEFFONE\ntwo\nthree\nfour\nfive",
    });
    await using _ = a;
    await merge();
    expect(await accept()).toBe(`\uFEFF${MERGED.trimEnd()}`);
  });

  test.each([
    ["undone", "u"],
    ["undone and edited on", "uGAx<Esc>"],
    ["the hunk with the edits dropped", "gg]cgr"],
    ["another hunk chosen", "ggga"],
  ])("merged, but %s before the accept: the buffer keeps its edits", async (_, keys) => {
    const { a, said, merge, bufferHas, accept } = await start();
    await using _a = a;
    await merge();
    await a.nvim.type(keys);
    expect(await accept()).toBe(keys.includes("x") ? NEW.replace("five", "fivex") : NEW);
    await said("it has unsaved edits, which are kept");
    await bufferHas(OLD.replace("five", "five and mine"), true);
  });

  test("merged, but the buffer edited on before the accept: it keeps its edits", async () => {
    const { a, buf, said, merge, bufferHas, accept } = await start();
    await using _ = a;
    await merge();
    await a.nvim.lua("vim.api.nvim_buf_set_lines(..., 1, 2, false, { 'later' })", buf);
    expect(await accept()).toBe(MERGED);
    await said("it has unsaved edits, which are kept");
    await bufferHas("one\nlater\nthree\nfour\nfive and mine\n", true);
  });

  test("merged, lines that the edits deleted put back: the buffer keeps the edits", async () => {
    for (const [keys, kept] of [
      ["gg]cgr", true],
      ["3Gofour<Esc>", true],
      ["ggjofour<Esc>", true],
      ["gggr", false],
    ] as const) {
      const { a, said, merge, bufferHas, accept } = await start({ edit: "4Gdd" });
      await using _ = a;
      await merge();
      await a.nvim.type(keys);
      const accepted = await accept();
      const edited = OLD.replace("four\n", "");
      await bufferHas(kept ? edited : accepted, kept);
      if (kept) await said("it has unsaved edits, which are kept");
    }
  });

  test("undone and done again counts as merged", async () => {
    const { a, merge, bufferHas, accept } = await start();
    await using _ = a;
    await merge();
    await a.nvim.type("u<C-r>Gox<Esc>");
    expect(await accept()).toBe(`${MERGED}x\n`);
    await bufferHas(`${MERGED}x\n`, false);
  });

  test("conflicts: marked, not to be accepted while there are some, then resolved", async () => {
    const { a, said, accept } = await start({ proposal: OLD.replace("five", "FIVE") });
    await using _ = a;
    await a.nvim.command("Claude diff merge");
    await said("1 conflict with your unsaved edits");
    const lines = await a.nvim.lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, false)");
    expect(lines.slice(4)).toEqual([
      "<<<<<<< your unsaved edits",
      "five and mine",
      "||||||| the file on disk",
      "five",
      "=======",
      "FIVE",
      ">>>>>>> Claude's proposal",
    ]);
    await a.nvim.type("<CR>");
    await said("conflicts are left in the proposal");
    await a.nvim.type(":w<CR>");
    await a.nvim.lua("require('port').accept()");
    expect(a.ended).toEqual([]);
    await a.nvim.type(":5,10d<CR>0CFIVE and mine<Esc>");
    expect(await accept()).toBe(OLD.replace("five", "FIVE and mine"));
  });

  test("without git: a message, nothing changes", async () => {
    const { a, said, accept } = await start({ env: { PATH: "/nonexistent" } });
    await using _ = a;
    await a.nvim.type("gm");
    await said("needs git: `git` is not on $PATH");
    expect(await accept()).toBe(NEW);
    await said("it has unsaved edits, which are kept");
  });

  test("edits after a merge can be merged, too", async () => {
    const { a, buf, merge, accept } = await start();
    await using _ = a;
    await merge();
    await a.nvim.lua("vim.api.nvim_buf_set_lines(..., 2, 3, false, { 'later' })", buf);
    await a.nvim.type("gm");
    expect(await accept()).toBe(MERGED.replace("three", "later"));
  });

  test("nothing to merge is said", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    const id = await a.propose(a.main, NEW);
    await a.nvim.type("gm");
    await a.says("no unsaved edits");
    await a.accepts(id);
  });
});
