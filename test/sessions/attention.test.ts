import { eventually, NEOVIMS, nightly, PORT, perBlock, ROOT, TestNeovim } from "#test";

/* Calls for the user's attention to a session: the options `notify.*`. */

/** Reports are merged for much less than the second that users wait. */
const HURRY = 10;
/** Longer than reports are merged. */
const MERGED_MS = 300;

describe.each(NEOVIMS)("a session that needs the user of Neovim $name", (version) => {
  const neovim = perBlock(() =>
    TestNeovim.start({ version, setup: "{ auto_start = false }", ui: { width: 120, height: 20 } }),
  );
  beforeAll(async () => {
    await neovim.lua(`require("port").hurry(${HURRY})`);
  });

  const setup = (options: string) =>
    neovim.lua(
      `require("claude-code").setup(vim.tbl_extend("force", { auto_start = false }, ${options}))`,
    );

  beforeEach(async () => {
    await setup("{}");
    await neovim.lua(`
      rows = require("port").session_rows
      for _, row in ipairs(rows.list()) do rows.remove(row.n) end
      for _, name in ipairs({ "docs", "tests", "login" }) do
        rows.set(rows.add({ name = name }), { buf = vim.api.nvim_create_buf(false, true) })
      end
      vim.cmd("silent! only | messages clear")
      received = {}`);
  });

  const report = (n: number, state: string, msg?: string) =>
    neovim.lua(
      `local n, state, msg = ... rows.report(n, "terminal", { state = state, msg = msg })`,
      ...[n, state, ...(msg ? [msg] : [])],
    );
  /** "1 blocked, 2 working" at once: on a busy machine two requests may be further apart than what is merged. */
  const reports = (all: string) =>
    neovim.lua(
      `for n, state in (...):gmatch("(%d) (%a+)") do
        rows.report(tonumber(n), "terminal", { state = state })
      end`,
      all,
    );
  const messages = () => neovim.command("messages");

  test("is named in a message, with what it asks", async () => {
    await report(1, "working");
    await report(1, "blocked", "approve Bash: npm test");
    await eventually("the message", async () => (await messages()) !== "");
    expect(await messages()).toBe(
      "claude-code.nvim: :Claude next: Claude 1 (docs) needs input: approve Bash: npm test",
    );
  });

  test("is reported together with others", async () => {
    await reports("1 blocked, 2 blocked");
    await eventually("the message", async () => (await messages()) !== "");
    await Bun.sleep(MERGED_MS);
    expect(await messages()).toBe("claude-code.nvim: :Claude next: 2 Claude sessions need you");
  });

  test("is not reported if it is on screen, already answered, or only done", async () => {
    await neovim.lua("vim.cmd.sbuffer(rows.get(1).buf)");
    await reports("1 blocked, 2 blocked, 2 working, 3 done");
    await Bun.sleep(MERGED_MS);
    expect(await messages()).toBe("");
  });

  test("is not reported for an edit that has a diff, even while another diff is on screen", async () => {
    await neovim.lua(`
      local port, pids = require("port"), { vim.fn.getpid(), vim.uv.os_getppid() }
      port.server.clients = { { id = 1, pid = pids[1] }, { id = 2, pid = pids[2] } }
      for n, pid in ipairs(pids) do
        local path = vim.fn.getcwd() .. "/" .. n
        local params = { id = n, client = n, old_path = path, new_path = path, contents = "new\\n" }
        assert(port.dispatcher.call("diff_open", params).error == nil)
      end
      for n, pid in ipairs({ pids[1], pids[2], false }) do
        local asks = { state = "blocked", kind = "permission", msg = "approve " .. n }
        rows.report({ n = n, pid = pid or nil }, "terminal", asks)
      end`);
    await eventually("the message", async () => (await messages()).includes("needs input"));
    expect(await messages()).toContain("Claude 3 (login) needs input: approve 3");
    await neovim.lua(`
      require("port").dispatcher.call("diff_close", { ids = { 1, 2 } })
      require("port").server.clients = {}`);
  });

  test("is reported to a function, for the states that are chosen", async () => {
    await setup(`{ notify = { on = { "done" }, by = function(sessions)
      table.insert(received, sessions[1].name .. " " .. sessions[1].state)
    end } }`);
    await report(1, "blocked");
    await report(3, "done");
    await neovim.until("the call", "return #received > 0");
    expect(await neovim.lua<string[]>("return received")).toEqual(["login done"]);
    expect(await messages()).toBe("");
    // A failing one is reported as an error.
    await setup(`{ notify = { by = function() error("no bell") end } }`);
    await report(1, "error");
    await eventually("the message", async () => (await messages()).includes("no bell"));
    expect(await messages()).toContain("the function notify.by failed: ");
  });

  nightly.test("is reported by the terminal when Neovim does not have the focus", async () => {
    const inner = `
      require("port").hurry(${HURRY})
      require("claude-code").setup({ auto_start = false })
      local rows = require("claude-code.sessions")
      vim.defer_fn(function()
        local n = rows.add({ name = "do;cs" })
        vim.cmd.doautocmd("FocusLost")
        rows.report(n, "terminal", { state = "blocked", msg = "a\\27]0;b" })
      end, 200)`;
    await neovim.lua(
      `
      local binary, root, port, inner = ...
      vim.api.nvim_create_autocmd("TermRequest", {
        callback = function(event)
          local data = event.data
          table.insert(received, type(data) == "table" and data.sequence or data)
        end,
      })
      vim.cmd.enew()
      local command = { binary, "--clean", "--cmd", "set rtp^=" .. root, "--cmd", "lua " .. port }
      vim.list_extend(command, { "-c", "lua " .. inner })
      local env = { TMUX = "", VTE_VERSION = "", TERM = "xterm-256color" }
      if vim.fn.has("nvim-0.11") == 1 then
        vim.fn.jobstart(command, { term = true, env = env })
      else
        vim.fn.termopen(command, { env = env })
      end`,
      ...[version.binary, ROOT, PORT, inner.replaceAll(/\s+/g, " ")],
    );
    await neovim.until(
      "the notification",
      `return vim.iter(received):any(function(sequence)
        return sequence:find("\\27]9;Claude (do;cs) needs input: a", 1, true) ~= nil
      end)`,
    );
    await neovim.command("bwipeout!");
  });
});
