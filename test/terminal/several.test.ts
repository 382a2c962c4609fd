import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually, NEOVIMS, TestClient, type TestNeovim } from "#test";
import { configure, LATER, reset, said, startNeovim, windows } from "./workbench";

/** Shows its session's number, then every byte it gets. */
const CLI = `{ "sh", "-c", "stty raw -echo; ${LATER} echo up $CLAUDE_CODE_NVIM_SESSION; exec cat -v" }`;

describe.each(NEOVIMS)("several Claudes in $name", (version) => {
  let neovim: TestNeovim;
  beforeAll(async () => {
    neovim = await startNeovim(version, `{ terminal = { command = ${CLI} } }`);
  });
  afterAll(() => neovim[Symbol.asyncDispose]());
  beforeEach(async () => {
    await reset(neovim);
    await configure(neovim, `{ command = ${CLI} }`);
  });

  interface Row {
    n: number;
    name?: string;
    buf: number;
    id?: string;
  }
  const rows = () => neovim.lua<Row[]>(`return require("port").session_list.own()`);

  const text = (buf: number) =>
    neovim.lua<string>(
      `return vim.trim(table.concat(vim.api.nvim_buf_get_lines(..., 0, -1, false), "\\n"))`,
      buf,
    );

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

  const up = async (n: number) => {
    await received(n, `up ${n}`);
    await neovim.inMode("t");
  };

  const received = (n: number, wanted: string) =>
    eventually(`${wanted} in ${n}`, async () => {
      const row = (await rows()).find((one) => one.n === n);
      expect(row && (await text(row.buf))).toContain(wanted);
    });

  /** Two, the second with a name and current. */
  const openTwo = async () => {
    await neovim.command("Claude");
    await up(1);
    await neovim.command("Claude new -n docs");
    await up(2);
  };

  /** The user's own window, in normal mode. */
  const leave = async () => {
    await neovim.command("stopinsert | wincmd p");
    await neovim.inMode("n");
  };

  test("the second takes the window of the first, which runs on", async () => {
    await neovim.command("Claude");
    await up(1);
    const before = await windows(neovim);
    await neovim.command("Claude new -n docs");
    await up(2);
    expect(await windows(neovim)).toEqual(before);
    const [first, second] = await rows();
    expect([first?.name, second?.name]).toEqual([undefined, "docs"]);
    expect(first?.id).not.toBe(second?.id);
    expect(await shown()).toEqual([2]);
    await neovim.type("eins");
    await received(2, "eins");

    await neovim.command("1ClaudeCode");
    await eventually("the first", async () => expect(await shown()).toEqual([1]));
    await neovim.inMode("t");
    await neovim.type("zwei");
    await received(1, "zwei");
    expect(await windows(neovim)).toEqual(before);
    expect(await text(second?.buf ?? 0)).not.toContain("zwei");
  });

  test("a count before a mapping is a session's number", async () => {
    await neovim.lua(`vim.keymap.set("n", "X", "<Plug>(claude)")`);
    await openTwo();
    await leave();
    await neovim.type("1X");
    await eventually("the first", async () => expect(await shown()).toEqual([1]));
    await neovim.inMode("t");
    await leave();
    await neovim.type("X");
    await eventually("none", async () => expect(await shown()).toEqual([]));
    await neovim.command("Claude");
    expect(await shown()).toEqual([1]);
    await neovim.command("1ClaudeCode");
    expect(await shown()).toEqual([]);
  });

  test("closing ends the current one alone, by ! one that works; ! starts it again under its number", async () => {
    await openTwo();
    await neovim.command("Claude new");
    await up(3);
    await neovim.command("2ClaudeCode! -n again");
    await up(2);
    expect((await rows()).map((row) => [row.n, row.name])).toEqual([
      [1, undefined],
      [2, "again"],
      [3, undefined],
    ]);
    const numbers = async () => (await rows()).map((row) => row.n);
    await leave();
    await report(2, "working");
    await neovim.command("Claude close");
    expect(await numbers()).toEqual([1, 2, 3]);
    expect((await said(neovim)).at(-1)).toContain(
      "Claude 2 (again) is working; :Claude close! ends it all the same",
    );
    await neovim.command("Claude close!");
    expect((await said(neovim)).at(-1)).toContain("Claude 2 (again) was ended");
    expect(await numbers()).toEqual([1, 3]);
    expect(await shown()).toEqual([3]);
  });

  test("one that ends by itself says which, and leaves its window to another one", async () => {
    await openTwo();
    await configure(neovim, `{ command = { "sh", "-c", "read line" } }`);
    await neovim.command("Claude new -n short");
    await neovim.inMode("t");
    await neovim.type("<CR>");
    expect(await said(neovim)).toEqual([expect.stringMatching(/Claude 3 \(short\) has ended$/)]);
    expect((await rows()).map((row) => row.n)).toEqual([1, 2]);
    await eventually("the first one", async () => (await shown()).join() === "1");
    // No key that is still typed reaches it.
    expect((await neovim.mode()).mode).toBe("nt");
    await neovim.command("Claude close");
    expect(await shown()).toEqual([2]);
    await neovim.command("Claude close");
    expect(await windows(neovim)).toHaveLength(1);
  });

  test("text goes to the current one, or to one by number or name", async () => {
    await openTwo();
    await leave();
    await neovim.lua(`vim.api.nvim_buf_set_lines(0, 0, -1, true, { "one", "two" })`);
    await neovim.command("Claude send current");
    await received(2, "current");
    await neovim.command("Claude send --to 1 some words");
    await received(1, "some words");
    await neovim.command("1,2Claude send --to docs");
    await received(2, "one");
    await neovim.command("normal G");
    await neovim.type("1<Plug>(claude-send)");
    await received(1, "two");
    // A text may begin with the number or the name of a session.
    for (const text of ["1 is", "docs x"]) {
      await neovim.command(`Claude send ${text}`);
      await received(2, text);
    }
    // What is sent to another one does not make that the current one.
    await neovim.command("Claude send still");
    await received(2, "still");
    const texts = (await said(neovim)).map((line) => line.replace("claude-code.nvim: ", ""));
    const hidden = "sent to Claude 1, whose terminal is hidden; :Claude 1 shows it";
    expect(texts).toEqual([
      "sent to Claude 2 (docs)",
      hidden,
      "sent to Claude 2 (docs)",
      hidden,
      ...["current text", "text", "text"].map(() => "sent to Claude 2 (docs)"),
    ]);
    await neovim.command("Claude send --to nobody hello");
    await eventually("the error", async () =>
      expect((await said(neovim)).at(-1)).toContain("there is no Claude session nobody"),
    );
  });

  test("the command line completes numbers and names", async () => {
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

  test("next goes where input is needed, then to what is done, then on", async () => {
    await openTwo();
    await neovim.command("Claude new");
    await up(3);
    const next = async (n: number) => {
      await neovim.command("Claude next");
      await eventually(`session ${n}`, async () => expect(await shown()).toEqual([n]));
      await neovim.inMode("t");
    };
    await report(1, "done");
    await report(2, "blocked");
    await next(2);
    await report(2, "working");
    await next(1);
    await report(1, "idle");
    await next(2);
    await next(3);
    await next(1);
    // Of two that need input, each in its turn.
    for (const n of [1, 2]) await report(n, "blocked");
    await next(2);
    await next(1);
    await leave();
    await next(1);
    // The one that has waited longest.
    await report(1, "working");
    await Bun.sleep(2);
    await report(1, "blocked");
    await leave();
    await next(2);
  });

  test("the list shows all, and goes to the one that is chosen", async () => {
    await openTwo();
    await report(1, "blocked");
    await leave();
    await neovim.lua(`
      vim.ui.select = function(rows, options, callback)
        CHOICES = vim.tbl_map(options.format_item, rows)
        callback(rows[1])
      end`);
    await neovim.command("Claude sessions");
    await eventually("the first", async () => expect(await shown()).toEqual([1]));
    await neovim.inMode("t");
    expect(await neovim.lua<string[]>("return CHOICES")).toEqual([
      "1 ◆ Claude: needs input, now",
      expect.stringMatching(/^2 . docs: .*, now \(current\)$/),
    ]);
  });

  test("each tab page shows one, and one with a folder of its own has its own", async () => {
    await openTwo();
    await neovim.command("tabnew");
    await neovim.inMode("n");
    await neovim.command("Claude");
    // The tab page without a folder of its own: the one used last comes here.
    await eventually("the second here", async () => expect(await shown()).toEqual([2]));
    await neovim.command("1ClaudeCode");
    expect(await shown()).toEqual([1]);
    await neovim.command("tabnew | tcd /");
    await neovim.inMode("n");
    await neovim.command("Claude");
    await up(3);
    expect(await shown()).toEqual([3]);
    expect(await neovim.lua(`return require("port").session_rows.get(3).cwd`)).toBe("/");
    await neovim.command("Claude");
    await neovim.command("Claude");
    expect(await shown()).toEqual([3]);
    await neovim.command("tabprevious");
    expect(await shown()).toEqual([1]);
    await neovim.inMode("t");
    await neovim.command("tabfirst");
    expect(await shown()).toEqual([]);
  });

  /** What stands above Claude's window, as drawn; "" if nothing does. */
  const bar = () =>
    neovim.lua<string>(`
      for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
        if require("port").window.is_terminal(win) then
          return vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win, use_winbar = true }).str
        end
      end`);

  /** A client for each session, as their CLIs would connect. */
  const connect = async () => {
    const lock = await neovim.lock();
    const clients: TestClient[] = [];
    for (const { buf } of await rows()) {
      const client = await TestClient.open(lock, "claude-code");
      const pid = await neovim.lua<number>("return vim.b[...].terminal_job_pid", buf);
      client.notify("ide_connected", { pid });
      // The CLI's last message before it takes mentions.
      await client.request("tools/list", {});
      clients.push(client);
    }
    await neovim.until(
      "their processes",
      `local clients = require("claude-code").status().clients
        return #clients == 2 and clients[1].pid ~= nil and clients[2].pid ~= nil`,
    );
    return clients as [TestClient, TestClient];
  };

  test("a diff names its session, and those of the current one come first", async () => {
    await openTwo();
    await leave();
    const [first, second] = await connect();
    const propose = (client: TestClient, name: string) =>
      client.propose(join(neovim.cwd, name), "proposed\n");
    const diffBar = () =>
      neovim.lua<string>(`
        local win = require("port").diff_shown() and require("port").diff_window()
        return win and vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win, use_winbar = true }).str or ""`);
    const showing = (words: RegExp) =>
      eventually("the diff", async () => expect(await diffBar()).toMatch(words));
    const answers = [propose(first, "a.txt")];
    await showing(/Claude 1: a\.txt/);
    answers.push(propose(first, "b.txt"));
    await showing(/\[1\/2\] Claude 1: a\.txt/);
    answers.push(propose(second, "c.txt"));
    await showing(/\[1\/3\] Claude 1: a\.txt/);
    await neovim.command("Claude diff reject");
    await showing(/docs: c\.txt/);
    await neovim.command("Claude diff reject");
    await showing(/Claude 1: b\.txt/);
    await neovim.command("Claude diff reject");
    for (const answer of answers) expect((await answer)[0]).toBe("DIFF_REJECTED");
    for (const client of [first, second]) client.close();
  });

  test("a mention goes to the current one, and that is said", async () => {
    await openTwo();
    await leave();
    const [first, second] = await connect();
    await writeFile(join(neovim.cwd, "a.txt"), "one\n");
    const mention = () => neovim.lua(`require("claude-code").mention("a.txt")`);
    // Whoever was active last.
    await second.json("getOpenEditors");
    await neovim.command("1ClaudeCode");
    await mention();
    await eventually("it", () => first.notifications("at_mentioned").length === 1);
    await eventually("the message", async () =>
      expect(await said(neovim)).toContain("Claude 1 has a.txt in its prompt"),
    );
    await neovim.command("2ClaudeCode");
    await mention();
    await eventually("it", () => second.notifications("at_mentioned").length === 1);
    expect(first.notifications("at_mentioned")).toHaveLength(1);
    for (const client of [first, second]) client.close();
  });

  test("a bar names two or more, their states, and what the one on screen does", async () => {
    await neovim.command("Claude");
    await up(1);
    expect(await bar()).toBe("");
    await neovim.command("Claude new -n 50%#docs");
    await up(2);
    await report(1, "blocked");
    await report(2, "working");
    await eventually("the bar", async () =>
      expect(await bar()).toMatch(/^ 1 ◆ {2}2 50%#docs ● {2,}working $/),
    );
    const links = await neovim.lua<string[]>(`
      local winbar, options = vim.wo.winbar, { winid = 0, use_winbar = true, highlights = true }
      return vim.tbl_map(function(part)
        return part.group .. " " .. (vim.api.nvim_get_hl(0, { name = part.group }).link or "")
      end, vim.api.nvim_eval_statusline(winbar, options).highlights)`);
    expect(links.filter((link) => link.startsWith("ClaudeCode"))).toEqual([
      ...["ClaudeCodeSessionOther Comment", "ClaudeCodeSessionBlocked DiagnosticWarn"],
      ...["ClaudeCodeSessionCurrent Title", "ClaudeCodeSessionWorking DiagnosticInfo"],
      "ClaudeCodeSessionOther Comment",
    ]);
    // A file is called as elsewhere.
    await neovim.lua(
      `local asks = { state = "blocked", msg = "approve Update: " .. vim.fn.getcwd() .. "/src/a.ts" }
       require("port").session_rows.report(2, "terminal", asks)`,
    );
    await eventually("the bar", async () =>
      expect(await bar()).toMatch(/ {2,}approve Update: src\/a\.ts $/),
    );
    await neovim.command("Claude close!");
    await eventually("no bar", async () => expect(await bar()).toBe(""));
    // The numbers stand alone if there is no room for names.
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

  test("a bar of the user's own stays, and the option turns ours off", async () => {
    await neovim.command("set winbar=mine");
    await openTwo();
    expect(await bar()).toBe("mine");
    await neovim.command("set winbar=");
    await configure(neovim, `{ command = ${CLI}, winbar = false }`);
    await neovim.command("1ClaudeCode");
    await Bun.sleep(50);
    expect(await bar()).toBe("");
  });

  test("terminal mode was left to read in one, not in the other", async () => {
    await openTwo();
    await neovim.type("<C-Bslash><C-n>");
    await neovim.inMode("nt");
    await neovim.command("1ClaudeCode");
    await neovim.inMode("t");
    await neovim.command("Claude");
    await neovim.inMode("n");
  });

  test("a float shows one, too", async () => {
    await configure(neovim, `{ command = ${CLI}, position = "float" }`);
    await openTwo();
    expect(await shown()).toEqual([2]);
    expect(await windows(neovim)).toHaveLength(2);
    await neovim.command("1ClaudeCode");
    expect(await shown()).toEqual([1]);
    expect(await windows(neovim)).toHaveLength(2);
  });
});
