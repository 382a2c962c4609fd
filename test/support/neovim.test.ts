import { expect, test } from "bun:test";
import { NEWEST, TestNeovim } from "./neovim";

test("requests to a Neovim that is killed fail at once, before and after its end", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST, setup: false });
  const start = performance.now();
  const pending = neovim.lua("vim.uv.sleep(20000)");
  neovim.process.kill("SIGKILL");
  await expect(pending).rejects.toThrow("Neovim ended with SIGKILL");
  await expect(neovim.lua("return 1")).rejects.toThrow("Neovim ended with SIGKILL");
  expect(performance.now() - start).toBeLessThan(5_000);
});
