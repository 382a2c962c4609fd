import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "../../src/lib/platform";
import { eventually } from "./eventually";
import type { TestNeovim } from "./neovim";

/** Ends eventually, in case the test does not end it. */
const WORK = `
  local file, tries = ..., 0
  vim.uv.fs_unlink(file .. ".asked")
  while vim.uv.fs_stat(file) and tries < 12000 do
    vim.uv.sleep(5)
    tries = tries + 1
  end`;

/**
 * Keeps a Neovim busy, from now on until the function that it returns is called; `first` (Lua) is
 * done at the beginning of the same work.
 */
export async function keepBusy(neovim: TestNeovim, first = ""): Promise<() => Promise<void>> {
  const file = join(neovim.home, "busy");
  for (const name of [file, `${file}.asked`]) writeFileSync(name, "");
  const working = neovim.lua(`${first}${WORK}`, file);
  await eventually("Neovim at work", () => !existsSync(`${file}.asked`));
  return async () => {
    rmSync(file);
    await working;
  };
}
