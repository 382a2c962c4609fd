import { writeFileSync } from "node:fs";
import { NEOVIMS } from "#test";
import { Attached } from "../attached";

const UI = { width: 150, height: 40 };
const OLD = "one\ntwo\nthree\nfour\nfive\n";
const NEW = "ONE\ntwo\nthree\nfour\nfive\n";
const MERGED = "ONE\ntwo\nthree\nfour\nfive and mine\n";

describe.each(NEOVIMS)("$name", (version) => {
  let a: Attached;
  let buf: number;
  let proposal: string;
  afterEach(() => a[Symbol.asyncDispose]());

  /** A file with unsaved edits of its last line, and a proposal that changes its first. */
  async function start(more: { old?: string; edit?: string; proposal?: string } = {}) {
    a = await Attached.asNew({ version, ui: UI });
    buf = await a.edit(a.file("main.txt", more.old ?? OLD));
    await a.nvim.type(more.edit ?? "GA and mine<Esc>gg");
    await a.attach();
    proposal = more.proposal ?? NEW;
    await a.propose(a.main, proposal);
    await a.plays(":Claude diff  diffs shown 1");
  }
  const merge = () => a.plays("gm  says the proposal has your edits now");
  const editLater = () =>
    a.nvim.lua("vim.api.nvim_buf_set_lines(..., 2, 3, false, { 'later' })", buf);
  /** Accepts; the client writes what it gets. */
  const accept = async () => {
    await a.plays("<CR>  ended = accepted");
    const text = a.ended[0]?.text ?? proposal;
    writeFileSync(a.main, text);
    return text;
  };
  const bufferHas = (text: string, isModified: boolean) =>
    a.plays(`<Ignore>  {join(getbufline(${buf}, 1, '$'), '|')} ${text.trimEnd().replaceAll("\n", "|")}
      {getbufvar(${buf}, '&modified')} ${isModified ? 1 : 0}`);

  test("writes both when merged and accepted, and saves the buffer", async () => {
    await start();
    await merge();
    expect(await accept()).toBe(MERGED);
    await bufferHas(MERGED, false);
    // Nothing is lost: undo leads back to what was unsaved.
    await a.plays(`<Ignore>  diffs gone  {bufnr()} ${buf}`);
    await a.nvim.command("undo");
    await bufferHas(OLD.replace("five", "five and mine"), true);
  });

  test("keeps the proposal's CRLF, missing last newline and BOM", async () => {
    const old = "\uFEFFone\r\ntwo\r\nthree\r\nfour\r\nfive";
    await start({ old, proposal: `\uFEFF${NEW.trimEnd()}` });
    await merge();
    expect(await accept()).toBe(`\uFEFF${MERGED.trimEnd()}`);
  });

  test.each([
    ["undone", "u"],
    ["undone and edited further", "uGox<Esc>"],
    ["the hunk with the edits dropped", "gg]cgr"],
    ["another hunk chosen", "ggga"],
  ])("merged, but %s: the buffer keeps its edits beside the accepted", async (_, keys) => {
    const six = { old: `${OLD}six\n`, proposal: `${NEW}six\n` };
    await start({ ...six, edit: "4GA and mine<Esc>gg" });
    await merge();
    await a.nvim.type(keys);
    const accepted = await accept();
    expect(accepted).not.toContain("and mine");
    await bufferHas(accepted.replace("four", "four and mine"), true);
  });

  test("keeps later edits of the buffer after a merge", async () => {
    await start();
    await merge();
    await editLater();
    expect(await accept()).toBe(MERGED);
    await bufferHas(MERGED.replace("three", "later"), true);
  });

  test("counts as merged when undone and done again", async () => {
    await start();
    await merge();
    await a.nvim.type("u<C-r>Gox<Esc>");
    expect(await accept()).toBe(`${MERGED}x\n`);
    await bufferHas(`${MERGED}x\n`, false);
  });

  test("marks conflicts, and accepts nothing until they are resolved", async () => {
    await start({ proposal: OLD.replace("five", "FIVE") });
    const marked =
      "<<<<<<< your unsaved edits|five and mine|||||||| the file on disk|five|=======|FIVE|>>>>>>> Claude's proposal";
    await a.plays(`
      :Claude diff merge   says 1 conflict with your unsaved edits   lines ${marked}
      <CR>                 says conflicts are left in the proposal   ended =
      :w<CR>               ended =
      :Claude diff accept  ended =
    `);
    await a.nvim.type(":5,10d<CR>0CFIVE and mine<Esc>");
    expect(await accept()).toBe(OLD.replace("five", "FIVE and mine"));
  });

  test("merges edits after a merge, too", async () => {
    await start();
    await merge();
    await editLater();
    await a.nvim.type("gm");
    expect(await accept()).toBe(MERGED.replace("three", "later"));
  });

  test("says that there is nothing to merge", async () => {
    await start({ edit: "gg" });
    await a.plays(`
      gm     says no unsaved edits
      <CR>   ended accepted   text as proposed
    `);
  });
});
