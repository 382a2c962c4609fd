import { pathToFileURL } from "node:url";
import { claims, onBothNeovims, outcomeOf } from "#test";

const LUA = [
  "local M = {}",
  "",
  "function M.größe(a)",
  "  local function inner()",
  "    return '日本😀' .. a",
  "  end",
  "  return inner()",
  "end",
  "",
  "return M",
  "",
].join("\n");

onBothNeovims((session) => {
  beforeEach(() => session.reset());
  const ask = (name: string, params?: object) => session.client.request<object>(name, params);

  describe("editor/position", () => {
    test("counts lines from 1, columns from 0 and offsets from 1, in characters", async () => {
      const path = session.write("position.lua", LUA);
      await session.edit(path);
      await session.neovim.type("5G0f😀");
      const before = LUA.split("\n").slice(0, 4).join("\n");
      expect(await ask("editor/position")).toEqual({
        line: 5,
        column: 14,
        position: [...before].length + 1 + 14 + 1,
        buffer: "position.lua",
        uri: pathToFileURL(path).href,
        total_lines: 10,
      });
    });
  });

  describe("editor/selection", () => {
    test("gives text, offsets, lines and columns; the end is after the last character", async () => {
      await session.edit(session.write("region.txt", "äb😀d\nzwei\n"));
      await session.neovim.type("gg0lvj0");
      expect(await ask("editor/selection")).toEqual({
        active: true,
        text: "b😀d\nz",
        start: 2,
        end: 7,
        line_start: 1,
        line_end: 2,
        column_start: 1,
        column_end: 1,
      });
    });
  });

  describe("the buffer of editor/selection and editor/position", () => {
    const scratch = "enew | setlocal buftype=nofile | file notes";
    test.each([
      ["a scratch buffer", scratch, "notes"],
      ["a buffer without a name", "enew", ""],
    ])("%s", async (_, command, buffer) => {
      await session.edit(session.write("left.txt", "one two\n"));
      await session.neovim.type("ggve<Esc>");
      await session.neovim.command(`new | ${command}`);
      await session.neovim.lua(`vim.api.nvim_buf_set_lines(0, 0, -1, false, { "", "drei vier" })`);
      await session.neovim.type("2G0wv$");
      const at = { line: 2, column: 9, position: 11, buffer, uri: null };
      expect(await ask("editor/position")).toMatchObject(at);
      expect(await ask("editor/selection")).toEqual({
        active: true,
        text: "vier",
        start: 7,
        end: 11,
        line_start: 2,
        line_end: 2,
        column_start: 5,
        column_end: 9,
      });
    });

    test("describes the file left behind, where nothing is selected and no file is shown", async () => {
      await session.edit(session.write("left.txt", "one two\n"));
      await session.neovim.type("ggve<Esc>");
      await session.neovim.command("new | terminal cat");
      expect(await ask("editor/selection")).toMatchObject({ active: true, text: "one" });
      await session.neovim.command("enew");
      expect(await ask("editor/selection")).toEqual({ active: false });
    });

    test("describes no private file", async () => {
      await session.edit(session.write(".env", "TOKEN=x\n"));
      await session.neovim.type("ggve");
      expect(await ask("editor/selection")).toEqual({ active: false });
    });
  });

  describe("a window that shows none of the user's text", () => {
    const SECRET = "very-secret-value";
    const qf = `call setqflist([#{filename: '.env', lnum: 1, text: '${SECRET}'}]) | copen`;
    afterEach(() => session.neovim.lua("vim.cmd('silent! fclose!')"));
    const float = "relative='editor', row=1, col=1, width=30, height=3";
    test.each([
      ["a terminal", `terminal printf '${SECRET} %s' done`],
      ["the quickfix list", qf],
      ["a location list", `lexpr '.env:1:${SECRET}' | lopen`],
      ["a folder", "runtime plugin/netrwPlugin.vim | edit ."],
      [
        "a float",
        `lua local b = vim.api.nvim_create_buf(false, true)
         vim.api.nvim_buf_set_lines(b, 0, -1, false, { "${SECRET}" })
         vim.api.nvim_open_win(b, true, { ${float} })`.replaceAll("\n", " "),
      ],
    ])("%s", async (_, command) => {
      claims("A private file's text and name stay in Neovim");
      session.write(".env", `${SECRET}\n`);
      await session.edit(session.write("left.txt", "one two\n"));
      await session.neovim.command(command);
      await session.neovim.lua("vim.wait(100)");
      await session.neovim.type("<C-\\><C-n>ggVG");
      expect(await outcomeOf(ask("editor/position"))).toThrow(
        "Claude sees only windows with files",
      );
      expect(await outcomeOf(ask("editor/context"))).toThrow("Claude sees only windows with files");
      expect(JSON.stringify(await ask("editor/selection"))).not.toContain(SECRET);
      await session.neovim.type("<Esc>");
    });

    test("describes a float that shows a file", async () => {
      await session.edit(session.write("zen.lua", "return 1\n"));
      await session.neovim.lua(`vim.api.nvim_open_win(0, true, { ${float} })`);
      expect(await ask("editor/position")).toMatchObject({ buffer: "zen.lua", line: 1 });
      await session.neovim.type("ggVG");
      expect(await ask("editor/selection")).toMatchObject({ text: expect.stringContaining("1") });
      await session.neovim.type("<Esc>");
    });
  });

  describe("editor/buffers", () => {
    test("lists files with their size in characters and their filetype", async () => {
      const lua = session.write("b.lua", LUA);
      const empty = session.write("empty.txt", "");
      await session.edit(empty);
      await session.edit(lua);
      await session.neovim.lua("vim.bo.modified = true");
      const [uri, more] = [pathToFileURL(lua).href, { modified: true, active: true }];
      const other = { uri: pathToFileURL(empty).href, modified: false, active: false };
      expect(await ask("editor/buffers")).toEqual({
        buffers: [
          { name: "empty.txt", ...other, size: 0, major_mode: "text" },
          { name: "b.lua", uri, ...more, size: [...LUA].length, major_mode: "lua" },
        ],
        total: 2,
      });
    });

    test("shows special buffers only when asked", async () => {
      await session.neovim.command("enew | setlocal buftype=nofile | file scratch");
      expect(await ask("editor/buffers")).toMatchObject({ total: 0 });
      const { buffers } = (await ask("editor/buffers", { include_special: true })) as {
        buffers: { name: string; uri: string | null }[];
      };
      expect(buffers.find(({ name }) => name.endsWith("scratch"))).toMatchObject({ uri: null });
    });
  });

  describe("editor/context", () => {
    test("gives the lines around the cursor and the enclosing function by tree-sitter", async () => {
      await session.edit(session.write("context.lua", LUA));
      await session.neovim.type("5G4l");
      expect(await ask("editor/context", { lines_before: 2, lines_after: 1 })).toEqual({
        current_line: 5,
        current_column: 4,
        context_before: "function M.größe(a)\n  local function inner()",
        context_after: "  end",
        current_line_text: "    return '日本😀' .. a",
        function_name: "M.größe.inner",
        file_type: "lua",
      });
    });

    test("gives default lines at the top of a file, outside of any function", async () => {
      await session.edit(session.write("context.lua", LUA));
      expect(await ask("editor/context")).toMatchObject({
        current_line: 1,
        context_before: "",
        context_after: LUA.split("\n").slice(1, 6).join("\n"),
        function_name: null,
      });
    });

    const languages: [string, string, string, string | null][] = [
      ["c", "static int *\nfind(int a)\n{\n  return 0;\n}\n", "4G", "find"],
      ["txt", "just some text\nand more\n", "2G", null],
      // Neovim has no parser for it.
      ["sh", "greet() {\n  echo hi\n}\n", "2G", null],
    ];
    test.each(languages)("names the function in .%s", async (extension, text, keys, name) => {
      await session.edit(session.write(`function.${extension}`, text));
      await session.neovim.type(keys);
      expect(await ask("editor/context")).toMatchObject({ function_name: name });
    });
  });

  test.each<[string, object]>([
    ["context", { lines_before: -1 }],
    ["context", { lines_after: 1.5 }],
    ["context", { lines_before: 1e6 }],
    ["buffers", { include_special: "yes" }],
  ])("refuses editor/%s with %p", async (name, params) => {
    const error = await ask(`editor/${name}`, params).catch((e) => e);
    expect(error.code).toBe(-32602);
    expect(error.message).toContain(Object.keys(params)[0]);
  });
});
