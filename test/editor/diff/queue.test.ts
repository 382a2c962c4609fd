import { existsSync } from "node:fs";
import { eventually, NEOVIMS, TestNeovim } from "#test";
import { Attached } from "../attached";

/* The user and other plugins change windows and buffers while a diff is open. */

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
    for (const name of ["main.txt", "other.txt", "third.txt"]) a.file(name, OLD);
    await a.edit(a.main);
    if (make) await a.nvim.command(make);
    await a.attach();
    return a;
  }

  test("rejects the diff on screen and those waiting after it with reject-all", async () => {
    await using a = await start();
    await a.propose(a.main, NEW);
    await a.propose(a.main, NEW.replace("line 2\n", "two\n"));
    await a.plays(":Claude diff reject-all  ended rejected rejected  diffs gone");
    expect(a.read("main.txt")).toBe(OLD);
  });

  test("moves into the only one with :Claude diff, and says that there is no other", async () => {
    await using a = await start("vsplit other.txt | wincmd p");
    const id = await a.propose(a.main, NEW);
    await a.plays(`
      <C-w>t         {expand('%:t')} other.txt
      :Claude diff   {expand('%:t')} main.txt (proposed)
      :Claude diff   says there is no other proposal
    `);
    await a.reject(id);
    await a.plays("<Ignore>  {expand('%:t')} other.txt");
  });

  test("keeps the user's windows in a session that is saved when Neovim ends", async () => {
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

  test.each(LAYOUTS)("leaves 'scrollopt' as it was (%s)", async (layout) => {
    const others = "edit other.txt | diffthis | vert diffsplit third.txt | tabnew main.txt";
    await using a = await start(others, layout);
    const before = await a.nvim.lua("return vim.go.scrollopt");
    expect(before).toContain("hor");
    await a.reject(await a.propose(a.main, NEW));
    expect(await a.nvim.lua("return vim.go.scrollopt")).toBe(before);
  });

  test.each(["<C-w>v", "<C-w>s", "<C-w>h<C-w>s", ":tab split<CR>"])(
    "closes copies of a side by %s",
    async (keys) => {
      await using a = await start("botright vsplit other.txt | vertical resize 42 | wincmd t");
      const before = await a.picture();
      const id = await a.propose(a.main, NEW);
      await a.nvim.type(keys);
      await a.reject(id);
      expect(await a.picture()).toEqual(before);
    },
  );

  test.each(["vertical", "horizontal", "inline"])(
    ":only leaves another window (%s)",
    async (layout) => {
      await using a = await start("botright vsplit other.txt | wincmd p", layout);
      const id = await a.propose(a.main, NEW);
      await a.plays("<C-w>b:only<CR>  diffs wait 1");
      await a.reject(id);
      await a.plays(`<Ignore>  windows other.txt  {winwidth(0)} ${UI.width}  {v:errmsg} ${""}`);
    },
  );

  test("says nothing while windows come and go, whatever 'shortmess' is", async () => {
    await using a = await start("set shortmess-=F");
    await a.nvim.command("messages clear");
    await a.reject(await a.propose(a.main, NEW));
    expect(await a.messages()).toBe("");
  });

  test.each(["vertical", "tab", "inline"])("stays out of a session file (%s)", async (layout) => {
    await using a = await start("", layout);
    const id = await a.propose(a.main, NEW);
    await a.barShows("hunk 1/1");
    const before = await a.picture();
    for (const [index, options] of OPTIONS.entries())
      await a.nvim.command(`set sessionoptions=${options} | mksession! ${index}.vim`);
    expect(await a.picture()).toEqual(before);
    await a.accepts(id);

    await using other = await TestNeovim.start({ version, ui: UI, cwd: a.nvim.cwd });
    for (const index of OPTIONS.keys()) {
      await other.command(`source ${index}.vim`);
      const ours = `{getbufinfo()->filter('v:val.name =~ "^claude-code:"')}`;
      await other.plays(`<Ignore>  ${ours} []  {v:errmsg} =  says =`);
      await other.command("silent! tabonly! | only! | %bwipeout!");
    }
  });
});
