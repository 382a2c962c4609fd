import { describe, expect, test } from "bun:test";
import { eventually } from "../support/eventually";
import { NEOVIMS, TestNeovim } from "../support/neovim";

/* What eight sessions cost Neovim; how long they take, scripts/bench measures. */

describe.each([...NEOVIMS])("eight sessions in Neovim $name", (version) => {
  test("need no timer while they rest", async () => {
    await using neovim = await TestNeovim.start({
      version,
      // Sooner than users are told.
      setup: `(function() require("port").hurry(10) return { auto_start = false } end)()`,
      ui: { width: 120, height: 30 },
    });
    // Neovim 0.10 aborts in uv.walk().
    await neovim.lua(`
      local new_timer = vim.uv.new_timer
      TIMERS = {}
      vim.uv.new_timer = function()
        local timer = new_timer()
        table.insert(TIMERS, timer)
        return timer
      end`);
    const timers = () =>
      neovim.lua<number>(`
        return #vim.tbl_filter(function(timer)
          return not timer:is_closing() and timer:is_active()
        end, TIMERS)`);
    await neovim.lua(`
      local rows = require("port").session_rows
      vim.o.laststatus = 2
      vim.o.statusline = "%{v:lua.require'claude-code'.statusline()}"
      for n = 1, 8 do
        rows.set(rows.add({ name = "session " .. n }), { buf = vim.api.nvim_create_buf(false, true) })
        rows.report(n, "terminal", { state = n % 2 == 0 and "working" or "blocked" })
      end`);
    const made = () => neovim.lua<number>("return #TIMERS");
    await eventually("reports to the user", async () => expect(await made()).toBeGreaterThan(0));
    await eventually("no timer", async () => expect(await timers()).toBe(0));
  });
});
