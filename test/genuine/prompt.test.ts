import { NEOVIMS } from "#test";
import { requireNamespace } from "../support/namespace";
import { eventually } from "./eventually";
import { InTerminal } from "./in-terminal";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

requireNamespace();
describe.each(NEOVIMS)("the prompt in $name", (version) => {
  const claude = new InTerminal().inBlock(version, {
    files: { "main.lua": "return 1\n", "my file.lua": "1\nIN-MY-FILE\n", "(y)": "IN-Y\n" },
  });
  const { lua, keys } = claude;
  const name = () => lua<string>("return vim.fs.basename(vim.api.nvim_buf_get_name(0))");

  test("opens in a window below with Ctrl+G, and goes back on :wq", async () => {
    await claude.begin();
    await claude.connected();
    await eventually(
      () => lua("return require('claude-code.editor.selection').mark()"),
      "⧉ main.lua",
    );
    await keys("draft");
    await claude.showing(/draft/);
    await keys("<C-g>");
    await eventually(async () => (await name()).startsWith("claude-prompt-"), true);
    expect(await claude.lines()).toEqual(["draft"]);
    expect(await lua<string>("return require('claude-code').sessions()[1].msg")).toContain("waits");
    await eventually(
      () => lua("return require('claude-code.editor.selection').mark()"),
      "⧉ main.lua",
    );
    expect(await lua("return require('claude-code').sessions()[1].edits")).toBe(true);
    await keys("A of two<CR>lines<Esc>:wq<CR>");
    await claude.showing(/^(?!.*Save and close).*draft of two/s);
    await eventually(() => lua("return vim.api.nvim_get_mode().mode"), "t");
  });

  test("gives the model names that need quotes, with their lines", async () => {
    await claude.command("stopinsert | wincmd p | edit my\\ file.lua | 2Claude mention");
    await claude.command("Claude mention (y)");
    await claude.showing(/@"my file.lua#L2" +@"\(y\)"/);
    await claude.pressEnter();
    await eventually(async () => JSON.stringify(claude.model.requests).includes("IN-Y"), true);
    expect(JSON.stringify(claude.model.requests)).toContain("IN-MY-FILE");
  });

  test("gives the model an image that the prompt names", async () => {
    await Bun.write(claude.path("a shot.png"), Buffer.from(PIXEL, "base64"));
    await claude.command("stopinsert | Claude prompt");
    await lua(`vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'see @"a shot.png"' }) return true`);
    await keys("<Esc>:wq<CR>");
    const received = async () => JSON.stringify(claude.model.requests);
    await eventually(async () => (await received()).includes('"media_type":"image/png"'), true);
  });
});
