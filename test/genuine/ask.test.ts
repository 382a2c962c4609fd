import { claudeCli, NEOVIMS } from "#test";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { say } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal, START_MS } from "./in-terminal";

/* Questions about lines, to the genuine CLI. */
requireNamespace();
describe.each(NEOVIMS)(":Claude ask in $name", (version) => {
  const claude = new InTerminal().inBlock(version, {
    files: { "main.lua": "local a = 1\nreturn a\n" },
  });
  const { lua, keys, lines } = claude;

  /** Types a question about the file's second line, and a key. */
  async function ask(question: string, key: string): Promise<void> {
    await claude.command("stopinsert | wincmd t");
    await eventually(() => lua("return vim.api.nvim_get_mode().mode"), "n");
    await claude.command("2Claude ask");
    await eventually(() => lua("return vim.api.nvim_get_mode().mode"), "i");
    await keys(`${question}${key}`);
  }

  test("asks in the conversation, or aside once there is one", async () => {
    await claude.begin();
    await eventually(() => lua("return require('claude-code').sessions()[1].mod"), true, START_MS);
    await ask("why?", "<C-s>");
    await claude.says("no conversation to ask aside yet");
    await eventually(() => lua("return vim.api.nvim_get_mode().mode"), "i");
    claude.model.script([say("Because.")]);
    await keys("<Esc><CR>");
    const prompt = newsText(await claude.model.nextRequest());
    expect(prompt).toContain("why?\n\nmain.lua:2\n```lua\nreturn a\n```");
    await claude.showing(/Because/);
    await eventually(() => lua("return require('claude-code').sessions()[1].state"), "idle");

    claude.model.script([say("An *aside*.")]);
    await ask("and this?", "<C-s>");
    await eventually(lines, ["❯ and this?", "", "An *aside*."]);
    expect(newsText(await claude.model.nextRequest())).toContain("and this?");
    await keys("q");
    await eventually(() => lua("return vim.fn.bufname()"), "main.lua");
    claude.model.script([say("Next.")]);
    await claude.send("next");
    expect(JSON.stringify(await claude.model.nextRequest())).not.toContain("aside");
    await claude.showing(/Next\./);
    await eventually(async () => claude.transcript().includes("Next."), true);
    expect(claude.transcript()).not.toMatch(/and this\?|An \*aside/);
  });

  test("asks the question of the command aside, also in a terminal that the user opened", async () => {
    await claude.command("Claude close!");
    await lua("vim.fn.confirm = function() return 1 end vim.cmd('Claude setup') return true");
    await claude.says("set up for new Claude sessions");
    await claude.command(`tabnew | terminal ${claudeCli()}`);
    await claude.command("tabprevious");
    const status = () => lua<string>("return table.concat(require('port').status_lines(), '\\n')");
    const way = /Claude in process \d+ receives prompts by the mod/;
    await eventually(async () => way.test(await status()) || status(), true, START_MS);
    claude.model.script([say("Yes.")]);
    await claude.command("2Claude ask is it right?");
    expect(newsText(await claude.model.nextRequest())).toContain("is it right?\n\nmain.lua:2");
    await eventually(() => lua("return require('claude-code').sessions()[1].state"), "idle");
    claude.model.script([say("Twice.")]);
    await claude.command("2Claude ask! are you sure?");
    await eventually(lines, ["❯ are you sure?", "", "Twice."]);
  });
});
