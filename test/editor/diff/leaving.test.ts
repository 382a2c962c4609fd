import { NEOVIMS } from "#test";
import { Attached } from "../attached";

/* Leaving a diff is no answer: it waits, with the user's edits, until they show it again. */

const UI = { width: 160, height: 40 };
const OLD = Array.from({ length: 60 }, (_, i) => `line ${i + 1}\n`).join("");
const NEW = OLD.replace("line 10\n", "LINE 10\n").replace("line 40\n", "LINE 40\n");

/** Layouts without a tab page of the diff's own. */
const IN_PLACE = ["vertical", "horizontal", "inline"];

/** What the user does; the file that their window shows then, main.txt if left out. */
const WAYS: { how: string; keys: string; layouts?: string[]; file?: string }[] = [
  { how: "CTRL-O", keys: "<C-o>", layouts: IN_PLACE, file: "other.txt" },
  { how: "CTRL-^", keys: "<C-^>", layouts: IN_PLACE, file: "other.txt" },
  { how: ":edit", keys: ":e third.txt<CR>", file: "third.txt" },
  {
    how: ":edit on the old side",
    keys: "<C-w>h:e third.txt<CR>",
    layouts: ["vertical"],
    file: "third.txt",
  },
  { how: ":buffer", keys: ":b other.txt<CR>", file: "other.txt" },
  { how: ":only", keys: "<C-w>o", layouts: ["vertical", "horizontal", "tab"] },
  { how: ":only on the old side", keys: "<C-w>h<C-w>o", layouts: ["vertical"] },
  { how: "CTRL-W T", keys: "<C-w>T", layouts: ["vertical", "horizontal", "tab"] },
  { how: ":hide", keys: ":hide<CR>", layouts: ["vertical", "horizontal"] },
  { how: ":tabclose elsewhere", keys: ":tabnew | tabclose 2<CR>", layouts: ["tab"], file: "" },
  { how: "q with edits", keys: "q", layouts: ["vertical", "tab", "inline"] },
  { how: ":q with edits", keys: ":q<CR>", layouts: ["vertical", "tab"] },
  { how: "CTRL-W c with edits", keys: "<C-w>c", layouts: ["horizontal"] },
  { how: ":bdelete of the old side", keys: "<C-w>h:bd!<CR>", layouts: ["vertical"] },
];

