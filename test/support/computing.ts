import type { TestNeovim } from "./neovim";

/**
 * The longest time that Neovim computes without a pause from now on, in ms of its processor time, which other
 * programs on the machine distort less than they distort elapsed time.
 */
export async function watchComputing(neovim: TestNeovim): Promise<() => Promise<number>> {
  await neovim.lua(`
    local function cpu()
      local usage = vim.uv.getrusage()
      return (usage.utime.sec + usage.stime.sec) * 1e3
        + (usage.utime.usec + usage.stime.usec) / 1e3
    end
    local last = cpu()
    BUSY = 0
    -- Neovim's turn: in the middle of its work, as between lines of a file that it reads, timers run, too.
    vim.uv.new_timer():start(1, 1, vim.schedule_wrap(function()
      local now = cpu()
      BUSY, last = math.max(BUSY, now - last), now
    end))`);
  return () => neovim.lua<number>("return BUSY");
}

/** About 30 to 40 ms on a machine that does nothing else, and more on one with other tests. */
export const MAX_MS = 120;
