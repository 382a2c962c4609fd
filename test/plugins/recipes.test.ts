import { appendFileSync } from "node:fs";
import { eventually, NEOVIMS, NEWEST, type NeovimVersion, setDefaultTimeout } from "#test";
import { type PluginName, testWithPlugins } from "../../bench/plugins/archives";
import { Editor, recipe, TEXT, UI } from "../../bench/plugins/editor";

/* The recipes of the help, unchanged, with the plugins that they are for. */

setDefaultTimeout(120_000);

const start = (version: NeovimVersion, plugins: PluginName[], lua: string[]) =>
  Editor.start(version, { name: "a recipe", plugins, lua: lua.join("\n") });

const BOTH = ["main.lua", "other.lua"];

const holds = (editor: Editor, what: string, condition: string) =>
  eventually(what, () => editor.neovim.lua<boolean>(condition));

interface Picker {
  /** Opens it with the two files. */
  open(): Promise<unknown>;
  /** Opens it with the quickfix list. */
  openList(): Promise<unknown>;
  shows(count: number): Promise<unknown>;
}

/** The entry under the cursor, those that are marked, and a line of the quickfix list. */
async function mentionsByPicker(editor: Editor, { open, openList, shows }: Picker): Promise<void> {
  await open();
  await shows(2);
  await editor.neovim.type("main");
  await shows(1);
  await editor.neovim.type("<M-a>");
  await editor.mentioned(["main.lua"]);
  await editor.waitForMode("n");
  await open();
  await shows(2);
  await editor.neovim.type("<Tab><Tab><M-a>");
  await editor.mentioned(BOTH);
  await editor.waitForMode("n");
  const item = `{ filename = "src/other.lua", lnum = 5, text = "here" }`;
  await editor.neovim.lua(`vim.fn.setqflist({ ${item} })`);
  await openList();
  await shows(1);
  await editor.neovim.type("<M-a>");
  await editor.mentioned(["other.lua"], { lineStart: 4, lineEnd: 4 });
}

testWithPlugins("Telescope: <M-a> mentions what is selected", async () => {
  // It needs Neovim 0.11.
  const plugins: PluginName[] = ["telescope.nvim", "plenary.nvim"];
  await using editor = await start(NEWEST, plugins, recipe("Telescope"));
  const shows = (count: number) =>
    holds(
      editor,
      `${count} entries and the prompt`,
      `local prompt = vim.api.nvim_get_current_buf()
       local picker = require("telescope.actions.state").get_current_picker(prompt)
       local manager = picker and picker.manager
       if not manager or manager:num_results() ~= ${count} then
         return false
       end
       -- It selects again only after it has filtered.
       local selected = picker:get_selection()
       local is_shown = vim.iter(manager:iter()):any(function(entry) return entry == selected end)
       return is_shown and vim.api.nvim_get_mode().mode == "i"`,
    );
  const open = () => editor.neovim.command("Telescope find_files cwd=src");
  const openList = () => editor.neovim.command("Telescope quickfix");
  await mentionsByPicker(editor, { open, openList, shows });
});

