import { join } from "node:path";
import { TestClient } from "../../test/support/client";
import { eventually } from "../../test/support/eventually";
import type { TestNeovim } from "../../test/support/neovim";
import type { Soaked } from "./soak";

const NAME = "proposal";

/** All ways in which a diff can end. The client gets an answer, or has disconnected. */
const WAYS: ((soaked: Soaked, asking: TestClient) => Promise<unknown>)[] = [
  ({ neovim }) => neovim.type("<CR>"),
  ({ neovim }) => neovim.type(":w<CR>"),
  ({ neovim }) => neovim.type("Aedited<Esc>:wq<CR>"),
  ({ neovim }) => neovim.type("q"),
  ({ neovim }) => neovim.type(":q<CR>"),
  ({ neovim }) => neovim.type("<C-w>h:q<CR>"),
  ({ neovim }) => neovim.type(":b file-1.txt<CR>:Claude diff<CR>ZQ"),
  ({ neovim }) => neovim.lua(`require("port").accept()`),
  ({ neovim }) => neovim.lua(`require("port").reject()`),
  (_, asking) => asking.call("close_tab", { tab_name: NAME }),
  (_, asking) => asking.call("closeAllDiffTabs"),
  async (_, asking) => asking.terminate(),
];

/** Opens and ends `count` diffs, one after the other. */
export async function openAndEnd(soaked: Soaked, count: number): Promise<void> {
  await leaveVisualMode(soaked.neovim);
  for (let i = 0; i < count; i++) {
    const way = WAYS[i % WAYS.length] as (typeof WAYS)[0];
    using asking = await TestClient.open(soaked.lock);
    const path = join(soaked.neovim.cwd, `file-${i % 10}.txt`);
    const answer = asking.call("openDiff", {
      old_file_path: path,
      new_file_path: path,
      new_file_contents: `${"a line that stays\n".repeat(50)}changed ${i}\n`,
      tab_name: NAME,
    });
    const ended = answer.then(
      () => {},
      () => {},
    );
    await shown(soaked.neovim);
    await way(soaked, asking);
    await ended;
    await gone(soaked.neovim);
  }
}

const shown = (neovim: TestNeovim) =>
  eventually("a diff on screen", () => neovim.lua<boolean>(`return require("port").diff_shown()`));

const gone = (neovim: TestNeovim) =>
  eventually("no diff on screen", () =>
    neovim.lua<boolean>(`
      for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        if vim.api.nvim_buf_get_name(buf):find("^claude%-code://") then return false end
      end
      return true`),
  );

/**
 * openFile selects text, and the diffs that waited for that come next. With a single window, a diff waits for Normal
 * mode.
 */
async function leaveVisualMode(neovim: TestNeovim): Promise<void> {
  let checks = 0;
  await eventually("normal mode to last", async () => {
    await neovim.type("<Esc>");
    await Bun.sleep(30);
    const mode = await neovim.lua<string>("return vim.api.nvim_get_mode().mode");
    checks = mode === "n" ? checks + 1 : 0;
    return checks > 10;
  });
}
