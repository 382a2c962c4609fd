import { eventually, NEOVIMS, perBlock, setDefaultTimeout } from "#test";
import { LanguageProject } from "../language/world";
import { TSCONFIG, TYPESCRIPT } from "../support/typescript";

/* Renames and code actions by a real language server, and how the user undoes them in the review. */
setDefaultTimeout(120_000);

const OPTIONS = {
  ...JSON.parse(TSCONFIG).compilerOptions,
  module: "esnext",
  moduleResolution: "bundler",
};
const FILES: Record<string, string> = {
  "tsconfig.json": JSON.stringify({ compilerOptions: OPTIONS, include: ["*.ts", "deep/*.ts"] }),
  "parser.ts":
    '// parse is explained here\nexport function parse(text: string): string {\n  return "parse" + text;\n}\n',
  "main.ts":
    'import { parse } from "./parser";\r\nconst smile = "😀ä"; parse(smile);\r\nparse("b");',
  "deep/more.ts": '\uFEFFimport { parse } from "../parser";\nexport const more = parse("c");\n',
  "unused.ts": 'import { parse } from "./parser";\nexport const   one =1\n',
  "notes.md": "parse it\n",
};
const NAMES = Object.keys(FILES);

describe.each(NEOVIMS)("language servers change files with $name", (version) => {
  const edited = perBlock(() =>
    LanguageProject.open(version, FILES, {
      servers: () => ({ typescript: TYPESCRIPT }),
      session: "s1",
    }),
  );
  beforeAll(async () => {
    const { neovim } = edited.project;
    await neovim.command(`edit ${edited.project.path("parser.ts")}`);
    await edited.project.hook("session-start", { session_id: "s1", source: "startup" });
    await edited.project.hook("user-prompt-submit", {
      session_id: "s1",
      prompt_id: "p1",
      prompt: "Rename",
    });
    const preview = { path: "parser.ts", symbol: "parse", new_name: "x", preview: true };
    // A cold start on a busy machine takes longer than one call.
    await eventually(
      "the server",
      async () => {
        expect(await edited.call("rename_symbol", preview)).toContain("in 4 files, 7 places");
      },
      100_000,
    );
  });

  function reset() {
    for (const [name, text] of Object.entries(FILES)) edited.project.write(name, text);
  }

  test("shows every line in a preview, and changes nothing", async () => {
    const args = { path: "main.ts", line: 3, symbol: "parse", new_name: "read", preview: true };
    const text = await edited.call("rename_symbol", args);
    expect(text).toContain(
      "would rename parse to read in 4 files, 7 places, as typescript reports:",
    );
    for (const line of ['  3- parse("b");', '  3+ read("b");']) expect(text).toContain(line);
    expect(edited.texts(NAMES)).toEqual(FILES);
  });

  test("renames on disk in every file; the review lists it as Claude's, and undoes it by file", async () => {
    const { neovim } = edited.project;
    const args = { path: "parser.ts", symbol: "parse", new_name: "parseText" };
    const text = await edited.call("rename_symbol", args);
    expect(text).toContain(
      "renamed parse to parseText in 4 files, 7 places, as typescript reports:",
    );
    expect(text).toContain("  main.ts  3 edits\n");
    expect(edited.read("main.ts")).toBe(
      FILES["main.ts"]
        ?.replaceAll("parse(", "parseText(")
        .replace("{ parse }", "{ parseText }") as string,
    );
    expect(edited.read("deep/more.ts")).toBe(
      '\uFEFFimport { parseText } from "../parser";\nexport const more = parseText("c");\n',
    );
    expect(edited.read("notes.md")).toBe("parse it\n");
    const shown = () =>
      neovim.lua<unknown>(
        `local buf = vim.fn.bufnr("parser.ts")
        return { vim.api.nvim_buf_get_lines(buf, 1, 2, false)[1], vim.bo[buf].modified }`,
      );
    expect(await shown()).toEqual(["export function parseText(text: string): string {", false]);

    const names = ["deep/more.ts", "main.ts", "parser.ts", "unused.ts"];
    await neovim.command("Claude review!");
    const listed = `
      local names = {}
      for _, item in ipairs(vim.fn.getqflist()) do
        names[vim.fn.fnamemodify(vim.api.nvim_buf_get_name(item.bufnr), ":.")] = true
      end
      names = vim.tbl_keys(names)
      table.sort(names)
      return names`;
    await eventually("the list", async () =>
      expect(await neovim.lua<string[]>(listed)).toEqual(names),
    );
    await neovim.command(`edit ${edited.project.path("parser.ts")} | 2 | Claude undo`);
    await eventually("the undo", () =>
      expect(edited.read("parser.ts")).toBe(FILES["parser.ts"] as string),
    );
    expect(await shown()).toEqual(["export function parse(text: string): string {", false]);
    expect(edited.read("deep/more.ts")).toContain("parseText");
    await neovim.command("copen | %Claude undo");
    await eventually("all of it", () => expect(edited.texts(NAMES)).toEqual(FILES));
    await neovim.command(`cclose | edit ${edited.project.path("parser.ts")}`);
  });

  test("lists code actions, and does one by its title", async () => {
    const path = "unused.ts";
    const list = await edited.call("code_action", { path, line: 1 });
    const action = /^(Remove (?:unused|import).*?) \(/m.exec(list)?.[1] as string;
    const text = await edited.call("code_action", { path, line: 1, action });
    expect(text).toContain('  1- import { parse } from "./parser";');
    expect(edited.read(path)).not.toContain("parse");
    reset();
    expect(await edited.call("code_action", { path, action: "No such title" })).toContain(
      'ERROR No code action "No such title"',
    );
  });

  test("says which option switches off the tools", async () => {
    const { neovim } = edited.project;
    const set = (on: boolean) =>
      neovim.lua(
        `require("claude-code").setup({ language_tools = { rename = ..., code_action = ... } })`,
        on,
      );
    await set(false);
    const args = { path: "parser.ts", symbol: "parse", new_name: "x" };
    expect(await edited.call("rename_symbol", args)).toContain(
      "ERROR The user has switched rename_symbol off in Neovim (option language_tools.rename)",
    );
    expect(await edited.call("code_action", { path: "parser.ts" })).toContain(
      "option language_tools.code_action",
    );
    await set(true);
    expect(edited.texts(NAMES)).toEqual(FILES);
  });
});