for (const version of NEOVIMS) {
  testWithPlugins(`snacks.nvim: <M-a> mentions what is selected (${version.name})`, async () => {
    await using editor = await start(version, ["snacks.nvim"], recipe("snacks.nvim"));
    const shows = (count: number) =>
      holds(
        editor,
        `${count} items and the prompt`,
        `local picker = Snacks.picker.get()[1]
         return picker ~= nil and not picker:is_active() and #picker:items() == ${count}
           and picker:current() ~= nil and vim.api.nvim_get_current_win() == picker.input.win.win
           and vim.api.nvim_get_mode().mode == "i"`,
      );
    const open = () => editor.neovim.lua(`Snacks.picker.files({ cwd = "src" })`);
    const openList = () => editor.neovim.lua("Snacks.picker.qflist()");
    await mentionsByPicker(editor, { open, openList, shows });
  });

  testWithPlugins(`mini.pick: <M-a> mentions what is marked (${version.name})`, async () => {
    await using editor = await start(version, ["mini.nvim"], recipe("mini.pick"));
    // Neovim answers no request while mini.pick waits in getchar(), so its own event triggers the next keys. Each step
    // has the number of entries that must be there first.
    const pick = (source: string, ...steps: [count: number, keys: string][]) =>
      editor.neovim.lua(
        `local steps = ...
        vim.api.nvim_create_autocmd("User", {
          group = vim.api.nvim_create_augroup("test", {}),
          pattern = "MiniPickMatch",
          callback = function()
            if #(MiniPick.get_picker_matches().all or {}) == steps[1][1] then
              vim.api.nvim_input(table.remove(steps, 1)[2])
              return #steps == 0
            end
          end,
        })
        vim.schedule(function() MiniPick.builtin.${source} end)`,
        steps,
      );
    await pick(`files({}, { source = { cwd = "src" } })`, [2, "<C-n><M-a>"]);
    await editor.mentioned(["other.lua"]);
    await pick(`files()`, [2, "<C-x><C-n><C-x><M-a>"]);
    await editor.mentioned(BOTH);
    await pick(`grep({ pattern = "f1" })`, [6, "f10"], [2, "<C-n><M-a>"]);
    await editor.mentioned(["other.lua"], { lineStart: 51, lineEnd: 51 });
  });

  testWithPlugins(`edgy.nvim: Claude's terminal is in its sidebar (${version.name})`, async () => {
    await using editor = await start(version, ["edgy.nvim"], recipe("edgy.nvim"));
    await editor.neovim.command("Claude");
    await editor.shows("CLAUDE IS UP");
    const width = Math.floor(UI.width * 0.4);
    await eventually("the sidebar", async () =>
      expect(
        await editor.neovim.lua<unknown>(`
          local edgy = require("edgy.editor").get_win(vim.api.nvim_get_current_win())
          return { edgy and edgy.view.ft, vim.api.nvim_win_get_width(0) }`),
      ).toEqual(["claude-code-terminal", width]),
    );
  });

  testWithPlugins(`bufferline.nvim names a diff's tab page (${version.name})`, async () => {
    await using editor = await start(version, ["bufferline.nvim"], recipe("bufferline.nvim"));
    const names = () =>
      editor.neovim.lua<string[]>(`
        vim.cmd.redrawtabline()
        return vim.tbl_map(function(one) return one.name end,
          require("bufferline").get_elements().elements)`);
    await editor.layout("tab");
    const rejected = editor.propose();
    await editor.shown();
    await eventually("its line", async () =>
      expect(await names()).toEqual(["main.lua", "Claude: main.lua"]),
    );
    await editor.neovim.type("q");
    expect(await rejected).toBe("DIFF_REJECTED");
  });

  testWithPlugins(`heirline.nvim: a component in diffs alone (${version.name})`, async () => {
    const use = `require("heirline").setup({ statusline = { { provider = "LINE " }, diff } })`;
    await using editor = await start(version, ["heirline.nvim"], [...recipe("heirline.nvim"), use]);
    expect(await editor.shows("LINE")).not.toContain("Claude: main.lua");
    const rejected = editor.propose();
    await editor.shown();
    await editor.shows("LINE Claude: main.lua");
    await editor.neovim.type("q");
    expect(await rejected).toBe("DIFF_REJECTED");
    await eventually("the line without it", async () =>
      expect(await editor.screen()).not.toContain("Claude: main.lua"),
    );
  });

  testWithPlugins(`gitsigns.nvim shows what a branch changed (${version.name})`, async () => {
    await using editor = await start(version, ["gitsigns.nvim"], ['require("gitsigns").setup()']);
    const git = (...args: string[]) =>
      Bun.spawnSync(["git", "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
        cwd: editor.neovim.cwd,
      });
    for (const args of ["branch -M main", "checkout -b branch"]) git(...args.split(" "));
    editor.write("src/main.lua", TEXT.replace("a + b", "a * b"));
    git("commit", "-am", "two");
    appendFileSync(editor.path("src/main.lua"), "-- not committed yet\n");
    const last = TEXT.split("\n").length;
    const rows = () =>
      editor.neovim.lua<number[]>(`
        return vim.tbl_map(function(hunk)
          return hunk.added.start
        end, require("gitsigns").get_hunks(0) or {})`);
    // gitsigns loses a change that comes while it attaches or updates: so it is told again, after longer and longer
    // pauses.
    const shows = async (wanted: number[], lua: string) => {
      let ms = 250;
      await eventually(`the hunks at ${wanted}`, async () => {
        await editor.neovim.lua(lua);
        ms *= 2;
        await eventually("them", async () => expect(await rows()).toEqual(wanted), ms);
      });
    };
    await shows([last], "vim.cmd.edit({ bang = true })");
    await shows([2, last], recipe("gitsigns.nvim").join("\n"));
  });
}
