import { claims, eventually, first, onEachNeovim, TestNeovim } from "#test";
import { World } from "../../review/state/world";

const TEN = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join("");
const CHANGED = TEN.replace("line 2\n", "LINE 2\n").replace("line 8\n", "LINE 8\nand more\n");

/** What a buffer of the review shows: old lines by their rows, the count, our keys, the bar. */
const SHOWN = `
  local space, rows = vim.api.nvim_create_namespace("claude-code.review"), {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
    if mark[4].virt_lines then table.insert(rows, mark[2] + 1) end
  end
  local bar = vim.api.nvim_eval_statusline(vim.wo.winbar, { use_winbar = true }).str
  return {
    rows = table.concat(rows, ","),
    hunks = (vim.b.claude_code_review or { hunks = 0 }).hunks,
    keys = vim.fn.maparg("gr", "n", false, true).buffer == 1,
    bar = bar:match("hunk %d/%d") or "",
  }`;
const NOTHING = { rows: "", hunks: 0, keys: false, bar: "" };

/** A file under review whose buffer is unloaded, read again or renamed. */
onEachNeovim((session, version) => {
  let world: World;
  const nvim = () => session.neovim;
  const lua = <T>(code: string, ...args: unknown[]) => nvim().lua<T>(code, ...args);

  beforeEach(async () => {
    world = new World(nvim().cwd, nvim().home);
    await lua(`
      _G.said = {}
      vim.notify = function(text) table.insert(_G.said, text) end
      vim.fn.setqflist({}, "f")`);
  });
  afterEach(async () => {
    await nvim().command("silent! Claude review close | silent! Claude review done");
    await eventually("the end", async () => (await world.list()).files.length === 0);
    await session.reset();
    world[Symbol.dispose]();
  });

  const said = () => lua<string[]>("return _G.said");
  const shows = (what: string, expected: object) =>
    eventually(what, async () => expect(await lua<object>(SHOWN)).toEqual(expected));
  const entries = (count: number) =>
    eventually(`${count} entries`, async () =>
      expect(await lua<number>("return #vim.fn.getqflist()")).toBe(count),
    );
  const at = (row: number) => nvim().command(`call cursor(${row}, 1)`);

  /** A review of two hunks in `a`, whose first one has the cursor. */
  async function reviewed(): Promise<void> {
    world.edited("a", TEN, CHANGED);
    await nvim().command("Claude review");
    await entries(2);
    await all();
  }
  const all = (bar = "hunk 1/2") => shows("both hunks", { rows: "2,8", hunks: 2, keys: true, bar });
  const one = () => shows("one hunk", { rows: "8", hunks: 1, keys: true, bar: "hunk 1/1" });

  test("a file in UTF-16 whose first bytes have neither NUL nor mark shows its hunk, and does not crash Neovim", async () => {
    const utf16 = (text: string) => Buffer.from(text, "utf16le").toString("latin1");
    const far = "\u4e2d".repeat(4100);
    world.edited("a", utf16(`${far}\n\u4ed8\u4ed8`), utf16(`${far}\n\u4e2d\u4ed8`));
    await nvim().command("edit ++enc=utf-16le a | Claude review");
    await eventually("the hunk", async () =>
      expect(await lua<object>(SHOWN)).toMatchObject({ hunks: 1 }),
    );
    expect(await lua<string>("return vim.bo.fileencoding")).toBe("utf-16le");
  });

  test("a change beside a NUL far down in a text is shown, and the NUL in the base text", async () => {
    const far = `${"a long line of text\n".repeat(500)}`;
    world.edited("a", `${far}one\0\nkept\0\n`, `${far}ONE\0\nkept\0\n`);
    await nvim().command("edit a | Claude review");
    await entries(1);
    await shows("the hunk", { rows: "501", hunks: 1, keys: true, bar: "hunk 1/1" });
    world.claude({ a: undefined });
    await nvim().command(`edit claude-code://base/${session.path("a")}`);
    await eventually("the base text", async () =>
      expect(await lua<string>("return vim.fn.getline(501)")).toBe("one\n"),
    );
  });

  test("marks hidden characters and blanks with a text behind them, in Claude's lines alone", async () => {
    claims("Invisible characters are shown as codes");
    const hidden = `x\u{e0063}${" ".repeat(150)}rm\n`;
    const bytes = (text: string) => Buffer.from(text).toString("latin1");
    world.edited("a", bytes(`mine\u3164\n${TEN}`), bytes(`mine\u3164\n${hidden}${TEN}`));
    await nvim().command("edit a | Claude review");
    await entries(1);
    const marked = `return vim.tbl_map(function(mark) return { mark[2], mark[4].virt_text[1][1] } end,
      vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace("claude-code.hidden"), 0, -1, { details = true }))`;
    await eventually("the marks", async () =>
      expect(await lua<object>(marked)).toEqual([
        [1, "<e0063>"],
        [1, "<150 blanks>"],
      ]),
    );
    await nvim().command("Claude review close");
    await eventually("no mark", async () => expect(await lua<object>(marked)).toEqual([]));
  });

  test.each(first(1, ["bdelete", "bwipeout", "bunload"]))(
    ":%s and the file again: everything is shown as before, and gr undoes",
    async (command) => {
      await reviewed();
      await nvim().command(`new | ${command} a`);
      await shows("an empty buffer", NOTHING);
      await nvim().command("edit a");
      await at(2);
      await all();
      await nvim().type("gr");
      await eventually("the old line", () => world.read("a")?.includes("line 2\n") === true);
      await one();
      await entries(1);
    },
  );

  test(":edit! of what Claude has written in between, and of the user's own edits", async () => {
    await reviewed();
    await nvim().command("1delete | edit!");
    await all();
    await nvim().command("call setline(2, 'line 2')");
    await one();
    await nvim().command("edit!");
    await all();
    world.claude({ a: CHANGED.replace("line 5\n", "line five\n") });
    await nvim().command("edit!");
    await shows("the third hunk", { rows: "2,5,8", hunks: 3, keys: true, bar: "hunk 1/3" });
    await entries(3);
  });

  test.each(["file", "saveas"])(
    ":%s makes the buffer another file's; the old one shows everything again",
    async (command) => {
      await reviewed();
      await nvim().command(`${command} other`);
      await shows("nothing", NOTHING);
      await entries(2);
      await nvim().command("edit a");
      await at(2);
      await all();
      await nvim().command("bwipeout! other");
    },
  );

  test("a buffer that gets the name of a file under review shows its hunks", async () => {
    await reviewed();
    await nvim().command("bwipeout a | edit new | call setline(1, readfile('a')) | file a");
    await at(2);
    await all();
    await nvim().command("bwipeout!");
  });

  test("a session file that was written during a review brings back no bar", async () => {
    await reviewed();
    await nvim().command("set noswapfile sessionoptions+=localoptions");
    await nvim().command("vsplit | mksession! s.vim | only");
    // Read while the review is open, it takes no bar of that.
    const bar = await lua("vim.cmd.doautocmd('SessionLoadPost') return vim.wo.winbar");
    expect(bar).toStartWith("%(%)");
    await nvim().command("Claude review close | set sessionoptions&");
    await using other = await TestNeovim.start({ version, cwd: nvim().cwd });
    await other.command("set noswapfile | source s.vim");
    expect(await other.lua<string>("return vim.fn.expand('%')")).toBe("a");
    expect(
      await other.lua<string>(`
        return vim.iter(vim.api.nvim_list_wins()):map(function(win) return vim.wo[win].winbar end):join("")`),
    ).toBe("");
  });

  test("a name that comes while the executable answers: nothing of the old file is shown", async () => {
    await reviewed();
    await lua(`
      vim.cmd("doautocmd TextChanged")
      require("port").review.update(vim.api.nvim_get_current_buf())
      vim.cmd("file other")`);
    await Bun.sleep(400);
    await shows("nothing", NOTHING);
    await nvim().command("bwipeout!");
  });

  test("gr during a formatter's write acts on the text as it is then", async () => {
    await reviewed();
    await lua(`
      vim.fn.setline(10, "mine")
      vim.cmd("Claude undo")
      vim.fn.setline(11, "mine, formatted")`);
    await eventually("the old line", async () =>
      expect(await lua<string>("return vim.fn.getline(2)")).toBe("line 2"),
    );
    expect(await said()).not.toContain(expect.stringContaining("has changed"));
    await nvim().command("silent write");
  });

  test("gr in a text that goes on changing says that it does nothing", async () => {
    await reviewed();
    await lua(`
      local client = require("claude-code.server.requests")
      _G.request = client.request
      client.request = function(method, params, callback)
        _G.request(method, params, callback)
        if method == "review/file" then vim.fn.append("$", "more") end
      end
      vim.fn.setline(10, "mine")
      vim.cmd("Claude undo")`);
    await eventually("a message", async () =>
      expect((await said()).join()).toContain("the text has changed since then"),
    );
    await lua(`require("claude-code.server.requests").request = _G.request`);
    expect(await lua<string>("return vim.fn.getline(2)")).toBe("LINE 2");
    await nvim().command("edit!");
  });
});
