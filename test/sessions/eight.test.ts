import { describe, expect, test } from "bun:test";
import { NEOVIMS, TestNeovim } from "../support/neovim";

/* What eight sessions cost Neovim. */

/** Longer than reports to the user are merged. */
const REST_MS = 2_000;

describe.each([...NEOVIMS])("eight sessions in Neovim $name", (version) => {
  test("cost a frame at most when all change, and no timer while they rest", async () => {
    await using neovim = await TestNeovim.start({
      version,
      setup: "{ auto_start = false }",
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
    const times = await neovim.lua<number[]>(`
      local rows = require("port").session_rows
      vim.o.laststatus = 2
      vim.o.statusline = "%{v:lua.require'claude-code'.statusline()}"
      for n = 1, 8 do
        rows.set(rows.add({ name = "session " .. n }), { buf = vim.api.nvim_create_buf(false, true) })
      end
      local times = {}
      for round = 1, 20 do
        local start = vim.uv.hrtime()
        for n = 1, 8 do
          local state = round % 2 == 0 and "working" or "blocked"
          rows.report(n, "terminal", { state = state, msg = "step " .. round })
        end
        vim.cmd("redrawstatus! | redraw")
        times[round] = (vim.uv.hrtime() - start) / 1e6
      end
      return times`);
    const median = times.toSorted((a, b) => a - b)[times.length / 2] as number;
    console.log(`eight changes and a redraw: ${median.toFixed(1)} ms`);
    expect(median).toBeLessThan(16);
    await Bun.sleep(REST_MS);
    expect(await timers()).toBe(0);
  });
});
