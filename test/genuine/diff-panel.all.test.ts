import { NEOVIMS } from "#test";
import { requireNamespace } from "../support/namespace";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal } from "./in-terminal";

/* The CLI's own panel of what has changed, which it opens automatically from 144 columns on (measured with 2.1.330). */
const WIDE = 150;
const PANEL = /1 file changed/;

requireNamespace();
describe("the CLI's diff panel", () => {
  const claude = new InTerminal().inBlock(NEOVIMS[0] as never, {
    files: { "main.lua": 'return "zero"\n' },
    terminal: 'permission_mode = "acceptEdits", env = { CLAUDE_CODE_NO_FLICKER = "1" }',
    columns: 220,
  });

  const resize = (columns: number) =>
    claude.neovim.lua(`
      local win = vim.fn.bufwinid(require("port").session_rows.get(1).buf)
      vim.api.nvim_win_set_width(win, ${columns}) return true`);

  test("appears in a wide terminal, and does not ask for columns in a narrow one", async () => {
    Bun.spawnSync(["git", "init", "-q"], { cwd: claude.project, env: claude.env });
    await claude.begin();
    await resize(WIDE);
    const main = claude.path("main.lua");
    claude.model.script([read(main), edit(main, "zero", "one"), say("I did it.")]);
    await claude.send("change it");
    await claude.showing(PANEL);
    await resize(70);
    claude.model.script([say("It is narrow now.")]);
    await claude.send("and now?");
    await claude.showing(/It is narrow now/);
    const screen = () => claude.neovim.terminal.screen();
    await eventually(async () => PANEL.test(await screen()), false);
    expect(await screen()).not.toContain("Resize your terminal");
  });
});
