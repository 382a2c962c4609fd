import { writeFileSync } from "node:fs";
import { eventually, NEOVIMS } from "#test";
import { Attached } from "../attached";

const UI = { width: 150, height: 40 };
const OLD = "one\ntwo\nthree\nfour\nfive\n";
const NEW = "ONE\ntwo\nthree\nfour\nfive\n";
const MERGED = "ONE\ntwo\nthree\nfour\nfive and mine\n";

describe.each(NEOVIMS)("$name", (version) => {
  let a: Attached;
  let buf: number;
  let id: number;
  let proposal: string;
  afterEach(() => a[Symbol.asyncDispose]());

  /** A file with unsaved edits of its last line, and a proposal that changes its first. */
  async function start(
    options: { old?: string; edit?: string; proposal?: string; env?: Record<string, string> } = {},
  ) {
    a = await Attached.asNew({ version, ui: UI, ...(options.env && { env: options.env }) });
    buf = await a.edit(a.file("main.txt", options.old ?? OLD));
    await a.nvim.type(options.edit ?? "GA and mine<Esc>gg");
    await a.attach();
    proposal = options.proposal ?? NEW;
    id = await a.proposeAndShow(a.main, proposal);
  }
  const merge = async () => {
    await a.nvim.type("gm");
    await a.says("the proposal has your edits now");
  };
  /** Accepts; the client writes what it gets. */
  const accept = async () => {
    await a.nvim.type("<CR>");
    const { text = proposal } = await a.outcome(id);
    writeFileSync(a.main, text);
    return text;
  };
  const bufferHas = (text: string, isModified: boolean) =>
    eventually("the buffer", async () => {
      const now = await a.nvim.lua("return vim.bo[...].modified", buf);
      expect([`${(await a.lines(buf)).join("\n")}\n`, now]).toEqual([text, isModified]);
    });

  test("merged and accepted: the file has both, and so has the buffer, saved", async () => {
    await start();
    await a.says("gm or :Claude diff merge merges them in");
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
    await start({
      old: "\uFEFFone\r\ntwo\r\nthree\r\nfour\r\nfive",
      proposal: "\uFEFFONE\ntwo\nthree\nfour\nfive",
    });
    await merge();
    expect(await accept()).toBe(`\uFEFF${MERGED.trimEnd()}`);
  });

  test.each([
    ["undone", "u"],
    ["undone and edited on", "uGox<Esc>"],
    ["the hunk with the edits dropped", "gg]cgr"],
    ["another hunk chosen", "ggga"],
  ])(
    "merged, but %s before the accept: the buffer keeps its edits beside the accepted",
    async (_, keys) => {
      await start({
        edit: "4GA and mine<Esc>gg",
        old: "one\ntwo\nthree\nfour\nfive\nsix\n",
        proposal: "ONE\ntwo\nthree\nfour\nfive\nsix\n",
      });
      await merge();
      await a.nvim.type(keys);
      const accepted = await accept();
      expect(accepted).not.toContain("and mine");
      await bufferHas(accepted.replace("four", "four and mine"), true);
    },
  );

  test("merged, but the buffer edited on before the accept: it keeps its edits", async () => {
    await start();
    await merge();
    await a.nvim.lua("vim.api.nvim_buf_set_lines(..., 2, 3, false, { 'later' })", buf);
    expect(await accept()).toBe(MERGED);
    await bufferHas(MERGED.replace("three", "later"), true);
  });

  test("undone and done again counts as merged", async () => {
    await start();
    await merge();
    await a.nvim.type("u<C-r>Gox<Esc>");
    expect(await accept()).toBe(`${MERGED}x\n`);
    await bufferHas(`${MERGED}x\n`, false);
  });

  test("conflicts: marked, not to be accepted while there are some, then resolved", async () => {
    await start({ proposal: OLD.replace("five", "FIVE") });
    await a.nvim.command("Claude diff merge");
    await a.says("1 conflict with your unsaved edits");
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
    await a.says("conflicts are left in the proposal");
    await a.nvim.type(":w<CR>");
    await a.nvim.lua("require('port').accept()");
    expect(a.ended).toEqual([]);
    await a.nvim.type(":5,10d<CR>0CFIVE and mine<Esc>");
    expect(await accept()).toBe(OLD.replace("five", "FIVE and mine"));
  });

  test("edits after a merge can be merged, too", async () => {
    await start();
    await merge();
    await a.nvim.lua("vim.api.nvim_buf_set_lines(..., 2, 3, false, { 'later' })", buf);
    await a.nvim.type("gm");
    expect(await accept()).toBe(MERGED.replace("three", "later"));
  });

  test("nothing to merge is said", async () => {
    await start({ edit: "gg" });
    await a.nvim.type("gm");
    await a.says("no unsaved edits");
    await a.accepts(id);
  });
});
