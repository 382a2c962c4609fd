import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { eventually, NEOVIMS } from "#test";
import { Attached } from "../attached";

const UI = { width: 160, height: 40 };
const OLD = "one\ntwo\nthree\nfour\nfive\n";
const NEW = "ONE\ntwo\nthree\nfour\nfive\n";
const SAVED = "one\ntwo\nthree\nfour\nMY WORK\n";
const WRITTEN = "written since proposed";

/** The text of one side of the diff on screen. */
function side(a: Attached, name: "old" | "new"): Promise<string> {
  return a.nvim.lua('return require("port").diff_text(...)', name);
}

const barsHave = (a: Attached, text: string) =>
  eventually(`"${text}" in a bar`, async () => (await a.bars()).includes(text));

/** Opens the file in one more window, and enters that. */
const openBeside = (a: Attached, path: string) => a.nvim.command(`topleft 8new ${path}`);
const toProposal = (a: Attached) =>
  a.nvim.lua("vim.api.nvim_set_current_win(require('port').diff_window())");

async function start(version: (typeof NEOVIMS)[number]): Promise<Attached> {
  const a = await Attached.attached({ version, ui: UI });
  a.file("main.txt", OLD);
  return a;
}

describe.each(NEOVIMS)("$name: the file is written while its diff waits", (version) => {
  for (const layout of ["vertical", "inline"]) {
    test(`by the user, in another window: not overwritten unawares (${layout})`, async () => {
      await using a = await start(version);
      await a.diffLayout(layout);
      const id = await a.propose(a.main, NEW);
      await openBeside(a, a.main);
      await a.nvim.type("GccMY WORK<Esc>:w<CR>");
      await barsHave(a, WRITTEN);
      expect(await side(a, "old")).toBe(SAVED);
      await a.says("main.txt was written since");
      await toProposal(a);
      await a.nvim.type("<CR>");
      await a.says("then accept again");
      expect(a.ended).toEqual([]);
      await a.accepts(id);
    });
  }

  test("by a program, just before it is accepted in any way", async () => {
    for (const accept of ["<CR>", ":w<CR>", ":wq<CR>", ":Claude diff accept<CR>"]) {
      await using a = await start(version);
      const id = await a.propose(a.main, NEW);
      writeFileSync(a.main, SAVED);
      await a.nvim.type(accept);
      expect(a.ended).toEqual([]);
      expect(await side(a, "old")).toBe(SAVED);
      await eventually("the warning", async () =>
        expect((await a.messages()).trim().split("\n").at(-1)).toContain("then accept again"),
      );
      await a.nvim.type(accept);
      expect(await a.outcome(id)).toEqual({ id, outcome: "accepted" });
      await a.cleared();
    }
  });

  test("and once more after the warning: it takes another look", async () => {
    await using a = await start(version);
    const id = await a.propose(a.main, NEW);
    for (const text of [SAVED, `${SAVED}more\n`]) {
      writeFileSync(a.main, text);
      await a.nvim.type("<CR>");
      expect(a.ended).toEqual([]);
      expect(await side(a, "old")).toBe(text);
    }
    await a.accepts(id);
  });

  test("a dropped hunk becomes what stands on disk now", async () => {
    await using a = await start(version);
    const id = await a.propose(a.main, NEW);
    writeFileSync(a.main, SAVED);
    await barsHave(a, WRITTEN);
    await barsHave(a, "/2");
    await a.nvim.type("Ggr");
    expect(await side(a, "new")).toBe("ONE\ntwo\nthree\nfour\nMY WORK\n");
    await a.nvim.type("<CR><CR>");
    expect(await a.outcome(id)).toEqual({
      id,
      outcome: "accepted",
      text: "ONE\ntwo\nthree\nfour\nMY WORK\n",
    });
  });

  test("two edits of one file: the second is shown against what the first made of it", async () => {
    await using a = await start(version);
    const first = await a.propose(a.main, NEW);
    const second = await a.propose(a.main, SAVED, { client: 2 });
    await a.nvim.type("]f<CR>");
    expect(await a.outcome(second)).toEqual({ id: second, outcome: "accepted" });
    writeFileSync(a.main, SAVED);
    await barsHave(a, WRITTEN);
    expect(await side(a, "old")).toBe(SAVED);
    await a.nvim.type("<CR>");
    expect(a.ended).toHaveLength(1);
    await a.accepts(first);
  });

  test("one that was never shown is no less careful", async () => {
    await using a = await start(version);
    await a.propose(a.file("other.txt", OLD), NEW);
    const id = await a.propose(a.main, NEW);
    writeFileSync(a.main, SAVED);
    const accept = () => a.nvim.lua<boolean>('return require("port").accept(...)', id);
    expect(await accept()).toBe(false);
    expect(a.ended).toEqual([]);
    expect(await accept()).toBe(true);
    expect(await a.outcome(id)).toEqual({ id, outcome: "accepted" });
  });

  test("touched, but the same; or gone", async () => {
    await using a = await start(version);
    const id = await a.propose(a.main, NEW);
    utimesSync(a.main, 1, 1);
    await a.accepts(id);
    const other = await a.propose(a.main, NEW);
    rmSync(a.main);
    await barsHave(a, "(new file)");
    expect(await side(a, "old")).toBe("\n");
    await a.rejects(other);
  });

  test("gives a user who is about to accept the time to look", async () => {
    await using a = await Attached.opened({ version, ui: UI, waitsForPauses: true }, OLD);
    await a.pauses(1_500);
    await a.holdClock();
    const pause = () => a.advance(5 * 1500);
    const id = await a.propose(a.main, NEW);
    await pause();
    expect(await a.nvim.lua('return require("port").diff_decidable()')).toBe(true);
    writeFileSync(a.main, SAVED);
    await barsHave(a, WRITTEN);
    await a.nvim.type("<CR><CR><CR>");
    expect(await a.mode()).toBe("n");
    expect(a.ended).toEqual([]);
    expect(await a.messages()).toContain(
      "press <CR> again, it decided nothing: the change of main.txt was updated just now",
    );
    await pause();
    await a.nvim.type("<CR><CR>");
    expect(await a.outcome(id)).toEqual({ id, outcome: "accepted" });
  });
});

describe.each(NEOVIMS)("$name: the file is edited while its diff waits", (version) => {
  test("the bar says so, a message too, and the edits can be merged", async () => {
    await using a = await start(version);
    await a.edit(a.main);
    const id = await a.propose(a.main, NEW);
    await openBeside(a, a.main);
    await a.nvim.type("Gccmine<Esc>");
    await barsHave(a, "without your unsaved edits");
    await barsHave(a, "merge your edits");
    await a.nvim.type("u");
    await eventually("no more edits", async () => !(await a.bars()).includes("unsaved"));
    await a.nvim.type("Gccmine<Esc>");
    await barsHave(a, "without your unsaved edits");
    await a.says("has unsaved edits, which are kept");
    await toProposal(a);
    await a.nvim.type("gm");
    await eventually("the merge", async () =>
      expect(await side(a, "new")).toBe("ONE\ntwo\nthree\nfour\nmine\n"),
    );
    await barsHave(a, "with your unsaved edits");
    await a.nvim.type("<CR>");
    expect((await a.outcome(id)).text).toBe("ONE\ntwo\nthree\nfour\nmine\n");
  });
});
