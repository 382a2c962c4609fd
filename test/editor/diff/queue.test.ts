import { existsSync } from "node:fs";
import { eventually, NEOVIMS, TestNeovim } from "#test";
import { Attached } from "../attached";

/* What the user and other plugins do to windows and buffers while a diff is open. */

// Wide enough for diffs in the place of a window among others.
const UI = { width: 260, height: 47 };
const OLD = Array.from({ length: 60 }, (_, i) => `line ${i + 1}\n`).join("");
const NEW = OLD.replace("line 30\n", "LINE 30\n");
const LAYOUTS = ["vertical", "horizontal", "tab", "inline"];

/** Values of 'sessionoptions'. */
const OPTIONS = [
  "blank,buffers,curdir,folds,help,tabpages,winsize,terminal",
  "buffers,localoptions,options",
  "blank,localoptions,tabpages,terminal",
];

describe.each(NEOVIMS)("$name", (version) => {
  /** A Neovim with main.txt open, as `make` arranges it. */
  async function start(make = "", layout = "vertical"): Promise<Attached> {
    const a = await Attached.asNew({ version, ui: UI });
    await a.diffLayout(layout);
    a.file("main.txt", OLD);
    for (const name of ["other.txt", "third.txt"]) a.file(name, OLD);
    await a.edit(a.main);
    if (make) await a.nvim.command(make);
    await a.attach();
    return a;
  }

  test(":Claude diff reject-all rejects what is on screen and what waits behind it", async () => {
    await using a = await start();
    const first = await a.propose(a.main, NEW);
    const second = await a.propose(a.main, NEW.replace("line 2\n", "two\n"));
    await a.nvim.command("Claude diff reject-all");
    for (const id of [first, second]) expect((await a.outcome(id)).outcome).toBe("rejected");
    await a.cleared();
    expect(a.read("main.txt")).toBe(OLD);
  });

  test(":Claude diff moves into the only one, and reports that there is no other", async () => {
    await using a = await start("vsplit other.txt | wincmd p");
    const id = await a.propose(a.main, NEW);
    const inside = await a.nvim.lua("return vim.api.nvim_get_current_win()");
    await a.nvim.lua(`vim.fn.win_gotoid(vim.fn.bufwinid("other.txt"))`);
    await a.nvim.command("Claude diff");
    expect(await a.nvim.lua("return vim.api.nvim_get_current_win()")).toBe(inside);
    await a.nvim.command("messages clear | Claude diff");
    expect(await a.nvim.command("messages")).toContain("there is no other proposal");
    await a.reject(id);
    expect(await a.nvim.lua("return vim.fn.expand('%:t')")).toBe("other.txt");
  });

  test("sessions saved when Neovim ends show the user's windows", async () => {
    await using a = await start("vsplit other.txt | wincmd p");
    await a.nvim.command("autocmd VimLeavePre * mksession! session.vim");
    const id = await a.propose(a.main, NEW);
    a.nvim.request("nvim_input", [":qa!<CR>"]).catch(() => {});
    expect((await a.outcome(id)).outcome).toBe("rejected");
    await eventually("the session", () => existsSync(a.path("session.vim")));
    await eventually("the end", () => a.nvim.process.exitCode === 0);
    const session = a.read("session.vim");
    expect(session).toMatch(/edit \S*main.txt/);
    expect(session).toMatch(/edit \S*other.txt/);
    expect(session).not.toMatch(/claude-code:|foldmethod=diff|fdm=diff/);
  });

  test.each(LAYOUTS)("another diff scrolls sideways as before (%s)", async (layout) => {
    await using a = await start(
      "edit other.txt | diffthis | vert diffsplit third.txt | tabnew main.txt",
      layout,
    );
    const before = await a.nvim.lua("return vim.go.scrollopt");
    expect(before).toContain("hor");
    await a.reject(await a.propose(a.main, NEW));
    expect(await a.nvim.lua("return vim.go.scrollopt")).toBe(before);
  });

  test.each(["<C-w>v", "<C-w>s", "<C-w>h<C-w>s", ":tab split<CR>"])(
    "a side that was split with %s goes with its copies, and all sizes come back",
    async (keys) => {
      await using a = await start("botright vsplit other.txt | vertical resize 42 | wincmd t");
      const before = await a.picture();
      const id = await a.propose(a.main, NEW);
      await a.nvim.type(keys);
      await a.reject(id);
      expect(await a.picture()).toEqual(before);
    },
  );

  test.each(["tab", "vertical"])("global options go on to count (%s)", async (layout) => {
    await using a = await start("enew | setlocal buftype=nofile", layout);
    await a.nvim.command("set statusline=AAA scrolloff=5");
    const id = await a.proposeAndShow(a.main, NEW);
    await a.nvim.command("set statusline=BBB scrolloff=3");
    expect(
      await a.nvim.lua(`
        local windows = require("port").diff_windows()
        return vim.tbl_map(function(win)
          return { vim.wo[win].statusline, vim.wo[win].scrolloff }
        end, windows)`),
    ).toEqual([
      ["BBB", 3],
      ["BBB", 3],
    ]);
    await a.reject(id);
  });

  test.each(LAYOUTS.filter((layout) => layout !== "tab"))(
    ":only in another window leaves that one (%s)",
    async (layout) => {
      await using a = await start("botright vsplit other.txt | wincmd p", layout);
      const id = await a.propose(a.main, NEW);
      await a.nvim.type("<C-w>b:only<CR>");
      await a.waits();
      await a.reject(id);
      expect((await a.picture()).windows).toMatchObject([{ width: UI.width }]);
      expect(await a.nvim.lua("return { vim.fn.expand('%'), vim.v.errmsg }")).toEqual([
        "other.txt",
        "",
      ]);
    },
  );

  test("windows come and go without a word, whatever 'shortmess' is", async () => {
    await using a = await start("set shortmess-=F");
    await a.nvim.command("messages clear");
    await a.reject(await a.propose(a.main, NEW));
    expect(await a.messages()).toBe("");
  });

  test.each(["vertical", "tab", "inline"])(
    "a session file that is written meanwhile loads without an error, and holds no buffer of the diff (%s)",
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
