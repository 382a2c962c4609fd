import { writeFileSync } from "node:fs";
import { NEOVIMS, perBlock, TestNeovim } from "#test";
import { join } from "../../src/lib/platform";

/** Each subcommand records its arguments instead of running. */
const GIVEN = `
  GIVEN, SAID = nil, {}
  vim.notify = function(text) table.insert(SAID, text) end
  for name, subcommand in pairs(require("claude-code.commands").list) do
    subcommand.run = function(args) GIVEN = vim.tbl_extend("force", args, { name = name }) end
  end`;

describe.each(NEOVIMS)("the commands in $name", (version) => {
  const neovim = perBlock(() => TestNeovim.start({ version, setup: false, args: [] }));
  beforeAll(async () => {
    for (const name of ["a.txt", "some file.txt"]) writeFileSync(join(neovim.cwd, name), "");
    await neovim.lua(GIVEN);
  });

  /** The arguments that the subcommand received. */
  const given = async (line: string) =>
    neovim.lua<Record<string, unknown>>(
      `GIVEN, SAID = nil, {}
       vim.api.nvim_buf_set_lines(0, 0, -1, false, { "1", "2", "3", "4" })
       vim.cmd(...)
       return GIVEN`,
      line,
    );
  /** The message about a command line that is not run. */
  const said = async (line: string) => {
    expect(await given(line)).toBeNull();
    return neovim.lua<string[]>("vim.wait(1000, function() return #SAID > 0 end) return SAID");
  };
  const completions = (typed: string) =>
    neovim.lua<string[]>("return vim.fn.getcompletion(..., 'cmdline')", typed);

  const lines: [string, object][] = [
    ["Claude", { name: "", args: "", bang: false }],
    ["Claude!", { name: "", bang: true }],
    ["Claude 2", { name: "", args: "", session: 2 }],
    ["2Claude", { name: "", session: 2 }],
    ["2,3Claude", { name: "" }],
    ["Claude --model opus 'fix it'", { name: "", args: "--model opus 'fix it'" }],
    [`Claude "fix | it"`, { name: "", args: `"fix | it"` }],
    ["9ClaudeCode", { name: "", session: 9 }],
    ["ClaudeCode review the code", { name: "", args: "review the code" }],
    ["ClaudeCode! --verbose", { name: "", bang: true, args: "--verbose" }],
    ["Claude focus", { name: "focus", args: "" }],
    ["Claude answer 3", { name: "answer", session: 3 }],
    ["Claude answer docs", { name: "answer", args: "docs" }],
    ["2,3Claude send", { name: "send", range: 2, line1: 2, line2: 3 }],
    ["Claude send! why 5% of #1 | 2", { name: "send", bang: true, args: "why 5% of #1 | 2" }],
    ["Claude! send go on", { name: "send", bang: true, args: "go on" }],
    ["%ClaudeCodeSend", { name: "send", range: 2, line1: 1, line2: 4 }],
    ["ClaudeCodeSend diff accept", { name: "send", args: "diff accept" }],
    ["Claude diff", { name: "diff", args: "" }],
    ["Claude diff accept!", { name: "diff accept", bang: true }],
    ["Claude diff  reject-all", { name: "diff reject-all" }],
    ["Claude diff reject too clever", { name: "diff reject", args: "too clever" }],
    ["ClaudeCodeDiffDeny too clever", { name: "diff reject", args: "too clever" }],
    ["ClaudeCodeDiffAccept!", { name: "diff accept", bang: true }],
    ["Claude review! turn a.txt", { name: "review", bang: true, fargs: ["turn", "a.txt"] }],
    ["Claude review done", { name: "review done", args: "" }],
    ["2,3Claude undo!", { name: "undo", bang: true, line1: 2, line2: 3 }],
    [`ClaudeAtMention some\\ file.txt`, { name: "mention", fargs: ["some file.txt"] }],
    ["ClaudeCodeAdd a.txt 3 5", { name: "mention", fargs: ["a.txt", "3", "5"] }],
    ["ClaudeInstallMCP", { name: "setup" }],
    ["1ClaudeSendWithDiagnostics", { name: "diagnostics", line1: 1, line2: 1 }],
  ];
  test.each(lines)(":%s", async (line, expected) => {
    expect(await given(line)).toMatchObject(expected);
  });

  const refused: [string, string][] = [
    ["Claude reviw", ":Claude reviw is not a command; did you mean :Claude review?"],
    ["Claude se", ":Claude se is not a command; did you mean :Claude send, sessions, setup?"],
    ["Claude diff acept", ":Claude diff acept is not a command; did you mean :Claude diff accept?"],
    ["Claude x", ":Claude x is not a command; type :Claude and a space, then <Tab> for the list"],
    ["Claude next now", ":Claude next takes no arguments"],
    ["Claude next!", ":Claude next takes no !"],
    ["1,2Claude next", ":Claude next takes no range"],
    ["ClaudeCodeStatus now", ":Claude status takes no arguments"],
  ];
  test.each(refused)(":%s is refused", async (line, problem) => {
    expect(await said(line)).toEqual([problem]);
  });

  test("defines few commands", async () => {
    await using fresh = await TestNeovim.start({ version, setup: false });
    const names = await fresh.lua<string[]>(`return vim.fn.getcompletion("Claude", "cmdline")`);
    expect(names).toEqual([
      "Claude",
      "ClaudeAtMention",
      "ClaudeCode",
      "ClaudeInstallMCP",
      "ClaudeSendWithDiagnostics",
    ]);
  });

  test.each([
    ["ClaudeCodeFocus", { name: "focus", args: "" }],
    ["2,3ClaudeCodeSend", { name: "send", range: 2, line1: 2, line2: 3 }],
    ["ClaudeCodeOpen --continue", { name: "focus", args: "--continue" }],
    ["ClaudeCodeCloseAllDiffs", { name: "diff reject-all" }],
  ])(":%s of coder/claudecode.nvim works when typed", async (line, expected) => {
    await using fresh = await TestNeovim.start({ version, setup: false });
    const name = /Claude\w+/.exec(line)?.[0] as string;
    await fresh.lua(GIVEN);
    expect(await fresh.lua(`return vim.fn.exists(":" .. ...)`, name)).toBe(0);
    await fresh.lua(`vim.api.nvim_buf_set_lines(0, 0, -1, false, { "1", "2", "3", "4" })`);
    await fresh.type(`:${line}<CR>`);
    expect(await fresh.lua("return GIVEN")).toMatchObject(expected);
  });

  test("leaves other unknown commands to Neovim", async () => {
    const message = await neovim.lua<string>(
      "return select(2, pcall(vim.cmd, 'ClaudeCodeReview'))",
    );
    expect(message).toContain("E492");
  });

  test("takes | and another command after one without arguments", async () => {
    await neovim.lua("vim.g.after = 0");
    expect(await given("Claude review close | let g:after += 1")).toMatchObject({
      name: "review close",
      args: "",
    });
    await given("ClaudeCodeClose|let g:after += 1");
    await given("Claude next|let g:after += 1");
    expect(await given("Claude | let g:after += 1")).toMatchObject({ name: "", args: "" });
    expect(await neovim.lua("return vim.g.after")).toBe(4);
  });

  test("maps <Plug> for every subcommand", async () => {
    const wrong = await neovim.lua<string[]>(`
      return vim.iter(require("claude-code.commands").list):map(function(name)
        local plug = vim.trim("claude " .. name):gsub(" ", "-")
        local is_mapped = vim.fn.maparg("<Plug>(" .. plug .. ")", "n") ~= ""
        return not is_mapped and name or nil
      end):totable()`);
    expect(wrong).toEqual([]);
    const unknown = await neovim.lua<string[]>(`
      local list = require("claude-code.commands").list
      return vim.iter(vim.api.nvim_get_keymap("n")):map(function(mapping)
        local command = (mapping.rhs or ""):match("<Cmd>Claude (.-)<CR>")
        local is_known = not command or vim.startswith(command, "--") or list[command]
        return not is_known and mapping.lhs or nil
      end):totable()`);
    expect(unknown).toEqual([]);
  });

  test.each([
    ["Claude re", ["restore", "review"]],
    ["Claude diff a", ["accept", "accept-hunk"]],
    ["2,3Claude review c", ["close"]],
    ["Claude review tu", ["turn"]],
    ["Claude review! tu", ["turn"]],
    ["Claude diff reject a.t", ["a.txt"]],
    ["Claude --mod", ["--model"]],
    ["Claude! --model ha", ["haiku"]],
    ["Claude --model opus --permission-mode pl", ["plan"]],
    ["ClaudeCode --model ha", ["haiku"]],
    ["ClaudeCode --fork", ["--fork-session"]],
    ["Claude send --", ["--to"]],
    ["Claude new --w", ["--worktree"]],
    ["Claude send a.t", ["a.txt"]],
    ["Claude mention some", ["some\\ file.txt"]],
    ["ClaudeAtMention some\\ f", ["some\\ file.txt"]],
    ["Claude next ", []],
    ["Claude xyzzy ", []],
  ])(":%s completes", async (typed, completed) => {
    expect(await completions(typed)).toEqual(completed);
  });

  test("completes :Claude to every subcommand", async () => {
    const found = await completions("Claude ");
    expect(found).toContain("diff");
    expect(found).not.toContain("accept");
    expect(found).not.toContain("--model");
    expect(found.length).toBeGreaterThan(20);
    expect(found.length).toBeLessThanOrEqual(32);
  });
});
