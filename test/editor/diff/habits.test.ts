import { claims, eventually, NEOVIMS, type NeovimOptions } from "#test";
import { Attached } from "../attached";

/* A diff among the mappings, options, plugins and screens that users have. */
const OLD = Array.from({ length: 60 }, (_, i) => `line ${i + 1}\n`).join("");
const NEW = OLD.replace("line 10\n", "LINE 10\n");
const LAYOUTS = ["vertical", "horizontal", "tab", "inline"];

describe.each(NEOVIMS)("$name", (version) => {
  /** A Neovim with main.txt in its window, scrolled, and other.txt behind it. */
  async function start(layout: string, more: Partial<NeovimOptions> = {}): Promise<Attached> {
    const a = await Attached.asNew({ version, ui: { width: 170, height: 45 }, ...more });
    await a.diffLayout(layout);
    await a.edit(a.file("other.txt", OLD));
    await a.edit(a.file("main.txt", OLD));
    await a.nvim.command("normal! 30Gzt");
    await a.attach();
    return a;
  }
  const propose = async (a: Attached, contents = NEW) => {
    const id = await a.proposeAndShow(a.main, contents);
    await a.decidable();
    return id;
  };

  describe("mappings", () => {
    const MAPPINGS = `
      vim.g.mapleader = " "
      vim.keymap.set({ "i", "x", "n", "s" }, "<C-s>", "<cmd>w<cr><esc>")
      vim.keymap.set("n", "<leader>u", "<Cmd>silent! update<CR>")
      vim.keymap.set("n", "<leader>q", "<Cmd>q<CR>")
      vim.keymap.set("n", "<leader>c", "<Cmd>close<CR>")
      vim.keymap.set("n", "<leader>a", "<Cmd>wall<CR>")
      vim.keymap.set("n", "<leader>l", vim.cmd.write)`;

    test.each([
      ["<C-s>", "accepted"],
      ["Amine<C-s>", "accepted"],
      ["<Space>u", "accepted"],
      ["<Space>q", "rejected"],
      ["<Space>c", "rejected"],
    ] as const)("%s, a <Cmd> mapping that saves or closes: %s", async (keys, outcome) => {
      await using a = await start("vertical");
      await a.nvim.lua(MAPPINGS);
      const id = await propose(a);
      await a.nvim.type(keys);
      const end = await a.outcome(id);
      expect(end.outcome).toBe(outcome);
      if (keys.includes("mine")) expect(end.text).toContain("\nLINE 10mine\n");
      await a.plays(`<Ignore>  diffs gone  {expand('%:t')} main.txt  {v:errmsg} ${""}`);
    });

    test("does not decide when a command writes everything or runs Lua", async () => {
      await using a = await start("vertical");
      await a.nvim.lua(MAPPINGS);
      await propose(a);
      await a.plays(`
        Amine<Esc><Space>a   says this write decided nothing
        <Space>l             ended =
        <CR>                 ended = accepted   text |LINE 10mine|
      `);
    });
  });

  test.each(["vertical", "inline"])("ignores repeated saves (%s)", async (layout) => {
    claims("Only you accept an edit");
    await using a = await start(layout);
    await a.nvim.lua(`
        SAVES, SAVER = 0, vim.uv.new_timer()
        SAVER:start(0, 20, vim.schedule_wrap(function() SAVES = SAVES + 1 vim.cmd("silent! wall") end))`);
    const saves = () => a.nvim.lua<number>("return SAVES");
    const id = await propose(a);
    await a.nvim.type("Amine<Esc>");
    const enough = (await saves()) + 5;
    await eventually("five saves", async () => (await saves()) > enough);
    expect(a.ended).toEqual([]);
    await a.nvim.type("<CR>");
    expect((await a.outcome(id)).text).toBe(NEW.replace("LINE 10", "LINE 10mine"));
    await a.nvim.lua("SAVER:close()");
  });

  test.each(["vertical", "horizontal", "inline"])(
    "brings back a file that a plugin deletes (%s)",
    async (layout) => {
      await using a = await start(layout);
      for (const [gone, keys, outcome] of [
        ["bwipeout", "q", "rejected"],
        ["bwipeout", "<CR>", "accepted"],
        ["bdelete", "q", "rejected"],
        ["bunload", "q", "rejected"],
      ] as const) {
        const id = await propose(a);
        await a.nvim.command(`${gone}! main.txt`);
        await a.nvim.type(keys);
        expect((await a.outcome(id)).outcome).toBe(outcome);
        await a.plays(`<Ignore>  diffs gone  main.txt:30  {line('w0')} 30  windows main.txt
          {&buflisted} 1  {&bufhidden} ${""}  {&filetype} text  {v:errmsg} ${""}`);
        await a.nvim.command("silent write");
        expect(a.read("main.txt")).toBe(OLD);
      }
    },
  );

  test.each(LAYOUTS)("does not write with 'autowriteall' (%s)", async (layout) => {
    await using a = await start(layout);
    await a.nvim.command("set autowriteall noswapfile");
    await a.nvim.type("ggOunsaved<Esc>");
    await propose(a);
    await a.plays(`
        :edit other.txt<CR>   diffs wait 1
        ]f                    diffs shown 1
        q                     ended = rejected   diffs gone   {getbufvar('main.txt', '&modified')} 1
      `);
    expect(a.read("main.txt")).toBe(OLD);
    await a.nvim.command("set noautowriteall");
  });
});
