import { existsSync } from "node:fs";
import { NEOVIMS } from "#test";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal } from "./in-terminal";

const MAIN = 'local name = "zero"\nreturn name\n';

requireNamespace();
describe.each(NEOVIMS)("Claude in the terminal of $name", (version) => {
  const claude = new InTerminal().inBlock(version, { files: { "main.lua": MAIN } });

  const mode = () => claude.neovim.lua<string>("return vim.api.nvim_get_mode().mode");

  /** Widths of the windows, the terminal's as a negative number. */
  const widths = () =>
    claude.neovim.lua<number[]>(`
      return vim.tbl_map(function(win)
        local terminal = vim.bo[vim.api.nvim_win_get_buf(win)].buftype == "terminal"
        return vim.api.nvim_win_get_width(win) * (terminal and -1 or 1)
      end, vim.api.nvim_tabpage_list_wins(0))`);

  test("starts beside the file, connects, gets the keyboard, and receives what was sent", async () => {
    claude.model.script([[{ text: "I have begun." }]]);
    await claude.command("Claude");
    await claude.command("Claude send! begin");
    expect(newsText(await claude.model.nextRequest())).toContain("begin");
    await claude.showing(/^❯/m);
    await claude.connected();
    expect(await widths()).toEqual([115, -64]);
    await eventually(mode, "t");
  });

  test("receives lines in the draft as they are, which stays when ! submits others", async () => {
    claude.model.script([say("I see words."), say("I see two lines.")]);
    await claude.command("wincmd p");
    await claude.command("1,2Claude send");
    await claude.showing(/return name/);
    await claude.command("Claude send! -- what is that?");
    expect(newsText(await claude.model.nextRequest())).not.toContain(MAIN);
    await claude.showing(/I see words/);
    await claude.showing(/return name(?!.*I see words)/s);
    await claude.pressEnter();
    expect(newsText(await claude.model.nextRequest())).toContain(MAIN);
    await claude.showing(/I see two lines/);
    claude.model.script([[{ text: "I see 2,000 lines." }]]);
    const long = Array.from({ length: 2_000 }, (_, i) => `line ${i}`).join("\\n");
    await claude.send(long);
    expect(newsText(await claude.model.nextRequest())).toContain("line 1999");
    await claude.showing(/I see 2,000 lines/);
  });

  test("does not run a line that begins with ! as a command", async () => {
    claude.model.script([[{ text: "I see a line." }]]);
    const ran = claude.path("ran");
    await claude.command(`new | call setline(1, "!touch ${ran}") | 1Claude send!`);
    expect(newsText(await claude.model.nextRequest())).toContain(`!touch ${ran}`);
    await claude.showing(/I see a line/);
    expect(existsSync(ran)).toBe(false);
    await claude.command("bwipeout!");
  });

  test("asks in the terminal if an edit is too big for a diff", async () => {
    const big = claude.path("big.txt");
    const content = "x\n".repeat(20_001);
    const write = [{ tool: "Write", input: { file_path: big, content } }];
    claude.model.script([write, [{ text: "Written." }]]);
    await claude.command("Claude send! write it");
    await claude.showing(/Do you want to create big\.txt/);
    await claude.confirm(async () => existsSync(big));
    await claude.showing(/Written\./);
    expect(await claude.onDisk("big.txt")).toBe(content);
  });

  test("receives the reason of a rejection at once, as the user's words", async () => {
    const main = claude.path("main.lua");
    const text = await claude.onDisk("main.lua");
    const proposal = text.replace("return", "return -- two");
    claude.model.script([
      read(main),
      edit(main, "return", "return -- two"),
      [{ text: "I see why." }],
    ]);
    await claude.command("Claude send! change it again");
    const diff = await claude.neovim.waitForDiff(proposal);
    await claude.neovim.focus(diff.proposed.window);
    await claude.neovim.terminal.press("Q");
    await claude.neovim.terminal.waitFor("Reject main.lua, because:");
    await claude.neovim.terminal.type("use a map, not 'two'");
    await claude.neovim.terminal.press("Enter");
    const reason = `I rejected your edit of ${main}: use a map, not 'two'`;
    const request = await claude.model.nextRequest((one) => newsText(one).includes(reason));
    expect(newsText(request)).toContain("The user doesn't want to proceed with this tool use");
    await claude.showing(/I see why\./);
    expect(await claude.onDisk("main.lua")).toBe(text);
  });
});
