import { NEOVIMS, nightly } from "#test";
import { requireNamespace } from "../support/namespace";
import { bash, edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal } from "./in-terminal";

/* A conversation of the genuine CLI as a buffer, and its screen with either of its two renderers. */
const LONG = Array.from({ length: 120 }, (_, i) => `${i + 1}. line`).join("\n");

requireNamespace();
describe.each(NEOVIMS)("the conversation in $name", (version) => {
  const claude = new InTerminal().inBlock(version, {
    files: { "main.lua": "return 1\n", "other.lua": "1\n2\n3\n" },
    terminal: `args = { "--permission-mode", "acceptEdits", "--allowedTools=Bash" }`,
  });
  const { lua, keys, lines } = claude;

  test("shows all of an answer in Claude's window with the key; i types again", async () => {
    claude.model.script([
      [{ text: "I look." }, ...read(claude.path("main.lua"))],
      [{ text: LONG }],
    ]);
    await claude.begin();
    await claude.send("explain");
    await claude.showing(/120\. line/);
    await keys("<C-q>o");
    // The CLI writes an answer a moment after it has shown it. The end of the file is shown first.
    await eventually(async () => (await lines()).includes("120. line"), true);
    await eventually(async () => (await lines())[0], "❯ explain");
    const shown = await lines();
    expect(shown.slice(0, 3)).toEqual(["❯ explain", "", "I look."]);
    expect(shown).toContain("1. line");
    expect(shown).toContain("▸ Read `main.lua`  1 line");
    expect(shown).toContain("120. line");
    expect(await lua<number>("return #vim.api.nvim_list_wins()")).toBe(2);
    claude.model.script([[{ text: "Once more." }]]);
    await claude.send("again");
    await eventually(async () => (await lines()).includes("Once more."), true);
    await keys("i");
    await eventually(() => lua("return vim.api.nvim_get_mode().mode"), "t");
    await claude.showing(/Once more/);
  });

  test("shows an answer while Claude writes it", async () => {
    const rest = Promise.withResolvers<void>();
    claude.model.script([[{ text: "# Half", rest: rest.promise }]]);
    await claude.command("Claude transcript");
    await claude.send("slowly");
    await eventually(async () => (await lines()).slice(-4), ["❯ slowly", "", "# Half", ""]);
    expect(claude.transcript()).not.toContain("# Half");
    rest.resolve();
    await eventually(async () => claude.transcript().includes("# Half"), true);
    claude.model.script([[{ text: "Next." }]]);
    await claude.send("next");
    await eventually(async () => (await lines()).at(-2), "Next.");
    expect((await lines()).filter((line) => line === "# Half")).toHaveLength(1);
    expect(await claude.messages()).not.toContain("terminal is hidden");
    await keys("i");
  });

  test("restores the files as before the prompt above, after it has stopped the turn", async () => {
    const main = claude.path("main.lua");
    claude.model.script([
      read(main),
      edit(main, "1", "2"),
      bash("echo waits; sleep 60"),
      say("Never."),
    ]);
    await eventually(() => lua(`return require("claude-code").sessions()[1].state`), "idle");
    await claude.send("work on");
    await eventually(() => claude.onDisk("main.lua"), "return 2\n");
    await claude.command("Claude transcript");
    await eventually(async () => (await lines()).includes("❯ work on"), true);
    await lua(`vim.fn.search("^❯ work on")
      vim.ui.select = function(items, _, done) done(nil, items[1]:find("Stop") and 1 or 3) end
      return true`);
    await keys("gR");
    await eventually(() => claude.onDisk("main.lua"), "return 1\n");
    await claude.showing(/❯ .*\/rewind/);
    await keys("<C-u>");
    await claude.showing(/^❯/m);
  });

  test("types no /rewind behind a draft", async () => {
    await claude.command("Claude back");
    await eventually(() => claude.onDisk("main.lua"), "return 2\n");
    await keys("mine");
    await claude.showing(/❯\s*mine\s*$/m);
    await claude.command("Claude restore last");
    await eventually(() => claude.onDisk("main.lua"), "return 1\n");
    await eventually(async () => (await claude.messages()).includes("type /rewind in"), true);
    await claude.showing(/❯\s*mine\s*$/m);
    await keys("<C-u>");
    await claude.showing(/^❯/m);
  });

  test("appears in the follow window, and leaves the user where they are", async () => {
    await claude.command("Claude follow");
    claude.model.script([read(claude.path("other.lua")), [{ text: "Read." }]]);
    await claude.send("look");
    await claude.showing(/Read\./);
    const bars = `return vim.tbl_map(function(win)
        local name = vim.fs.basename(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)))
        return name .. ": " .. vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win }).str
      end, vim.api.nvim_list_wins())`;
    await eventually(
      async () => (await lua<string[]>(bars)).includes("other.lua: Claude reads other.lua"),
      true,
    );
    expect(await lua<string>("return vim.api.nvim_get_mode().mode")).toBe("t");
  });

  test("opens as text with Ctrl+O and v", async () => {
    await keys("<C-o>");
    await claude.showing(/Showing detailed transcript/);
    await keys("v");
    const name = "return vim.fs.basename(vim.api.nvim_buf_get_name(0))";
    await eventually(async () => (await lua<string>(name)).startsWith("cc-transcript-"), true);
    expect(await lua<string>("return table.concat(vim.fn.getline(1, '$'))")).toContain("look");
  });
});

describe.each([
  ["1", false],
  ["0", true],
])("CLAUDE_CODE_NO_FLICKER = %s in terminal.env", (value, hasScrollback) => {
  const claude = new InTerminal().inBlock(NEOVIMS[0] as never, {
    files: { "main.lua": "return 1\n" },
    terminal: `env = { CLAUDE_CODE_NO_FLICKER = "${value}" }`,
  });

  nightly.test("decides whether what scrolls off stays in the terminal's buffer", async () => {
    claude.model.script([[{ text: LONG }]]);
    await claude.begin();
    await claude.send("explain");
    await claude.showing(/120\. line/);
    const text = await claude.neovim.lua<string>(`
        local row = require("port").session_rows.get(1)
        return table.concat(vim.api.nvim_buf_get_lines(row.buf, 0, -1, true), "\\n")`);
    expect(/^\W*1\. line/m.test(text)).toBe(hasScrollback);
  });
});
