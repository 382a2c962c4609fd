import { LUA_SLEEP, NEOVIMS } from "#test";
import { Attached } from "../attached";

/* Leaving a diff does not answer it: it waits, with the user's edits, until they show it again. */

const UI = { width: 160, height: 40 };
const OLD = Array.from({ length: 60 }, (_, i) => `line ${i + 1}\n`).join("");
const NEW = OLD.replace("line 10\n", "LINE 10\n").replace("line 40\n", "LINE 40\n");

const ALL = "vertical horizontal tab inline";
/** The user's action, its layouts, and the file that their window then shows. */
const WAYS: [keys: string, layouts: string, file: string][] = [
  ["<C-o>", "vertical horizontal inline", "other.txt"],
  ["<C-^>", "vertical horizontal inline", "other.txt"],
  [":e third.txt<CR>", ALL, "third.txt"],
  ["<C-w>h:e third.txt<CR>", "vertical", "third.txt"],
  [":b other.txt<CR>", ALL, "other.txt"],
  ["<C-w>o", "vertical horizontal tab", "main.txt"],
  ["<C-w>h<C-w>o", "vertical", "main.txt"],
  ["<C-w>T", "vertical horizontal tab", "main.txt"],
  [":hide<CR>", "vertical horizontal", "main.txt"],
  [":tabnew | tabclose 2<CR>", "tab", ""],
  ["q", "vertical tab inline", "main.txt"],
  [":q<CR>", "vertical tab", "main.txt"],
  ["<C-w>c", "horizontal", "main.txt"],
  ["<C-w>h:bd!<CR>", "vertical", "main.txt"],
];

describe.each(NEOVIMS)("$name", (version) => {
  /** A Neovim with main.txt on screen, other.txt as the alternate file, and its proposal. */
  async function start(layout = "vertical", prepare = ""): Promise<Attached> {
    const a = await Attached.asNew({ version, ui: UI });
    await a.diffLayout(layout);
    a.file("main.txt", OLD);
    for (const name of ["other.txt", "third.txt"]) await a.edit(a.file(name, OLD));
    await a.nvim.command("edit other.txt | edit main.txt");
    await a.attach();
    if (prepare) await a.nvim.lua(prepare);
    if (prepare.includes("terminal")) await a.nvim.plays("i  mode t");
    await a.propose(a.main, NEW);
    return a;
  }

  for (const layout of ALL.split(" ")) {
    const ways = WAYS.filter(([, layouts]) => layouts.includes(layout));
    test.each(ways)(`waits after %s (${layout}), and comes back`, async (keys, _, file) => {
      await using a = await start(layout);
      const isOne = layout !== "tab" && !keys.includes("<C-w>T");
      await a.plays(`
          :keepjumps 40  mode n
          Amine<Esc>     mode n
          ${keys}        diffs wait 1   ended =   mode n   {expand('%:t')} ${file}
                         says ]f or :Claude diff shows main.txt: its change waits with your edits
                         {v:errmsg} ${""}   {&l:winbar} ${""}   {&diff} 0
                         ${isOne ? "{nvim_list_wins()->map('[winwidth(v:val), winheight(v:val)]')} [[160, 38]]" : ""}
          ]f             diffs shown 1   bar main.txt   {line('.')} 40   line = LINE 40mine
          u<C-r><CR>     diffs gone   ended = accepted   text /LINE 40mine\\b/
                         {maparg(']f', 'n')} ${""}
        `);
      if (keys === "<C-w>T") await a.plays("<Ignore>  {tabpagenr('$')} 1");
      expect(a.ended[0]?.id).toBe(a.last);
    });
  }

  test.each(["ZQ", ":q!<CR>", ":Claude diff reject<CR>"])("%s rejects edits", async (keys) => {
    await using a = await start();
    await a.rejects(a.last, `Amine<Esc>${keys}`);
  });

  test("distinguishes files of the same name in buffers and messages", async () => {
    await using a = await start();
    const first = a.last;
    await a.reject(first);
    const id = await a.propose(a.file("src/beta/index.ts", OLD), NEW);
    await a.plays(`
      <Ignore>   {bufname()} claude-code://${id}/index.ts in beta (proposed)
      <C-w>o     diffs wait 1   says /shows src.beta.index.ts: its change waits/
    `);
  });

  test("still has accepted hunks once it comes back", async () => {
    await using a = await start();
    await a.plays(`
      ga:e other.txt<CR>   diffs wait 1
      :Claude diff         diffs shown 1   bar accept 1 of 2 hunks
      <CR>                 ended accepted
    `);
    expect(a.ended[0]?.text).toBe(OLD.replace("line 10\n", "LINE 10\n"));
  });

  test.each([
    "vim.api.nvim_win_close(0, true)",
    "vim.cmd.close()",
    "vim.cmd.quit()",
    "vim.cmd('noautocmd close')",
    "vim.api.nvim_set_current_buf(vim.fn.bufadd('other.txt'))",
    "vim.api.nvim_win_close(require('port').diff_windows()[1], true)",
  ])("waits after a plugin's %s, which decides nothing", async (how) => {
    await using a = await start();
    await a.shown();
    await a.nvim.lua(how);
    await a.plays(`
      <Ignore>   diffs wait 1   ended =
      [f         diffs shown 1
    `);
  });

  test("does not appear again after a new proposal, until the user asks", async () => {
    await using a = await start();
    const first = a.last;
    await a.plays(":e third.txt  diffs wait 1");
    await a.propose(a.path("other.txt"), NEW);
    await a.plays(`
      <Ignore>              bar [2/2] other.txt
      q                     ended rejected   diffs wait 1
      :Claude diff accept   ended = rejected   says not on screen: :Claude diff shows it
      :Claude diff          diffs shown 1
    `);
    await a.accepts(first);
  });

  test("comes back with CTRL-^, in its own windows", async () => {
    await using a = await start();
    await a.plays(`
      :e third.txt   diffs wait 1
      <C-^>          diffs shown 1   bar main.txt   {winnr('$')} 2
      <CR>           ended accepted   diffs gone   {expand('%:t')} third.txt
    `);
  });

  test("keeps the user's own mapping of the key, and does not name the key", async () => {
    await using a = await start("vertical", `vim.cmd("nnoremap ]f :echo 'mine'<CR>")`);
    await a.plays(`
      <C-w>o   diffs wait 1   says :Claude diff shows main.txt: its change waits   says ! ]f or
               {maparg(']f', 'n')} :echo 'mine'<CR>
    `);
  });

  test.each(["<C-o>", ":e other.txt<CR>", "<C-w>T", "<C-w>o"])(
    "stays in Normal mode: %s",
    async (keys) => {
      const terminal = `vim.cmd('split | enew') vim.fn.termopen(${LUA_SLEEP})
        vim.b.claude_code_terminal = true`;
      await using a = await start("vertical", terminal);
      await a.plays(`
        <Ignore>       mode n   diffs shown 1
        ${keys}        diffs wait 1
      `);
      await Bun.sleep(50);
      expect(await a.mode()).toMatch(/^nt?$/);
    },
  );
});
