import { LUA_SLEEP, NEOVIMS, perBlock, TestNeovim } from "#test";

/* The rows of sessions: what each source may change, which one is current, what events say. */

const EMPTY = `
  rows = require("port").session_rows
  for _, row in ipairs(rows.list()) do rows.remove(row.n) end
  happened = {}`;

const RECORD = `
  vim.api.nvim_create_autocmd("User", {
    pattern = "ClaudeCodeSession*",
    callback = function(event)
      local data = event.data
      table.insert(happened, table.concat({
        event.match:match("Session(.*)"), data.session.n,
        data.from or "-", data.to or "-", data.kind or "-", data.msg or "-",
      }, " "))
    end,
  })`;

describe.each(NEOVIMS)("the rows of sessions in Neovim $name", (version) => {
  const neovim = perBlock(() => TestNeovim.start({ version, setup: "{ auto_start = false }" }));
  beforeAll(async () => {
    await neovim.lua(RECORD);
  });

  async function run<T>(body: string): Promise<T> {
    await neovim.lua(EMPTY);
    return neovim.lua<T>(body);
  }

  test("gives the lowest free number, which stays", async () => {
    const numbers = await run(`
      rows.add({}) rows.add({}) rows.add({})
      rows.remove(2)
      local again = rows.add({ name = "again" })
      return { again, rows.add({ n = 7 }), rows.add({ n = 7 }), #rows.list() }`);
    expect(numbers).toEqual([2, 7, 4, 5]);
  });

  test("reports what happened as events, and nothing else", async () => {
    const happened = await run(`
      local n = rows.add({})
      rows.report(n, "terminal", { state = "working", msg = "Reading a.txt" })
      rows.report(n, "terminal", { state = "working", msg = "Reading a.txt" })
      rows.report(n, "terminal", { state = "blocked", kind = "permission", msg = "approve" })
      rows.remove(n)
      rows.remove(n)
      return happened`);
    expect(happened).toEqual([
      "Started 1 - - - -",
      "Changed 1 - working - Reading a.txt",
      "Changed 1 working blocked permission approve",
      "Ended 1 - - - -",
    ]);
  });

  test("takes no state from a lower source than the last one", async () => {
    const states = await run(`
      local n, states = rows.add({ pid = 100 }), {}
      for _, step in ipairs({
        { "hook", "working" }, { "registry", "idle" }, { "hook", "working" },
        { "terminal", "blocked" }, { "registry", "idle" },
      }) do
        rows.report({ pid = 100 }, step[1], { state = step[2] })
        table.insert(states, rows.get(n).state)
      end
      return states`);
    expect(states).toEqual(["working", "idle", "idle", "blocked", "blocked"]);
  });

  test("knows a session by its process, its id, or its number until its CLI ends", async () => {
    const known = await run(`
      local n, report = rows.add({ pid = 100, id = "a" }), { state = "idle" }
      local second, cli = rows.add({}), vim.fn.jobstart(${LUA_SLEEP})
      local pid = vim.fn.jobpid(cli)
      return {
        rows.report({ pid = 100, id = "cleared" }, "hook", report),
        rows.get(n).id,
        rows.report({ id = "a" }, "hook", report),
        rows.report({ n = second, pid = pid, id = "b" }, "hook", report),
        rows.get(second).pid == pid,
        -- A CLI that Claude has started: it inherits the number.
        rows.report({ n = second, pid = 201, id = "c" }, "hook", report),
        rows.get(second).id,
        rows.report(9, "hook", report),
        -- Another one in the same terminal, after its end.
        vim.fn.jobstop(cli) == 1 and vim.fn.jobwait({ cli })[1] ~= -1,
        rows.report({ n = second, pid = 202, id = "d" }, "hook", report),
        rows.get(second).id,
      }`);
    expect(known).toEqual([
      ...[true, "cleared", false, true, true],
      ...[false, "b", false, true, true, "d"],
    ]);
  });

  test("chooses the current session: with the cursor, of the tab page, shown, used last", async () => {
    const current = await run(`
      local first, second, third = rows.add({}), rows.add({}), rows.add({})
      local buf = vim.api.nvim_create_buf(false, true)
      rows.set(second, { buf = buf })
      local current = { rows.current() }
      rows.use(first)
      table.insert(current, rows.current())
      vim.cmd.tabnew()
      table.insert(current, rows.current())
      vim.cmd.sbuffer(buf)
      table.insert(current, rows.current())
      vim.cmd.wincmd("p")
      table.insert(current, rows.current())
      rows.use(third)
      table.insert(current, rows.current())
      rows.remove(third)
      table.insert(current, rows.current())
      vim.cmd.tabclose()
      table.insert(current, rows.current())
      return current`);
    expect(current).toEqual([3, 1, 1, 2, 2, 3, 2, 1]);
  });
});
