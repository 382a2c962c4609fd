import { appendFileSync, mkdirSync, rmSync, truncateSync } from "node:fs";
import { eventually, LUA_SLEEP, onEachNeovim } from "#test";
import { join } from "../../src/lib/platform";
import { answer, calls, line, prompt, result } from "../transcript/entries";

/* Files that Claude reads and edits, listed and followed; a stand-in for the CLI writes nothing on its own. */
onEachNeovim(
  (session) => {
    const lua = <T>(code: string, ...args: unknown[]) => session.neovim.lua<T>(code, ...args);
    let path: string;
    const append = (...entries: object[]) => appendFileSync(path, entries.map(line).join(""));
    const plays = (script: string) => session.neovim.plays(script, { words: { follows } });
    /** The window that follows Claude: its file, marked lines, and bar. */
    const follows = () =>
      lua<string>(`
        local win = vim.fn.win_getid(2)
        local buf = vim.api.nvim_win_get_buf(win)
        local namespace = vim.api.nvim_get_namespaces()["claude-code.follow"]
        local mark = vim.api.nvim_buf_get_extmarks(buf, namespace, 0, -1, { details = true })[1]
        local rows = mark and ("%d-%d"):format(mark[2] + 1, mark[4].end_row) or ""
        local bar = vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win }).str
        return vim.fs.basename(vim.api.nvim_buf_get_name(buf)) .. ":" .. rows .. " " .. bar`);
    const read = (id: string, file: string, offset: number, limit: number) =>
      calls(id, "Read", { file_path: session.path(file), offset, limit });

    beforeAll(async () => {
      session.write("a.txt", Array.from({ length: 200 }, (_, i) => `${i + 1}\n`).join(""));
      session.write("b.txt", "1\n2\n");
      session.write(".env", "TOKEN=1\n");
      await session.known();
      await session.neovim.command("Claude");
      const find = "return require('claude-code').sessions()[1].id or false";
      const id = await eventually("the session", () => lua<string | false>(find));
      // Its SessionStart hook does the same.
      await lua("require('port').session_sources.on_hook({ session = ..., n = 1 }, 'idle')", id);
      const folder = join(
        session.neovim.home,
        ".claude/projects",
        session.neovim.cwd.replaceAll(/[^a-zA-Z0-9]/g, "-"),
      );
      mkdirSync(folder, { recursive: true });
      path = join(folder, `${id}.jsonl`);
      append(prompt("begin"), answer("yes"));
    });
    afterAll(() => rmSync(path, { force: true }));
    beforeEach(() => lua("vim.cmd('stopinsert | wincmd t | only!') vim.cmd.edit('b.txt')"));

    test("lists the trail of a turn, and only counts private files", async () => {
      append(prompt("one"), read("1", "a.txt", 3, 4), result("1", "x"));
      append(prompt("two"), read("2", "b.txt", 1, 1), read("3", ".env", 1, 1));
      append(calls("4", "Grep", { pattern: "x y" }));
      const title = "{getqflist({'title': 1}).title}";
      const rows =
        "{getqflist()->map('printf(\"%d-%d %s\", v:val.lnum, v:val.end_lnum, v:val.text)')}";
      await plays(`
        :Claude trail            {&filetype} qf   ${title} Claude's trail: this turn (and 1 of private files)
                                 ${rows} ['1-1 read', '1-0 searched for x y']
        :Claude trail turn 2     ${title} Claude's trail: turn 2   ${rows} ['3-6 read']   list a.txt:3
        :Claude trail nonsense   says takes \`turn N\`
      `);
    });

    test("says how full the context is", async () => {
      const full = (input_tokens: number) => ({
        type: "assistant",
        message: { model: "claude-sonnet-4-5", content: [], usage: { input_tokens } },
      });
      const status = "{v:lua.require'claude-code'.statusline()}";
      const context = "{v:lua.require'claude-code'.sessions()[0].context}";
      append(full(90_000));
      await plays(`<Ignore>  ${context} 45  ${status} ! full`);
      append(full(124_000));
      await plays(`<Ignore>  ${status} /62 percent full/  says ! /compact`);
      append(full(180_000));
      await plays("<Ignore>  says used 90 %");
      append(full(2_000));
      await plays(`<Ignore>  ${status} ! full`);
    });

    describe(":Claude follow", () => {
      /** The user's window, previous file, place, and jumps. */
      const state = () =>
        lua<unknown>(`return { vim.fn.winnr(), vim.fn.bufname("#"), vim.api.nvim_win_get_cursor(0),
          #vim.fn.getjumplist()[1] }`);

      test("shows what Claude reads and edits, and leaves the user alone", async () => {
        await session.neovim.command("Claude follow");
        const before = await state();
        append(read("1", "a.txt", 120, 3));
        await plays("<Ignore>  follows a.txt:120-122 Claude reads a.txt 120–122");
        // A diff of that file, or anything else that opens it, takes the user's window.
        const taken = "require('claude-code.editor.windows').for_file(vim.fn.bufnr('a.txt'))";
        expect(await lua(`return ${taken} == vim.api.nvim_get_current_win()`)).toBe(true);
        append(calls("2", "Grep", { pattern: "x" }));
        await plays("<Ignore>  follows searches x");
        append(read("3", ".env", 1, 1));
        await plays("<Ignore>  follows /^a.txt.*not shown/");
        expect(await state()).toEqual(before);
        await plays(":Claude follow  windows 1");
      });

      test("opens a file with its events and its filetype, if the source of its text is known", async () => {
        session.write("first.lua", "return 1\n");
        const path = session.path("first.lua");
        await lua(`
          _G.read = {}
          vim.api.nvim_create_autocmd({ "BufReadPost", "FileType", "BufWinEnter" }, {
            pattern = { "*.lua", "lua" }, callback = function(args) table.insert(_G.read, args.event) end })`);
        await session.neovim.command("Claude follow");
        append(calls("9", "Read", { file_path: path }));
        await plays("<Ignore>  follows first.lua");
        const read = await lua<string[]>("return _G.read");
        expect(new Set(read)).toEqual(new Set(["FileType", "BufReadPost", "BufWinEnter"]));
        // A text that is read without an event may come from any file.
        const hides = `return require("port").privacy.hides(vim.fn.bufnr("first.lua"))`;
        expect(await lua(hides)).toBe(false);
        await session.neovim.command("bwipeout! first.lua | noautocmd edit first.lua");
        expect(await lua(hides)).toBe(true);
        await session.neovim.command("edit! | enew | file typed.txt");
        expect(await lua(hides)).toBe(false);
        expect(await lua(`return require("port").privacy.hides(0)`)).toBe(false);
        await session.neovim.command("only!");
      });

      test("survives invalid line numbers, and files too big to open", async () => {
        const big = session.write("big.txt", "");
        truncateSync(big, 200_000_000);
        await session.neovim.command("Claude follow");
        const numbers = [-3, 0, 1.5, 1e300];
        append(...numbers.flatMap((at, i) => [read(`${i}`, "a.txt", at, -1)]));
        append(read("9", "big.txt", 1, 1));
        await plays("<Ignore>  follows not shown  mode n");
        await session.neovim.command("Claude follow");
      });

      test("does not move while the cursor is in its window", async () => {
        await session.neovim.command("Claude follow");
        append(read("1", "a.txt", 120, 1));
        await plays(`
          <Ignore>   follows a.txt:120
          :let g:steps = 0 | autocmd User ClaudeCodeStep let g:steps += 1
          <C-w>2wjj  a.txt:122
        `);
        append(read("2", "b.txt", 1, 1));
        await plays(`
          <Ignore>   {g:steps} 1   follows a.txt   a.txt:122
          :wincmd p
        `);
        append(read("3", "b.txt", 2, 1));
        await plays(`
          <Ignore>   follows b.txt
          :Claude follow
        `);
      });

      test.each([
        ["where the screen is low", ""],
        ["in a window that changes its size", "resize 12 | botright copen | wincmd t"],
      ])("goes on %s", async (_name, resize) => {
        await lua("vim.cmd('belowright new | wincmd t | resize 8')");
        await session.neovim.command("Claude follow");
        // Neovim has not shown it anywhere yet.
        session.write("new.txt", "x\n".repeat(200));
        append(read("1", "new.txt", 120, 1));
        await plays("<Ignore>  follows new.txt");
        await lua("vim.cmd(...) vim.cmd.redraw()", resize);
        append(read("2", "b.txt", 2, 1));
        await plays(`
          <Ignore>   follows = b.txt:2-2 Claude reads b.txt 2
          :Claude follow
          :cclose | bwipeout! new.txt
        `);
      });
    });
  },
  { ui: { width: 120, height: 40 }, setup: `{ terminal = { command = ${LUA_SLEEP} } }` },
);
