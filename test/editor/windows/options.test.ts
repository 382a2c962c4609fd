import { World } from "#review";
import { BOTH_NEOVIMS } from "#test";
import { configure, ECHO, startNeovim } from "../../terminal/workbench";

/** Lua of each; the current buffer is a file without changes. */
const OPTIONS: Record<string, string> = {
  "'nohidden', and unsaved edits": `
    vim.o.hidden = false
    vim.api.nvim_buf_set_lines(0, 0, 1, false, { "mine" })`,
  "'winfixbuf' in each window": "vim.cmd('split') vim.cmd('windo set winfixbuf')",
  "'nomodifiable' for all": "vim.go.modifiable = false",
  "'nowrite', and 'readonly'": "vim.o.write = false vim.bo.readonly = true",
  "'switchbuf', which opens other windows": "vim.o.switchbuf = 'usetab,newtab'",
  "'bufhidden' of a buffer with unsaved edits": `
    vim.bo.bufhidden = "wipe"
    vim.api.nvim_buf_set_lines(0, 0, 1, false, { "mine" })`,
  "'confirm' and 'autowriteall'": `
    vim.o.hidden, vim.o.confirm, vim.o.autowriteall = false, true, true
    vim.api.nvim_buf_set_lines(0, 0, 1, false, { "mine" })`,
  "'splitkeep', 'noequalalways', 'winwidth', 'winheight'": `
    vim.o.splitkeep, vim.o.equalalways = "topline", false
    vim.o.winwidth, vim.o.winheight = 999, 999`,
  "no room for a window": `
    vim.cmd("set winheight=13 winminheight=13 winwidth=59 winminwidth=59 | vsplit | windo split")`,
  "a floating window": `
    vim.api.nvim_open_win(0, true, { relative = "editor", row = 1, col = 1, width = 20, height = 5 })`,
  "the preview window alone": "vim.wo.previewwindow = true",
  "the command-line window": "vim.api.nvim_feedkeys('q:', 'n', false)",
  "no swap file, no undo, no cmdline": `
    vim.o.directory, vim.go.undolevels, vim.o.cmdheight = vim.fn.tempname(), -1, 0`,
};

const COMMANDS = `
  :Claude review | :Claude review! | :lua PRESS(']f') | :lua PRESS(']c') | :Claude why |
  :lua PRESS('q') | :Claude undo | :Claude back | :lua PRESS(']f') | :1Claude comment words |
  :Claude review close | :Claude commit | :Claude diff | :Claude status | :lua PRESS('q') |
  :Claude log | :Claude prompt | :Claude | :Claude follow | :Claude trail | :Claude transcript |
  :Claude sessions`
  .trim()
  .split(/\s*\|\s*/);

describe.each(BOTH_NEOVIMS)("no raw error in $name, whatever the options", (version) => {
  for (const [name, lua] of Object.entries(OPTIONS)) {
    test(name, async () => {
      await using neovim = await startNeovim(version, "{}");
      await configure(neovim, `{ command = ${ECHO} }`);
      await neovim.until("the executable", 'return require("port").channel.is_attached()');
      using world = new World(neovim.cwd, neovim.home);
      for (const file of ["a", "b", "mine"]) world.write(file, "1\n2\n3\n");
      await neovim.command("edit mine");
      world.claude({ a: "1\ntwo\n3\n", b: undefined, c: "new\n" });
      await neovim.until("changes", "return require('claude-code.editor.review').count() == 3");
      await neovim.lua(`
        function PRESS(key)
          if vim.fn.maparg(key, "n", false, true).buffer == 1 then vim.cmd.normal(key) end
        end
        vim.ui.select = function(_, _, done) done(nil) end
        vim.cmd("messages clear")
        ${lua}`);
      const seen: Record<string, string[]> = {};
      for (const keys of COMMANDS) {
        await neovim.type(`<C-\\\\><C-n>${keys}<CR>`);
        for (let i = 0; i < 9; i += 1) {
          const { mode } = await neovim.mode();
          if (mode.startsWith("r")) {
            seen[keys] = [mode];
            await neovim.type("<CR>");
          }
        }
        await neovim.lua(`
          for _ = 1, 4 do
            local is_over = false
            require("claude-code.server.channel").request("review/last", {}, function() is_over = true end)
            vim.wait(4000, function() return is_over end, 5)
          end`);
        const found = await neovim.lua<string[]>(`
          local texts = vim.split(vim.fn.execute("messages"), "\\n")
          vim.list_extend(texts, SAID)
          vim.cmd("messages clear")
          SAID = {}
          return texts`);
        if (keys === ":Claude review" && !/room|command-line/.test(name))
          expect(await neovim.lua("return vim.fn.bufwinid('a')")).not.toBe(-1);
        const bad = found.filter((text) =>
          /\bVim\b.*:E\d|\.lua:\d|traceback|Error |E\d+:/.test(text),
        );
        if (bad.length > 0) seen[keys] = bad;
      }
      expect(seen).toEqual({});
    });
  }
});
