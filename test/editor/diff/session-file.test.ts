import { describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually";
import { NEOVIMS, TestNeovim } from "../../support/neovim";
import { Attached } from "../attached";

/* A session file that is written while a diff is on screen, and Neovim stays. */
const UI = { width: 260, height: 47 };
const OPTIONS = [
  "blank,buffers,curdir,folds,help,tabpages,winsize,terminal",
  "buffers,localoptions,options",
  "blank,localoptions,tabpages,terminal",
];

describe.each(NEOVIMS)("$name", (version) => {
  test.each(["vertical", "tab", "inline"])(
    "%s: it loads without an error or a message, and holds no buffer of the diff; the diff stays as it is",
    async (layout) => {
      await using a = await Attached.asNew({ version, ui: UI });
      await a.diffLayout(layout);
      await a.edit(a.file("a.txt", "old\n"));
      await a.attach();
      const id = await a.propose(a.path("a.txt"), "new\n");
      await a.barShows("hunk 1/1");
      const before = await a.picture();
      for (const [index, options] of OPTIONS.entries())
        await a.nvim.command(`set sessionoptions=${options} | mksession! ${index}.vim`);
      expect(await a.picture()).toEqual(before);
      await a.nvim.type("<CR>");
      expect((await a.outcome(id)).outcome).toBe("accepted");

      await using other = await TestNeovim.start({ version, ui: UI, cwd: a.nvim.cwd });
      for (const index of OPTIONS.keys()) {
        await other.command(`source ${index}.vim`);
        expect(await other.lua("return vim.v.errmsg")).toBe("");
        await eventually("no buffer of the diff", async () =>
          expect(
            await other.lua(`
              return vim.tbl_filter(function(buf)
                return vim.startswith(vim.api.nvim_buf_get_name(buf), "claude-code:")
              end, vim.api.nvim_list_bufs())`),
          ).toEqual([]),
        );
        expect(await other.lua("return vim.v.errmsg .. vim.fn.execute('messages')")).toBe("");
        await other.command("silent! tabonly! | only! | %bwipeout!");
      }
    },
  );
});
