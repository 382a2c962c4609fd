import { writeFile } from "node:fs/promises";
import { claims, eventually, isolatedEnv, NEOVIMS, perBlock, TestClient, TestNeovim } from "#test";
import { join } from "../../src/lib/platform";
import { runHook } from "../support/hook";

describe.each(NEOVIMS)("the status line in $name", (version) => {
  const neovim = perBlock(() =>
    TestNeovim.start({ version, setup: "{ auto_start = false }", ui: { width: 100, height: 20 } }),
  );
  beforeAll(async () => {
    await neovim.command("set laststatus=2");
    await neovim.lua(`vim.o.statusline = "%{v:lua.require'claude-code'.statusline()}|"`);
  });

  /** Waits until the screen itself says so: nothing else asks for a redraw. */
  const shows = (text: string) =>
    eventually(`"${text}"`, async () => {
      const row = await neovim.lua<string>(`
        local cells = {}
        for column = 1, 60 do cells[column] = vim.fn.screenstring(vim.o.lines - 1, column) end
        return table.concat(cells)`);
      if (row.split("|")[0] !== text) throw new Error(`it shows ${row}`);
    });

  const hook = (event: string, input: object = {}) =>
    runHook({
      event,
      input: { session_id: "one", cwd: neovim.cwd, ...input },
      cwd: neovim.cwd,
      env: { ...isolatedEnv(neovim.home), CLAUDE_PID: String(process.pid) },
    });

  test("shows what becomes of the server, its clients, their work and their diffs", async () => {
    await shows("Claude stopped");
    await neovim.command("ClaudeCodeStart");
    await shows("no Claude");
    const lock = await neovim.lock();
    using first = await TestClient.open(lock, "claude-code");
    await shows("Claude connected");

    await hook("session-start", { source: "startup" });
    await shows("Claude idle");
    const edited = join(neovim.home, "edited.txt");
    await writeFile(edited, "a\n");
    await hook("post-tool-use", { tool_name: "Write", tool_input: { file_path: edited } });
    await shows("Claude working");
    await hook("stop", { stop_hook_active: false });
    await shows("Claude idle");

    const second = await TestClient.open(lock, "another");
    await shows("Claude idle ×2");
    const answer = first.openDiff(join(neovim.cwd, "a.txt"), "a\n", "a");
    await neovim.until("a diff", 'return require("port").diff_shown()');
    expect(await neovim.lua(`return require("port").statusline.highlight()`)).toBe(
      "DiagnosticWarn",
    );
    expect(await neovim.lua(`return require("claude-code").statusline()`)).toBe(
      "Claude idle ×2, 1 edit waits",
    );
    await neovim.command("Claude diff reject");
    expect((await answer)[0]).toBe("DIFF_REJECTED");
    await shows("Claude idle ×2");
    second.close();
    await shows("Claude idle");
    await hook("session-end", { reason: "other" });
    await shows("Claude connected");
    first.close();
    await shows("no Claude");
    await neovim.command("ClaudeCodeStop");
    await shows("Claude stopped");
  });

  test("says which of several sessions needs the user", async () => {
    await neovim.command("ClaudeCodeStart");
    await shows("no Claude");
    await neovim.lua(`
      rows = require("port").session_rows
      for _, name in ipairs({ "docs", "tests", "fix-login" }) do
        rows.set(rows.add({ name = name }), { buf = vim.api.nvim_create_buf(false, true) })
      end
      rows.remove(1)
      rows.remove(2)`);
    const plays = async (...steps: [n: number, state: string, text: string][]) => {
      for (const [n, state, text] of steps) {
        await neovim.lua(
          `local n, state = ...
          rows.report(n, "terminal", { state = state })`,
          ...[n, state],
        );
        await shows(text);
      }
    };
    await plays(
      [3, "working", "Claude working"],
      [3, "blocked", "Claude needs input"],
      [3, "done", "Claude done"],
    );
    await neovim.lua(`
      rows.set(3, {
        usage = { percent = 62, cost = 0.416 },
        tasks = { done = 2, all = 5, doing = "parser" },
      })`);
    await shows("Claude done, 62 percent full, 2/5 parser, $0.42");
    await neovim.lua(`
      rows.set(3, { usage = { percent = 12, cost = 0.001 }, tasks = { done = 5, all = 5 } })`);
    await shows("Claude done");
    await neovim.lua(`rows.add({ name = "docs" }) rows.add({})`);
    await plays(
      [3, "done", "3 Claudes: fix-login done"],
      [1, "working", "3 Claudes: 1 working, fix-login done"],
      [3, "blocked", "3 Claudes: fix-login needs input, 1 working"],
      [2, "blocked", "3 Claudes: 2 need input, 1 working"],
      [1, "blocked", "3 Claudes: all need input"],
    );
    const highlight = `return require("port").statusline.highlight()`;
    expect(await neovim.lua<string>(highlight)).toBe("DiagnosticWarn");
    await neovim.lua(`for n = 1, 3 do rows.remove(n) end`);
    await shows("no Claude");
    await neovim.command("ClaudeCodeStop");
  });

  test("never runs a session's name as code, even where the text is used as a format", async () => {
    claims("A session's name is never code in the status line");
    await neovim.command("ClaudeCodeStart");
    await shows("no Claude");
    await neovim.lua(
      `local rows, name = require("port").session_rows, ...
      for _ = 1, 2 do
        rows.set(rows.add({ name = name }), { buf = vim.api.nvim_create_buf(false, true) })
      end
      rows.report(1, "terminal", { state = "done" })`,
      "%{execute('let g:ran = 1')}%@Ran@\u001b]0;x\u0007",
    );
    // lualine.nvim does the same.
    const evaluated = await neovim.lua(
      `local text = require("claude-code").statusline()
      return { vim.api.nvim_eval_statusline(text, {}).str, vim.g.ran or 0 }`,
    );
    expect(evaluated).toEqual(["2 Claudes: ％{execute('let g:ran = 1')}％@Ran@^[]0;x^G done", 0]);
    await neovim.lua(`local rows = require("port").session_rows rows.remove(1) rows.remove(2)`);
    await neovim.command("ClaudeCodeStop");
  });
});
