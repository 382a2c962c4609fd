import { appendFileSync, mkdirSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { eventually, onEachNeovim } from "#test";
import { answer, calls, line, prompt, result } from "../transcript/entries";

/* What Claude reads and edits, listed and followed; a stand-in for the CLI writes nothing by itself. */
onEachNeovim(
  (session) => {
    const lua = <T>(code: string, ...args: unknown[]) => session.neovim.lua<T>(code, ...args);
    let path: string;
    const append = (...entries: object[]) => appendFileSync(path, entries.map(line).join(""));
    const messages = () => lua<string>("return vim.fn.execute('messages')");
    const read = (id: string, file: string, offset: number, limit: number) =>
      calls(id, "Read", { file_path: session.path(file), offset, limit });

    beforeAll(async () => {
      session.write("a.txt", Array.from({ length: 200 }, (_, i) => `${i + 1}\n`).join(""));
      session.write("b.txt", "1\n2\n");
      session.write(".env", "TOKEN=1\n");
      await session.known();
      await session.neovim.command("Claude");
      await session.neovim.until(
        "the session",
        "return require('claude-code').sessions()[1].id ~= nil",
      );
      const id = await lua<string>("return require('claude-code').sessions()[1].id");
      // As its SessionStart hook does.
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

    test("the trail of a turn and of all; private files are only counted", async () => {
      append(prompt("one"), read("1", "a.txt", 3, 4), result("1", "x"));
      append(prompt("two"), read("2", "b.txt", 1, 1), read("3", ".env", 1, 1));
      append(calls("4", "Grep", { pattern: "x y" }));
      const list = () =>
        lua(`
          local list = vim.fn.getqflist({ title = 1, items = 1 })
          local rows = vim.tbl_map(function(item)
            local name = item.bufnr > 0 and vim.fn.bufname(item.bufnr) or ""
            return ("%s:%d-%d %s"):format(name, item.lnum, item.end_lnum, item.text)
          end, list.items)
          table.insert(rows, 1, list.title)
          return rows`);
      await session.neovim.command("Claude trail");
      await session.neovim.until("the list", "return vim.bo.filetype == 'qf'");
      const turn = "Claude's trail: this turn (and 1 of private files)";
      expect(await list()).toEqual([turn, "b.txt:1-1 read", ":1-0 searched for x y"]);
      await session.neovim.command("Claude trail turn 2");
      await eventually("turn 2", async () =>
        (await lua<string>("return vim.fn.getqflist({ title = 1 }).title")).endsWith("turn 2"),
      );
      expect(await list()).toEqual(["Claude's trail: turn 2", "a.txt:3-6 read"]);
      await session.neovim.command("Claude trail nonsense");
      await eventually("the message", async () => (await messages()).includes("takes `turn N`"));
    });

    test("how full the context is: status line, one message, the list of sessions", async () => {
      const full = (input_tokens: number) => ({
        type: "assistant",
        message: { model: "claude-sonnet-4-5", content: [], usage: { input_tokens } },
      });
      const statusline = () => lua<string>("return require('claude-code').statusline()");
      append(full(90_000));
      await session.neovim.until(
        "the row",
        "return require('claude-code').sessions()[1].context == 45",
      );
      expect(await statusline()).not.toContain("full");
      append(full(124_000));
      await eventually("62 %", async () => (await statusline()).includes("62 percent full"));
      expect(await messages()).not.toContain("/compact");
      append(full(180_000));
      await eventually("the message", async () => (await messages()).includes("used 90 %"));
      append(full(2_000));
      await eventually("after /compact", async () => !(await statusline()).includes("full"));
    });

    describe(":Claude follow", () => {
      const state = () =>
        lua(`
          local place = {}
          for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
            place[#place + 1] = vim.fs.basename(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)))
          end
          return { vim.fn.winnr(), vim.fn.bufname("#"), vim.api.nvim_win_get_cursor(0), #vim.fn.getjumplist()[1], place }`);
      const followed = () =>
        lua<{ name: string; rows: number[]; bar: string }>(`
          local win = vim.fn.win_getid(2)
          local buf = vim.api.nvim_win_get_buf(win)
          local namespace = vim.api.nvim_get_namespaces()["claude-code.follow"]
          local mark = vim.api.nvim_buf_get_extmarks(buf, namespace, 0, -1, { details = true })[1]
          local rows = mark and { mark[2] + 1, mark[4].end_row } or {}
          return {
            name = vim.fs.basename(vim.api.nvim_buf_get_name(buf)),
            rows = rows,
            bar = vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win }).str,
          }`);

      test("shows what Claude reads and edits, and leaves the user alone", async () => {
        await session.neovim.command("Claude follow");
        const before = await state();
        append(read("1", "a.txt", 120, 3));
        await eventually("the file", async () => (await followed()).name === "a.txt");
        expect(await followed()).toEqual({
          name: "a.txt",
          rows: [120, 122],
          bar: "Claude reads a.txt 120–122",
        });
        // A diff of that file, and whatever else opens it, takes the user's window.
        const taken = "require('claude-code.editor.windows').for_file(vim.fn.bufnr('a.txt'))";
        expect(await lua(`return ${taken} == vim.api.nvim_get_current_win()`)).toBe(true);
        append(calls("2", "Grep", { pattern: "x" }));
        await eventually("a search", async () => (await followed()).bar.endsWith("searches x"));
        append(read("3", ".env", 1, 1));
        await eventually("a private file", async () =>
          (await followed()).bar.includes("not shown"),
        );
        expect((await followed()).name).toBe("a.txt");
        const after = (await state()) as unknown[];
        expect(after.slice(0, 4)).toEqual((before as unknown[]).slice(0, 4));
        await session.neovim.command("Claude follow");
        expect(await lua<number>("return vim.fn.winnr('$')")).toBe(1);
      });

      test("a file that it opens first has its events, its filetype, and a text that is known", async () => {
        session.write("first.lua", "return 1\n");
        const path = session.path("first.lua");
        await lua(`
          _G.read = {}
          vim.api.nvim_create_autocmd({ "BufReadPost", "FileType", "BufWinEnter" }, {
            pattern = { "*.lua", "lua" }, callback = function(args) table.insert(_G.read, args.event) end })`);
        await session.neovim.command("Claude follow");
        append(calls("9", "Read", { file_path: path }));
        await eventually("the file", async () => (await followed()).name === "first.lua");
        const read = await lua<string[]>("return _G.read");
        expect(new Set(read)).toEqual(new Set(["FileType", "BufReadPost", "BufWinEnter"]));
        // A text that is read without an event may be anybody's.
        const hides = `return require("port").privacy.hides(vim.fn.bufnr("first.lua"))`;
        expect(await lua(hides)).toBe(false);
        await session.neovim.command("bwipeout! first.lua | noautocmd edit first.lua");
        expect(await lua(hides)).toBe(true);
        await session.neovim.command("edit! | enew | file typed.txt");
        expect(await lua(hides)).toBe(false);
        expect(await lua(`return require("port").privacy.hides(0)`)).toBe(false);
        await session.neovim.command("only!");
      });

      test("what Claude names cannot harm: numbers that are no lines, files too big to open", async () => {
        const big = session.write("big.txt", "");
        truncateSync(big, 200_000_000);
        await session.neovim.command("Claude follow");
        const numbers = [-3, 0, 1.5, 1e300];
        append(...numbers.flatMap((at, i) => [read(`${i}`, "a.txt", at, -1)]));
        append(read("9", "big.txt", 1, 1));
        await eventually("the big one", async () => (await followed()).bar.includes("not shown"));
        expect(await lua<object>("return vim.api.nvim_get_mode()")).toEqual({
          ...{ mode: "n", blocking: false },
        });
        await session.neovim.command("Claude follow");
      });

      test("stands still while the cursor is in its window", async () => {
        await session.neovim.command("Claude follow");
        append(read("1", "a.txt", 120, 1));
        await eventually("the file", async () => (await followed()).name === "a.txt");
        await lua(`
          STEPS = 0
          vim.api.nvim_create_autocmd("User", { pattern = "ClaudeCodeStep", callback = function()
            STEPS = STEPS + 1
          end })
          vim.api.nvim_set_current_win(vim.fn.win_getid(2))
          vim.cmd("normal! jj")`);
        append(read("2", "b.txt", 1, 1));
        await session.neovim.until("the step", "return STEPS == 1");
        expect((await followed()).name).toBe("a.txt");
        expect(await lua<number>("return vim.fn.line('.')")).toBe(122);
        await session.neovim.command("wincmd p");
        append(read("3", "b.txt", 2, 1));
        await eventually("what it does now", async () => (await followed()).name === "b.txt");
        await session.neovim.command("Claude follow");
      });

      test.each([
        ["where the screen is low", ""],
        ["in a window that changes its size", "resize 12 | botright copen | wincmd t"],
      ])("goes on %s", async (_name, resize) => {
        await lua("vim.cmd('belowright new | wincmd t | resize 8')");
        await session.neovim.command("Claude follow");
        // Neovim has shown it nowhere yet.
        session.write("new.txt", "x\n".repeat(200));
        append(read("1", "new.txt", 120, 1));
        await eventually("the file", async () => (await followed()).name === "new.txt");
        await lua("vim.cmd(...) vim.cmd.redraw()", resize);
        append(read("2", "b.txt", 2, 1));
        await eventually("the next", async () => (await followed()).bar === "Claude reads b.txt 2");
        expect(await followed()).toMatchObject({ name: "b.txt", rows: [2, 2] });
        await session.neovim.command("Claude follow");
        await session.neovim.command("cclose | bwipeout! new.txt");
      });

      test("begins anew after its window went without an event", async () => {
        await session.neovim.command("Claude follow");
        await lua("vim.cmd('noautocmd call nvim_win_close(win_getid(2), v:true)')");
        append(read("1", "a.txt", 1, 1));
        await session.neovim.command("Claude follow");
        append(read("2", "b.txt", 1, 1));
        await eventually("the file", async () => (await followed()).name === "b.txt");
        await lua("vim.api.nvim_win_close(vim.fn.win_getid(2), true)");
        expect(await lua<number>("return vim.fn.winnr('$')")).toBe(1);
      });
    });
  },
  {
    ui: { width: 120, height: 40 },
    setup: '{ terminal = { command = { "/bin/sh", "-c", "exec sleep 1000" } } }',
  },
);
