import type { TestNeovim } from "./neovim";

/**
 * Moves the clock with which Neovim's tasks measure how long they wait. Timers run on: those that look at
 * this clock do so about 25 ms later.
 */
export async function later(neovim: TestNeovim, ms: number): Promise<void> {
  await neovim.lua(
    "local now, ms = vim.uv.now, ... vim.uv.now = function() return now() + ms end",
    ms,
  );
}