describe.each(NEOVIMS)("$name", (version) => {
  /** A Neovim with main.txt on screen, other.txt as the alternate file, and a proposal. */
  async function start(layout = "vertical", prepare = ""): Promise<Attached> {
    const a = await Attached.asNew({ version, ui: UI });
    await a.diffLayout(layout);
    a.file("main.txt", OLD);
    for (const name of ["other.txt", "third.txt"]) await a.edit(a.file(name, OLD));
    await a.nvim.command("edit other.txt | edit main.txt");
    await a.attach();
    if (prepare) await a.nvim.command(prepare);
    return a;
  }

  const file = (a: Attached) => a.nvim.lua<string>("return vim.fn.expand('%:t')");
  for (const layout of ["vertical", "horizontal", "tab", "inline"]) {
    test.each(WAYS.filter(({ layouts }) => !layouts || layouts.includes(layout)))(
      `$how (${layout}): it waits with the user's edits, and comes back`,
      async ({ how, keys, file: wanted = "main.txt" }) => {
        await using a = await start(layout);
        const before = await a.picture();
        const id = await a.propose(a.main, NEW);
        await a.nvim.type(":keepjumps 40<CR>Amine<Esc>");
        await a.nvim.type(keys);
        await a.waits();
        expect(a.ended).toEqual([]);
        await a.says("]f or :Claude diff shows main.txt: its change waits with your edits");
        expect(await a.mode()).toBe("n");
        expect(await file(a)).toBe(wanted);
        expect(await a.nvim.lua("return { vim.v.errmsg, vim.wo.winbar, vim.wo.diff }")).toEqual([
          "",
          "",
          false,
        ]);
        const left = await a.picture();
        if (layout !== "tab") {
          expect(left.windows.map(({ width, height }) => [width, height])).toEqual(
            before.windows.map(({ width, height }) => [width, height]),
          );
        }
        await a.nvim.type("]f");
        await a.shown();
        await a.barShows("main.txt");
        const line = "vim.fn.line('.')";
        expect(await a.nvim.lua(`return { ${line}, vim.api.nvim_get_current_line() }`)).toEqual([
          40,
          "LINE 40mine",
        ]);
        await a.nvim.type("u<C-r><CR>");
        expect((await a.outcome(id)).text).toContain("\nLINE 40mine\n");
        await a.cleared();
        expect(a.ended).toHaveLength(1);
        expect(await a.nvim.lua("return vim.fn.maparg(']f', 'n')")).toBe("");
        if (how === "CTRL-W T")
          expect(await a.nvim.lua("return #vim.api.nvim_list_tabpages()")).toBe(1);
      },
    );
  }

  test.each(["ZQ", ":q!<CR>", ":Claude diff reject<CR>"])(
    "%s rejects it, edits or not",
    async (keys) => {
      await using a = await start();
      const id = await a.propose(a.main, NEW);
      await a.rejects(id, `Amine<Esc>${keys}`);
    },
  );

  test("buffers and messages tell files of one name apart", async () => {
    await using a = await start();
    await a.propose(a.file("src/beta/index.ts", OLD), NEW);
    expect(await a.nvim.lua<string>("return vim.api.nvim_buf_get_name(0)")).toMatch(
      /^claude-code:\/\/\d+\/index\.ts in beta \(proposed\)$/,
    );
    await a.nvim.type("<C-w>o");
    await a.waits();
    await a.says("shows src/beta/index.ts: its change waits");
  });

  test("accepted hunks are accepted still", async () => {
    await using a = await start();
    const id = await a.propose(a.main, NEW);
    await a.nvim.type("ga:e other.txt<CR>");
    await a.waits();
    await a.nvim.command("Claude diff");
    await a.shown();
    await a.barShows("accept 1 of 2 hunks");
    await a.nvim.type("<CR>");
    expect((await a.outcome(id)).text).toBe(OLD.replace("line 10\n", "LINE 10\n"));
  });

  test("another plugin closes its windows, or fills them: that decides nothing", async () => {
    await using a = await start();
    await a.propose(a.main, NEW);
    for (const how of [
      "vim.api.nvim_win_close(0, true)",
      "vim.cmd.close()",
      "vim.cmd.quit()",
      "vim.cmd('noautocmd close')",
      "vim.api.nvim_set_current_buf(vim.fn.bufadd('other.txt'))",
      "vim.api.nvim_win_close(require('port').diff_windows()[1], true)",
    ]) {
      await a.shown();
      await a.nvim.lua(how);
      await a.waits();
      expect(a.ended).toEqual([]);
      await a.nvim.type("[f");
    }
    await a.shown();
  });

  test("a new proposal is shown at once; answered, the one that was left does not come by itself", async () => {
    await using a = await start();
    const first = await a.propose(a.main, NEW);
    await a.nvim.type(":e third.txt<CR>");
    await a.waits();
    const second = await a.propose(a.path("other.txt"), NEW);
    await a.shown();
    await a.barShows("[2/2] other.txt");
    await a.nvim.type("q");
    expect((await a.outcome(second)).outcome).toBe("rejected");
    await a.waits();
    expect(await a.nvim.lua("return require('port').statusline.get().diffs")).toBe(1);
    await a.nvim.command("Claude diff accept");
    await a.says("not on screen: :Claude diff shows it");
    expect(a.ended).toHaveLength(1);
    await a.nvim.command("Claude diff");
    await a.shown();
    await a.accepts(first);
  });

  test("CTRL-^ and :buffer go back to the diff itself", async () => {
    await using a = await start();
    const id = await a.propose(a.main, NEW);
    await a.nvim.type(":e third.txt<CR>");
    await a.waits();
    await a.nvim.type("<C-^>");
    await a.shown();
    await a.barShows("main.txt");
    expect(await a.nvim.lua("return #vim.api.nvim_tabpage_list_wins(0)")).toBe(2);
    await a.accepts(id);
    expect(await file(a)).toBe("third.txt");
  });

  test("a mapping of the user's for the key stays, and is not named", async () => {
    await using a = await start("vertical", "nnoremap ]f :echo 'mine'<CR>");
    await a.propose(a.main, NEW);
    await a.nvim.type("<C-w>o");
    await a.waits();
    await a.says(":Claude diff shows main.txt: its change waits");
    expect(await a.nvim.lua("return vim.fn.maparg(']f', 'n')")).toContain("mine");
  });

  test("from a terminal: whoever leaves does not type in it", async () => {
    for (const keys of ["<C-o>", ":e other.txt<CR>", "<C-w>T", "<C-w>o"]) {
      await using a = await start("vertical", "split | terminal cat");
      await a.nvim.command("let b:claude_code_terminal = v:true");
      await a.nvim.type("i");
      await a.inMode("t");
      await a.propose(a.main, NEW);
      await a.inMode("n");
      await a.nvim.type(keys);
      await a.waits();
      await Bun.sleep(50);
      expect(await a.mode()).toMatch(/^nt?$/);
    }
  });
});
