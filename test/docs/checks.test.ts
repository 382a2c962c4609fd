import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { claims, temporaryFolder } from "#test";
import { problemsOf as programProblemsOf } from "../../scripts/check-programs";
import { constructionsIn, problemsOf } from "../../scripts/check-words";
import { cycles } from "../../scripts/imports/cycles";
import { luaImports } from "../../scripts/imports/lua";

const A = "lua/claude-code/a.lua";
const B = "lua/claude-code/b/init.lua";
const C = "lua/claude-code/b/c.lua";

describe("the import check reads", () => {
  let root: string;
  beforeAll(() => {
    root = temporaryFolder();
    for (const file of [B, C]) write(file, "return {}");
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  const importsOf = (text: string) => {
    write(A, text);
    return luaImports(root).map(({ from, to, line }) => `${from}:${line} ${to}`);
  };

  const forms: [what: string, text: string, imports: string[]][] = [
    ["a require", 'local b = require("claude-code.b")', [`${A}:1 ${B}`]],
    ["one in a function", "\nfunction f() return require 'claude-code.b'.x end", [`${A}:2 ${B}`]],
    ["one that may fail", 'pcall(require, "claude-code.b.c")', [`${A}:1 ${C}`]],
    ["what is loaded already", 'if package.loaded["claude-code.b"] then end', [`${A}:1 ${B}`]],
    [
      "Vim script in a string",
      `vim.o.stl = "%{v:lua.require'claude-code.b'.x()}"`,
      [`${A}:1 ${B}`],
    ],
    [
      "a name that is put together of literals",
      'local function lazy(m) return require("claude-code." .. m) end\nlazy("b.c")',
      [`${A}:1 ${C}`],
    ],
    ["a folder of names", 'return require("claude-code.b." .. name)', [`${A}:1 ${C}`]],
    ["a module that is not there", 'require("claude-code.gone")', [`${A}:1 claude-code.gone`]],
    ["no comment", '-- require("claude-code.b")\n--[[ require("claude-code.b") ]]', []],
    ["no other name", 'local ns = api.nvim_create_namespace("claude-code.b")', []],
  ];
  test.each(forms)("%s", (_, text, imports) => {
    expect(importsOf(text)).toEqual(imports);
  });

  test("a circle, and only the files in it", () => {
    const used = (from: string, to: string) => ({ from, to, line: 1 });
    const imports = [used("a", "b"), used("b", "c"), used("c", "b"), used("c", "d")];
    expect(cycles(imports)).toEqual([["b", "c", "b"]]);
    expect(cycles(imports.slice(0, 2))).toEqual([]);
  });
});

test("the words check names place, word and a better one", () => {
  const found = problemsOf({ file: "a.lua", line: 3, text: "Claude is told, and mends it" });
  expect(found).toEqual([
    expect.stringMatching(/^a\.lua:3: "mends" \(better: fix\)/),
    expect.stringMatching(/^a\.lua:3: "told" /),
  ]);
  expect(problemsOf({ file: "a.lua", line: 1, text: "the statement is recommended" })).toEqual([]);
});

test.each([
  ["// What it was.", 1],
  ["/** Old. So it is read again. */", 1],
  ["# What is it?", 0],
  ["-- A socket is no file.", 1],
  ["-- There is no Neovim.", 0],
  ['const text = "nobody";', 0],
])("the words check finds in %s %d constructions", (text, count) => {
  expect(constructionsIn([{ file: "src/a.ts", line: 1, text }])).toHaveLength(count);
});

test.each([
  'vim.system({ "git" })',
  'vim.fn.jobstart({ "make" })',
  'io.popen("uname")',
  'vim.fn.exepath("git")',
  'Bun.spawn(["git"])',
  'import { execSync } from "node:child_process";',
  'Bun.which("git")',
])("the programs check refuses %s where it is not named", (line) => {
  expect(programProblemsOf("src/any.ts", `\n${line}`)).toEqual([
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
])("the programs check refuses %s, a command of a string", (line) => {
  claims("A language server's answer runs nothing in Neovim");
  expect(programProblemsOf("lua/any.lua", `\n${line}`)).toEqual([
    expect.stringContaining("lua/any.lua:2: a command of a string"),
  ]);
});

test.each([
  'vim.cmd("normal! zv")',
  'pcall(vim.cmd, "silent write")',
  "vim.cmd.file({ name, magic = { file = false } })",
  'vim.fn.execute("file")',
])("the programs check has nothing against %s", (line) => {
  expect(programProblemsOf("lua/any.lua", line)).toEqual([]);
});
