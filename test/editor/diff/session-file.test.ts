import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { NEOVIMS, TestNeovim } from "../../support/neovim";
import { Attached } from "../attached";

/* A session file that is written while a diff is on screen, and Neovim stays. */
setDefaultTimeout(60_000);

const UI = { width: 260, height: 47 };
const OPTIONS = [
  "blank,buffers,curdir,folds,help,tabpages,winsize,terminal",
  "buffers,localoptions,options",
  "blank,localoptions,tabpages,terminal",
];

describe.each(NEOVIMS)("$name", (version) => {
  test.each(["vertical", "tab", "inline"])(
    "%s: it loads without an error, and holds no text of the diff; the diff stays as it is",
    async (layout) => {
      await using a = await Attached.start({ version, ui: UI });
      await a.diffLayout(layout);
      await a.edit(a.file("a.txt", "old\n"));
      await a.attach();
      const id = await a.propose(a.path("a.txt"), "new\n");
      await a.shown();
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
        expect(
          await other.lua(`
            local texts = {}
            for _, win in ipairs(vim.api.nvim_list_wins()) do
              local buf = vim.api.nvim_win_get_buf(win)
              if vim.startswith(vim.api.nvim_buf_get_name(buf), "claude-code:") then
                vim.list_extend(texts, vim.api.nvim_buf_get_lines(buf, 0, -1, false))
              end
            end
            return table.concat(texts)`),
        ).toBe("");
        await other.command("silent! tabonly! | only! | %bwipeout!");
      }
    },
  );
});
