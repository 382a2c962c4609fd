import { writeFile } from "node:fs/promises";
import { eventually, NEOVIMS, perBlock, type SessionRow, type TestClient } from "#test";
import { join } from "../../src/lib/platform";
import {
  configure,
  connectFrom,
  LATER,
  plays,
  reset,
  said,
  startNeovim,
  windows,
} from "./workbench";

/** Shows its session's number, then every byte it gets. */
const CLI = `{ "sh", "-c", "stty raw -echo; ${LATER} echo up $CLAUDE_CODE_NVIM_SESSION; exec cat -v" }`;

describe.each(NEOVIMS)("several Claudes in $name", (version) => {
  const neovim = perBlock(() => startNeovim(version, `{ terminal = { command = ${CLI} } }`));
  beforeEach(async () => {
    await reset(neovim);
    await configure(neovim, `{ command = ${CLI} }`);
  });

  const rows = () => neovim.lua<SessionRow[]>(`return require("port").session_list.own()`);

  /** The numbers of the sessions whose terminals are on screen. */
  const shown = () =>
    neovim.lua<number[]>(`
      local numbers = {}
      for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
        for _, row in ipairs(require("port").session_rows.list()) do
          if row.buf == vim.api.nvim_win_get_buf(win) then table.insert(numbers, row.n) end
        end
      end
      return numbers`);

  const textOf = async (n: number) => {
    const row = (await rows()).find((one) => one.n === n);
    const lines = `return vim.trim(table.concat(vim.api.nvim_buf_get_lines(..., 0, -1, false), "\\n"))`;
    return row ? neovim.lua<string>(lines, row.buf) : "";
  };

  /** Words: `shown`, the sessions on screen, `all`, those that run, `1` to `3`, their terminals, `said`. */
  const play = (script: string) =>
    plays(neovim, script, {
      shown: async () => (await shown()).join(" "),
      all: async () => (await rows()).map(({ n, name }) => n + (name ?? "")).join(" "),
      bar,
      ...{ 1: () => textOf(1), 2: () => textOf(2), 3: () => textOf(3) },
    });

  /** Two, the second with a name and current. */
  const openTwo = () =>
    play(`
      :Claude              1 up 1   mode t
      :Claude new -n docs  2 up 2   mode t
    `);

  /** The user's own window, in normal mode. */
  const leave = () => play(":stopinsert | wincmd p  mode n");

  test("gives the window of the first to the second, and keeps both running", async () => {
    await play(":Claude  1 up 1   mode t");
    const before = await windows(neovim);
    await play(":Claude new -n docs  2 up 2   mode t   shown = 2   all = 1 2docs");
    expect(await windows(neovim)).toEqual(before);
    const [first, second] = await rows();
    expect(first?.id).not.toBe(second?.id);
    await play(`
      eins          2 eins
      :1ClaudeCode  shown = 1   mode t
      zwei          1 zwei   2 ! zwei
    `);
    expect(await windows(neovim)).toEqual(before);
  });

  test("takes a count before a mapping for a session's number", async () => {
    await neovim.lua(`vim.keymap.set("n", "X", "<Plug>(claude)")`);
    await openTwo();
    await leave();
    await play("1X  shown = 1   mode t");
    await leave();
    await play(`
      X             shown =
      :Claude       shown = 1
      :1ClaudeCode  shown =
    `);
  });

  test("ends the current one alone, by ! one that works, and starts it again by ! under its number", async () => {
    await openTwo();
    await play(`
      :Claude new            3 up 3   mode t
      :2ClaudeCode! -n again  2 up 2   mode t   all = 1 2again 3
    `);
    await leave();
    await report(2, "working");
    await play(`
      :Claude close   all = 1 2again 3
                      said Claude 2 (again) is working; :Claude close! ends it anyway
      :Claude close!  all = 1 3   shown = 3   said Claude 2 (again) was ended
    `);
  });

  test("names a session that ends, whose window shows another one", async () => {
    await openTwo();
    await configure(neovim, `{ command = { "sh", "-c", "read line" } }`);
    await play(`
      :Claude new -n short  mode t
      <CR>                  said = Claude 3 (short) has ended   all = 1 2docs   shown = 1
    `);
    // No key that is still typed reaches it.
    await play(`
      <Ignore>       mode nt
      :Claude close  shown = 2
      :Claude close  windows 1
    `);
  });

  test("sends text to the current one, or to one by number or name", async () => {
    await openTwo();
    await leave();
    await neovim.lua(`vim.api.nvim_buf_set_lines(0, 0, -1, true, { "one", "two" })`);
    // A text may begin with the number or the name of a session. The current session stays the one that it was.
    await play(`
      :Claude send current             2 current
      :Claude send --to 1 some words   1 some words
      :1,2Claude send --to docs        2 one
      :normal G
      1<Plug>(claude-send)             1 two
      :Claude send 1 is                2 1 is
      :Claude send docs x              2 docs x
      :Claude send still               2 still
    `);
    const texts = (await said(neovim)).map((line) => line.replace("claude-code.nvim: ", ""));
    const hidden = "sent to Claude 1, whose terminal is hidden; :Claude 1 shows it";
    const current = "sent to Claude 2 (docs)";
    expect(texts).toEqual([current, hidden, current, hidden, current, current, current]);
    await play(":Claude send --to nobody hello  said there is no Claude session nobody");
  });

  test("completes numbers and names on the command line", async () => {
    await openTwo();
    const completed = (line: string) =>
      neovim.lua<string[]>(`return vim.fn.getcompletion(..., "cmdline")`, line);
    expect(await completed("Claude send --to ")).toEqual(["1", "2", "docs"]);
    expect(await completed("2,3Claude send --to d")).toEqual(["docs"]);
    expect(await completed("Claude new --w")).toEqual(["--worktree"]);
  });

  const report = (n: number, state: string) =>
    neovim.lua(
      `require("port").session_rows.report(..., "terminal", { state = select(2, ...) })`,
      n,
      state,
    );

  test("goes with next to sessions that need input, then to finished ones, then to the others", async () => {
    await openTwo();
    await play(":Claude new  3 up 3   mode t");
    const next = (n: number) => play(`:Claude next  shown = ${n}   mode t`);
    await report(1, "done");
    await report(2, "blocked");
    await next(2);
    await report(2, "working");
    await next(1);
    await report(1, "idle");
    for (const n of [2, 3, 1]) await next(n);
    // Two that need input come in turn.
    for (const n of [1, 2]) await report(n, "blocked");
    await next(2);
    await next(1);
    await leave();
    await next(1);
    // The one that has waited longest comes first.
    await report(1, "working");
    await Bun.sleep(2);
    await report(1, "blocked");
    await leave();
    await next(2);
  });

  test("lists all, and goes to the chosen one", async () => {
    await openTwo();
    await report(1, "blocked");
    await leave();
    await neovim.lua(`
      vim.ui.select = function(rows, options, callback)
        CHOICES = vim.tbl_map(options.format_item, rows)
        callback(rows[1])
      end`);
    await play(":Claude sessions  shown = 1   mode t");
    expect(await neovim.lua<string[]>("return CHOICES")).toEqual([
      "1 ◆ Claude: needs input, now",
      expect.stringMatching(/^2 . docs: .*, now \(current\)$/),
    ]);
  });

  test("shows one on each tab page, and its own on one with a folder of its own", async () => {
    await openTwo();
    // A tab page without a folder of its own gets the session that was used last.
    await play(`
      :tabnew          mode n
      :Claude          shown = 2
      :1ClaudeCode     shown = 1
      :tabnew | tcd /  mode n
      :Claude          3 up 3   mode t   shown = 3
      :Claude          shown =
      :Claude          shown = 3
      :tabprevious     shown = 1   mode t
      :tabfirst        shown =
    `);
    expect(await neovim.lua(`return require("port").session_rows.get(3).cwd`)).toBe("/");
  });

  /** The bar above Claude's window, as drawn; "" without one. */
  const bar = () =>
    neovim.lua<string>(`
      for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
        if require("port").window.is_terminal(win) then
          return vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win, use_winbar = true }).str
        end
      end
      return ""`);

  /** A client for each session, as their CLIs would connect. */
  const connect = async () => {
    const clients: TestClient[] = [];
    for (const { buf } of await rows()) {
      const pid = await neovim.lua<number>("return vim.b[...].terminal_job_pid", buf);
      const client = await connectFrom(neovim, pid);
      // The CLI's last message before it takes mentions.
      await client.request("tools/list", {});
      clients.push(client);
    }
    return clients as [TestClient, TestClient];
  };

  test("names the session of a diff, and shows those of the current one first", async () => {
    await openTwo();
    await leave();
    const [first, second] = await connect();
    const propose = (client: TestClient, name: string) =>
      client.propose(join(neovim.cwd, name), "proposed\n");
    const showing = (words: string) => play(`<Ignore>  bars ${words}`);
    const answers = [propose(first, "a.txt")];
    await showing("Claude 1: a.txt");
    answers.push(propose(first, "b.txt"));
    await showing("[1/2] Claude 1: a.txt");
    answers.push(propose(second, "c.txt"));
    await showing("[1/3] Claude 1: a.txt");
    await play(`
      :Claude diff reject  bars docs: c.txt
      :Claude diff reject  bars Claude 1: b.txt
      :Claude diff reject
    `);
    for (const answer of answers) expect((await answer)[0]).toBe("DIFF_REJECTED");
    for (const client of [first, second]) client.close();
  });

  test("sends a mention to the current one, and says so", async () => {
    await openTwo();
    await leave();
    const [first, second] = await connect();
    await writeFile(join(neovim.cwd, "a.txt"), "one\n");
    const mention = () => neovim.lua(`require("claude-code").mention("a.txt")`);
    // Mentions would go to the client that was active last.
    await second.json("getOpenEditors");
    await neovim.command("1ClaudeCode");
    await mention();
    await eventually("it", () => first.notifications("at_mentioned").length === 1);
    await play("<Ignore>  said Claude 1 has a.txt in its prompt");
    await neovim.command("2ClaudeCode");
    await mention();
    await eventually("it", () => second.notifications("at_mentioned").length === 1);
    expect(first.notifications("at_mentioned")).toHaveLength(1);
    for (const client of [first, second]) client.close();
  });

  test("names two or more in a bar, their states, and what the one on screen does", async () => {
    await play(`
      :Claude                   1 up 1   mode t   bar =
      :Claude new -n 50%#docs   2 up 2   mode t
    `);
    await report(1, "blocked");
    await report(2, "working");
    await play("<Ignore>  bar /^1 ◆ 2 50%#docs ● working$/");
    const links = await neovim.lua<string[]>(`
      local winbar, options = vim.wo.winbar, { winid = 0, use_winbar = true, highlights = true }
      return vim.tbl_map(function(part)
        return part.group .. " " .. (vim.api.nvim_get_hl(0, { name = part.group }).link or "")
      end, vim.api.nvim_eval_statusline(winbar, options).highlights)`);
    const ours = links.filter((link) => link.startsWith("ClaudeCode")).join(", ");
    expect(ours.replaceAll("ClaudeCodeSession", "")).toBe(
      "Other Comment, Blocked DiagnosticWarn, Current Title, Working DiagnosticInfo, Other Comment",
    );
    // The bar shortens a file's name as other messages do.
    await neovim.lua(
      `local asks = { state = "blocked", msg = "approve Update: " .. vim.fn.getcwd() .. "/src/a.ts" }
       require("port").session_rows.report(2, "terminal", asks)`,
    );
    await play(`
      <Ignore>        bar /approve Update: src\\/a.ts$/
      :Claude close!  bar =
    `);
    // Only the numbers are shown if there is no room for names.
    await configure(neovim, `{ command = ${CLI}, position = "right" }`);
    for (let n = 2; n <= 8; n++) await neovim.command(`Claude new -n long-name-of-${n}`);
    await eventually("eight", async () => expect(await rows()).toHaveLength(8));
    for (const [width, wanted] of [
      [110, /^ 1 . {2}2 . {2}3 . {2}4 . {2}5 . {2}6 . {2}7 . {2}8 . +/],
      [12, /^ 1 . {2}2 . {2}>$/],
    ] as const) {
      await neovim.command(`vertical resize ${width}`);
      await eventually(`${width} columns`, async () => expect(await bar()).toMatch(wanted));
    }
  });

  test("keeps a bar of the user's own, and turns ours off by the option", async () => {
    await neovim.command("set winbar=mine");
    await openTwo();
    expect(await bar()).toBe("mine");
    await neovim.command("set winbar=");
    await configure(neovim, `{ command = ${CLI}, winbar = false }`);
    await neovim.command("1ClaudeCode");
    await Bun.sleep(50);
    expect(await bar()).toBe("");
  });
});
