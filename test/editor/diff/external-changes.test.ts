import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { NEOVIMS } from "#test";
import { Attached } from "../attached";

const UI = { width: 160, height: 40 };
const OLD = "one\ntwo\nthree\nfour\nfive\n";
const NEW = "ONE\ntwo\nthree\nfour\nfive\n";
const SAVED = "one\ntwo\nthree\nfour\nMY WORK\n";

const SHOWN = SAVED.replaceAll("\n", "|");

/** The window with the proposal. */
const ENTER = ":lua vim.api.nvim_set_current_win(require('port').diff_window())";

describe.each(NEOVIMS)("$name: the file is written while its diff waits", (version) => {
  async function start(layout = "vertical"): Promise<Attached> {
    const a = await Attached.attached({ version, ui: UI });
    await a.diffLayout(layout);
    await a.propose(a.file("main.txt", OLD), NEW);
    return a;
  }

  test.each(["vertical", "inline"])("asks after a write in another window (%s)", async (layout) => {
    await using a = await start(layout);
    await a.plays(`
        :topleft 8new ${a.main}      diffs shown 1
        GccMY WORK<Esc>:w<CR>        bars written since proposed   old = ${SHOWN}   says main.txt was written since
        ${ENTER}                     mode n
        <CR>                         says then accept again   ended =
      `);
    await a.accepts(a.last);
  });

  const ways = ["<CR>", ":w<CR>", ":wq<CR>", ":Claude diff accept<CR>"];
  test.each(ways)("needs a second %s after a program wrote it", async (accept) => {
    await using a = await start();
    writeFileSync(a.main, SAVED);
    await a.plays(`
        ${accept}   ended =   old = ${SHOWN}   says then accept again
        ${accept}   ended = accepted   text as proposed   diffs gone
      `);
  });

  test("takes another look when it is written again after the warning", async () => {
    await using a = await start();
    for (const text of [SAVED, `${SAVED}more\n`]) {
      writeFileSync(a.main, text);
      await a.plays(`<CR>  ended =  old = ${text.replaceAll("\n", "|")}`);
    }
    await a.accepts(a.last);
  });

  test("turns a dropped hunk into the text on disk", async () => {
    await using a = await start();
    writeFileSync(a.main, SAVED);
    const both = "ONE|two|three|four|MY WORK|";
    await a.plays(`
      <Ignore>   bars written since proposed   bars /2
      Ggr        new = ${both}
      <CR><CR>   ended = accepted   text = ${both}
    `);
  });

  test("compares with what the client made of it for another edit", async () => {
    await using a = await start();
    const first = a.last;
    const second = await a.propose(a.main, SAVED, { client: 2 });
    await a.nvim.type("]f<CR>");
    expect(await a.outcome(second)).toEqual({ id: second, outcome: "accepted" });
    writeFileSync(a.main, SAVED);
    await a.plays(`
      <Ignore>   bars written since proposed   old = ${SHOWN}
      <CR>       ended = accepted
    `);
    await a.accepts(first);
  });

  test("is as careful with one that was never shown", async () => {
    await using a = await start();
    const id = await a.propose(a.file("other.txt", OLD), NEW);
    a.file("other.txt", SAVED);
    const accept = () => a.nvim.lua<boolean>('return require("port").accept(...)', id);
    expect([await accept(), a.ended.length]).toEqual([false, 0]);
    expect(await accept()).toBe(true);
    expect(await a.outcome(id)).toEqual({ id, outcome: "accepted" });
  });

  test("accepts a file that was only touched, and shows a deleted one as new", async () => {
    await using a = await start();
    utimesSync(a.main, 1, 1);
    await a.accepts(a.last);
    const other = await a.propose(a.main, NEW);
    rmSync(a.main);
    await a.plays("<Ignore>  bars (new file)  old = |");
    await a.rejects(other);
  });

  test("gives a user who is about to accept the time to look", async () => {
    await using a = await Attached.opened({ version, ui: UI, waitsForPauses: true }, OLD);
    await a.pauses(1_500);
    await a.holdClock();
    await a.propose(a.main, NEW);
    await a.advance(5 * 1500);
    expect(await a.nvim.lua('return require("port").diff_decidable()')).toBe(true);
    writeFileSync(a.main, SAVED);
    const again =
      "press <CR> again, it decided nothing: the change of main.txt was updated just now";
    await a.plays(`
      <Ignore>       bars written since proposed
      <CR><CR><CR>   mode n   ended =   says ${again}
    `);
    await a.advance(5 * 1500);
    await a.plays("<CR><CR>  ended = accepted  text as proposed");
  });

  test("says that its buffer was edited, and can merge the edits", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    await a.propose(a.main, NEW);
    const without = "bars without your unsaved edits   bars merge your edits";
    const merged = "ONE|two|three|four|mine|";
    await a.plays(`
      :topleft 8new ${a.main}   diffs shown 1
      Gccmine<Esc>              ${without}   says has unsaved edits, which are kept
      u                         bars ! unsaved
      Gccmine<Esc>              ${without}
      ${ENTER}                  mode n
      gm                        new = ${merged}   bars with your unsaved edits
      <CR>                      ended = accepted   text = ${merged}
    `);
  });
});
