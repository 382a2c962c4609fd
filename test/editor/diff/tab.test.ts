import { writeFileSync } from "node:fs";
import { eventually, NEOVIMS, TestClient, TestNeovim } from "#test";
import { join } from "../../../src/lib/platform";
import { ECHO, shows } from "../../terminal/workbench";

/* A diff in a tab page of its own, while Claude's terminal is open. */
/** The files and widths of the windows of each tab page; the terminal is "claude". */
const PAGES = `
  return vim.tbl_map(function(tab)
    return vim.tbl_map(function(win)
      local buf = vim.api.nvim_win_get_buf(win)
      local name = vim.bo[buf].buftype == "terminal" and "claude"
        or vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ":t")
      return name .. " " .. vim.api.nvim_win_get_width(win)
    end, vim.api.nvim_tabpage_list_wins(tab))
  end, vim.api.nvim_list_tabpages())`;

const HERE = `
  local buf = vim.api.nvim_get_current_buf()
  return { tab = vim.fn.tabpagenr(), terminal = vim.bo[buf].buftype == "terminal" }`;

const reasons: [name: string, options: string, prepare: string[]][] = [
  ["layout is tab", `layout = "tab"`, []],
  ["another diff is open", `layout = "vertical"`, ["vert diffsplit b.txt"]],
];

/** The user's actions until the diff has been answered. */
const ways: [name: string, commands: string][] = [
  ["accepts in the proposal", "Claude diff accept"],
  ["goes to the terminal and accepts there", "Claude focus | Claude diff accept"],
  ["hides the terminal, shows it again, and rejects", "Claude | Claude | Claude diff reject"],
];

describe.each(NEOVIMS)("a tab page of the diff's own in $name", (version) => {
  /** A Neovim in whose terminal Claude runs. */
  const start = (diff = "{}") =>
    TestNeovim.start({
      version,
      ui: { width: 160, height: 40 },
      setup: `{ terminal = { command = ${ECHO} }, diff = ${diff} }`,
    });
  /** Opens a.txt, and Claude's terminal, in which the user types from then on. */
  async function openTerminal(neovim: TestNeovim, prepare: string[] = []): Promise<void> {
    for (const name of ["a.txt", "b.txt"]) writeFileSync(join(neovim.cwd, name), "one\n");
    for (const command of ["edit a.txt", ...prepare, "Claude"]) await neovim.command(command);
    await shows(neovim, "up");
    await neovim.inMode("t");
  }
  const propose = (neovim: TestNeovim, client: TestClient) =>
    client.propose(join(neovim.cwd, "a.txt"), "ONE\n");

  describe.each(reasons)("as %s", (_, options, prepare) => {
    test.each(ways)("has the terminal, too; the user %s", async (_, typed) => {
      const commands = typed.split(" | ");
      await using neovim = await start(`{ ${options} }`);
      using client = await TestClient.open(await neovim.lock(), "claude-code");
      await openTerminal(neovim, prepare);
      const pages = () => neovim.lua<string[][]>(PAGES);
      const before = await pages();
      const answer = propose(neovim, client);
      await eventually("the diff", async () =>
        expect(await pages()).toEqual([
          before[0] ?? [],
          [expect.stringMatching(/ 49$/), expect.stringMatching(/ 49$/), "claude 60"],
        ]),
      );
      expect(await neovim.lua(HERE)).toEqual({ tab: 2, terminal: false });
      for (const command of commands) {
        expect((await neovim.lua<{ tab: number }>(HERE)).tab).toBe(2);
        await neovim.command(command);
      }
      await answer;
      await eventually("one tab page", async () => {
        const now = await pages();
        // The sizes of windows beside a terminal that was hidden in between are Neovim's choice.
        if (commands.length < 3) expect(now).toEqual(before);
        else expect(now.map((names) => names.length)).toEqual([before[0]?.length ?? 0]);
      });
      await neovim.inMode("t");
      expect(await neovim.lua(HERE)).toEqual({ tab: 1, terminal: true });
    });
  });

  test("does not start terminal mode on the user's own tab page", async () => {
    await using neovim = await start('{ layout = "tab" }');
    using client = await TestClient.open(await neovim.lock(), "claude-code");
    await openTerminal(neovim);
    const answer = propose(neovim, client);
    await eventually("the diff", async () =>
      expect(await neovim.lua(HERE)).toEqual({ tab: 2, terminal: false }),
    );
    await neovim.type("gt");
    // Terminal mode would begin later than the key is executed.
    await Bun.sleep(200);
    expect(await neovim.lua(HERE)).toEqual({ tab: 1, terminal: true });
    await neovim.type("gt");
    await eventually("the diff again", async () =>
      expect(await neovim.lua(HERE)).toEqual({ tab: 2, terminal: false }),
    );
    await neovim.command("Claude diff reject");
    await answer;
    await neovim.inMode("t");
  });

  /** Works like scope.nvim: gives each tab page its own listed buffers, using the events of tab pages. */
  const SCOPES = `
    local cache, events = {}, vim.api.nvim_create_augroup("scopes", {})
    EVENTS = {}
    local function on(event, callback)
      vim.api.nvim_create_autocmd(event, { group = events, callback = function()
        table.insert(EVENTS, event .. " " .. vim.fn.tabpagenr())
        callback(vim.api.nvim_get_current_tabpage())
      end })
    end
    on("TabLeave", function(tab)
      cache[tab] = vim.tbl_filter(function(buf) return vim.bo[buf].buflisted end, vim.api.nvim_list_bufs())
      for _, buf in ipairs(cache[tab]) do vim.bo[buf].buflisted = false end
    end)
    on("TabEnter", function(tab)
      for _, buf in ipairs(cache[tab] or {}) do vim.bo[buf].buflisted = true end
    end)`;
  const LISTED = `
    return vim.tbl_map(function(info)
      return vim.fs.basename(info.name)
    end, vim.fn.getbufinfo({ buflisted = 1 }))`;

  const moves: [what: string, focus: boolean, keys: string, events: string[]][] = [
    ["stays in the diff", true, "", ["TabLeave 1", "TabEnter 1"]],
    // Neovim itself emits all but the first.
    ["goes to their own tab page", true, "gt", ["TabLeave 1", "TabLeave 2", "TabEnter 1"]],
    ["is not moved there", false, "", ["TabLeave 1", "TabEnter 1"]],
  ];
  test.each(moves)("keeps a plugin's lists: the user %s", async (_, focus, keys, events) => {
    await using neovim = await start(`{ layout = "tab", focus = ${focus} }`);
    using client = await TestClient.open(await neovim.lock(), "claude-code");
    writeFileSync(join(neovim.cwd, "a.txt"), "one\n");
    await neovim.command("edit b.txt | edit a.txt");
    await neovim.lua(SCOPES);
    const before = await neovim.lua<string[]>(LISTED);
    const answer = propose(neovim, client);
    await neovim.until("the diff", 'return require("port").diff_decidable()');
    await neovim.type(keys);
    if (keys || !focus) await neovim.until("theirs", "return #EVENTS > 1");
    if (keys || !focus) expect(await neovim.lua<string[]>(LISTED)).toEqual(before);
    await neovim.command("Claude diff reject");
    await answer;
    await neovim.until("one tab page", "return #vim.api.nvim_list_tabpages() == 1");
    expect(await neovim.lua<string[]>(LISTED)).toEqual(before);
    expect(await neovim.lua<string[]>("return EVENTS")).toEqual(events);
  });
});
