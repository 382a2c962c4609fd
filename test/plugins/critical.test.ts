import { readdirSync } from "node:fs";
import {
  eventually,
  first,
  NEOVIMS,
  NEWEST,
  setDefaultTimeout,
  TestClient,
  temporaryFolder,
} from "#test";
import { testWithPlugins } from "../../bench/plugins/archives";
import { byLazy, ours } from "../../bench/plugins/configurations";
import { Editor, type Setup, startNeovim } from "../../bench/plugins/editor";
import { setupOf } from "../../bench/plugins/setups";

/* Former failures beside lualine.nvim, which-key.nvim and lazy.nvim, which most users have. */

setDefaultTimeout(120_000);

/** Counts how often the bar of the proposal is another plugin's, at each redraw. */
const WATCH_BAR = `
  THEIRS, REDRAWN = 0, 0
  local win = require("port").diff_window()
  vim.api.nvim_set_decoration_provider(vim.api.nvim_create_namespace("watch"), {
    on_start = function()
      if vim.api.nvim_win_is_valid(win) and require("port").diff_shown() then
        REDRAWN = REDRAWN + 1
        THEIRS = THEIRS + (vim.wo[win].winbar:find("ClaudeCode") and 0 or 1)
      end
    end,
  })`;

for (const version of NEOVIMS) {
  testWithPlugins(`lualine's winbar and ours take turns (${version.name})`, async () => {
    await using editor = await Editor.start(version, setupOf("lualine, its winbar"));
    await editor.layout("inline");
    const theirs = () => editor.neovim.lua<string>('return vim.wo.winbar:match("lualine") or ""');
    await eventually("lualine's bar", async () => (await theirs()) === "lualine");
    const rejected = editor.propose();
    await editor.shown();
    await editor.shows("accept");
    await editor.neovim.lua(WATCH_BAR);
    for (const key of "jkjkjkjkjkjkjkjkjkjk") {
      await editor.neovim.type(key);
      await Bun.sleep(40);
    }
    const [theirsShown, redrawn] = await editor.neovim.lua<number[]>("return { THEIRS, REDRAWN }");
    expect(redrawn).toBeGreaterThan(10);
    expect(theirsShown).toBe(0);
    await editor.neovim.type("q");
    expect(await rejected).toBe("DIFF_REJECTED");
    await eventually("lualine's bar", async () => (await theirs()) === "lualine");
  });
}

for (const name of first(1, ["which-key", "mini.clue, mini.notify"])) {
  testWithPlugins(`${name}: a popup with the keys of a diff that just opened`, async () => {
    await using editor = await Editor.start(NEWEST, setupOf(name));
    const rejected = editor.propose();
    await editor.shown();
    await editor.shows("accept");
    // The popup waits in getchar(), where Neovim answers no request: a timer records what it shows.
    await editor.neovim.lua(`
    vim.uv.new_timer():start(600, 0, vim.schedule_wrap(function()
      local texts = {}
      for _, win in ipairs(vim.api.nvim_list_wins()) do
        if vim.api.nvim_win_get_config(win).relative ~= "" then
          local buf = vim.api.nvim_win_get_buf(win)
          vim.list_extend(texts, vim.api.nvim_buf_get_lines(buf, 0, -1, false))
        end
      end
      POPUP = table.concat(texts, "\\n")
      vim.api.nvim_input("<Esc>")
    end))`);
    await editor.neovim.request("nvim_input", ["g"]);
    const popup = await eventually("a popup", () =>
      editor.neovim.lua<string>("return POPUP or false"),
    );
    expect(popup).toContain("accepts the hunk");
    expect(popup).toContain("restores the old lines");
    await editor.neovim.type("q");
    expect(await rejected).toBe("DIFF_REJECTED");
  });
}

testWithPlugins("hiding Claude's terminal goes back to where the user was", async () => {
  await using editor = await Editor.start(NEWEST, {
    name: "'splitright'",
    plugins: [],
    lua: "vim.o.splitright = true",
  });
  for (const file of ["main.lua", "other.lua"]) {
    await editor.neovim.lua("vim.fn.win_gotoid(vim.fn.bufwinid(...))", file);
    for (const _ of [1, 2]) {
      await editor.neovim.command("Claude");
      await editor.waitForMode("t");
      await editor.neovim.command("Claude");
      await editor.waitForMode("n");
      expect(await editor.neovim.lua<string>('return vim.fn.expand("%:t")')).toBe(file);
    }
  }
});

testWithPlugins(":Lazy reload leaves one server, and no part of the first one", async () => {
  const home = temporaryFolder();
  const init = byLazy([ours("lazy = false", "keymaps = true")]);
  const neovim = await startNeovim(NEWEST, { name: "lazy.nvim", plugins: [], init }, home);
  await using editor = await Editor.attach(neovim, home);
  const locks = () => readdirSync(neovim.lockFolder).filter((name) => name.endsWith(".lock"));
  const groups = () =>
    neovim.lua<Record<string, number>>(`
      local counts = {}
      for _, one in ipairs(vim.api.nvim_get_autocmds({})) do
        local name = one.group_name or ""
        if name:find("^claude%-code") then counts[name] = (counts[name] or 0) + 1 end
      end
      return counts`);
  // Neovim watches files and movements once it knows of the client.
  await eventually("both watches", async () =>
    expect(await groups()).toMatchObject({
      "claude-code.auto_reload": expect.any(Number),
      "claude-code.selection.cursor": expect.any(Number),
    }),
  );
  const [before, started] = [await groups(), locks()];
  expect(started).toHaveLength(1);
  await neovim.command("Lazy! reload claude-code.nvim");
  await eventually("another server", () => locks().length === 1 && locks()[0] !== started[0]);
  await editor.client.closed;
  using client = await TestClient.open(await neovim.lock(), "claude-code");
  await client.json("getOpenEditors");
  await eventually("the same autocommands", async () => expect(await groups()).toEqual(before));
});

testWithPlugins("keymaps = true takes no key that is mapped", async () => {
  const key = setupOf("which-key");
  const setup: Setup = {
    ...key,
    ours: "{ keymaps = true }",
    lua: `vim.keymap.set("n", "<leader>cd", "<Cmd>echo 'mine'<CR>", { desc = "Line Diagnostics" })
    GOT = {} vim.notify = function(text) table.insert(GOT, text) end
    ${key.lua}`,
  };
  await using editor = await Editor.start(NEWEST, setup);
  const map = (keys: string) => editor.neovim.lua<string>('return vim.fn.maparg(..., "n")', keys);
  expect(await map("<leader>cd")).toBe("<Cmd>echo 'mine'<CR>");
  expect(await map("<leader>ac")).toBe("<Plug>(claude)");
  await editor.neovim.command("checkhealth claude-code");
  const report = await editor.neovim.lua<string>(
    'return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")',
  );
  expect(report).toContain("WARNING keymaps: <leader>cd is mapped to something else");
  expect(report).toContain("map <Plug>(claude-diagnostics) to another key");
  expect(report.match(/keymaps:/g)).toHaveLength(1);
  expect(await editor.neovim.lua<string[]>("return GOT")).toEqual([]);
});
