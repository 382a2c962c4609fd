import { claims } from "#test";
import { problemsOf } from "../../scripts/check-programs";

test.each([
  'vim.system({ "git" })',
  'vim.fn.jobstart({ "make" })',
  'io.popen("uname")',
  'vim.fn.exepath("git")',
  'Bun.spawn(["git"])',
  'import { execSync } from "node:child_process";',
  'Bun.which("git")',
  'if (process.platform === "win32") return;',
  'if vim.fn.has("win32") == 1 then',
])("refuses %s in a file that the rule does not name", (line) => {
  expect(problemsOf("src/any.ts", `\n${line}`)).toEqual([
    expect.stringContaining(`src/any.ts:2: ${line}`),
  ]);
});

test.each([
  'vim.cmd("silent file " .. vim.fn.fnameescape(name))',
  'pcall(vim.cmd, ("edit %s"):format(name))',
  "vim.cmd(command)",
  'vim.cmd.lua("x" .. name)',
  "vim.fn.execute(command)",
  "vim.api.nvim_command(command)",
  "api.nvim_exec2(command, {})",
])("refuses %s, a command of a string", (line) => {
  claims("A language server's answer runs nothing in Neovim");
  expect(problemsOf("lua/any.lua", `\n${line}`)).toEqual([
    expect.stringContaining("lua/any.lua:2: a command of a string"),
  ]);
});

test.each([
  'vim.cmd("normal! zv")',
  'pcall(vim.cmd, "silent write")',
  "vim.cmd.file({ name, magic = { file = false } })",
  'vim.fn.execute("file")',
])("allows %s", (line) => {
  expect(problemsOf("lua/any.lua", line)).toEqual([]);
});
