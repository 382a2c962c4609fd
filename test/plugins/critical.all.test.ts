import { eventually, NEOVIMS, NEWEST, setDefaultTimeout } from "#test";
import { testWithPlugins } from "../../bench/plugins/archives";
import { Editor } from "../../bench/plugins/editor";
import { setupOf } from "../../bench/plugins/setups";

/* Former failures beside popular plugins: further plugins. */

setDefaultTimeout(120_000);

for (const version of NEOVIMS) {
  testWithPlugins(`vim.notify = require("notify") (${version.name})`, async () => {
    await using editor = await Editor.start(version, setupOf("nvim-notify"));
    await editor.neovim.type(":Claude diff accept<CR>");
    const screen = await editor.shows("waiting for an answer");
    expect(screen.match(/claude-code\.nvim/g)).toHaveLength(1);
    const rejected = editor.propose();
    await editor.shown();
    await editor.neovim.type("q");
    expect(await rejected).toBe("DIFF_REJECTED");
  });

  testWithPlugins(
    `popups that come and go change no size beside a diff or Claude's terminal (${version.name})`,
    async () => {
      await using editor = await Editor.start(version, setupOf("noice, nvim-notify"));
      for (const layout of ["vertical", "tab", "inline"]) {
        await editor.layout(layout);
        const popup = `a popup beside ${layout}`;
        await editor.neovim.lua("vim.notify(..., vim.log.levels.INFO, { timeout = false })", popup);
        await editor.shows(popup);
        const before = await editor.settled();
        const rejected = editor.propose();
        await editor.shown();
        await editor.neovim.lua(`require("notify").dismiss({ silent = true, pending = true })`);
        await editor.neovim.type("q");
        expect(await rejected).toBe("DIFF_REJECTED");
        await editor.noDiff();
        await editor.same(before);
      }
      for (const height of [1, 3]) {
        await editor.neovim.lua("vim.o.cmdheight = ...", height);
        const popup = `a popup with cmdheight ${height}`;
        await editor.neovim.lua("vim.notify(..., vim.log.levels.INFO, { timeout = false })", popup);
        await editor.shows(popup);
        const before = await editor.settled();
        await editor.neovim.command("Claude");
        await editor.waitForMode("t");
        await editor.neovim.lua(`require("notify").dismiss({ silent = true, pending = true })`);
        await editor.neovim.command("Claude");
        await editor.same(before);
        await eventually("no popup", async () => !(await editor.screen()).includes(popup));
      }
    },
  );

  testWithPlugins(
    `snacks.nvim's terminal takes its share, and gives it back (${version.name})`,
    async () => {
      for (const [position, size] of [
        ["right", [61, 43]],
        ["bottom", [170, 15]],
      ]) {
        const ours = `{ terminal = { provider = "snacks", position = "${position}" } }`;
        await using editor = await Editor.start(version, { ...setupOf("snacks"), ours });
        await editor.neovim.command("vertical resize 40 | split | resize 9");
        const before = await editor.settled();
        for (const end of ["Claude", "Claude close"]) {
          await editor.neovim.command("Claude");
          await editor.waitForMode("t");
          const found = await editor.neovim.lua(
            "return { vim.api.nvim_win_get_width(0), vim.api.nvim_win_get_height(0) }",
          );
          expect(found).toEqual(size);
          expect(await editor.neovim.lua("return vim.wo.winbar")).toBe("");
          await editor.neovim.command(end);
          await editor.same(before);
        }
      }
    },
  );
}

for (const name of ["nvim-notify", "noice, nvim-notify", "snacks"]) {
  testWithPlugins(`messages of one topic replace each other (${name})`, async () => {
    // A message that fades while the next one appears is not tested here.
    const stay = `
      local ok, notify = pcall(require, "notify")
      if ok then notify.setup({ timeout = 60000 }) end
      if Snacks then Snacks.config.notifier.timeout = 60000 end`;
    const setup = setupOf(name);
    await using editor = await Editor.start(NEWEST, { ...setup, lua: setup.lua + stay });
    const show = (text: string) =>
      editor.neovim.lua('require("port").messages.info(..., "topic")', text);
    await show("the first of two");
    await editor.shows("the first of two");
    await show("the second of two");
    const screen = await editor.shows("the second of two");
    expect(screen).not.toContain("the first of two");
  });
}
