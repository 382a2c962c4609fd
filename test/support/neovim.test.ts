import { expect, test } from "bun:test";
import { nightly } from "../support/toolchain";
import { eventually } from "./eventually";
import { NEOVIMS, NEWEST, TestNeovim } from "./neovim";
import { outcomeOf } from "./outcome";

test("requests to a Neovim that is killed fail at once, before and after its end", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST, setup: false });
  const pending = neovim.lua("vim.uv.sleep(20000)");
  neovim.process.kill("SIGKILL");
  expect(await outcomeOf(pending)).toThrow("Neovim ended with SIGKILL");
  expect(await outcomeOf(neovim.lua("return 1"))).toThrow("Neovim ended with SIGKILL");
});

nightly.test.each(NEOVIMS)(
  "$name without a screen answers after any number of messages",
  async (version) => {
    await using neovim = await TestNeovim.start({ version, setup: false });
    await neovim.lua(
      `for _ = 1, 99 do vim.schedule(function() vim.notify(("word "):rep(60), vim.log.levels.ERROR) end) end`,
    );
    expect(await neovim.lua<string>("return vim.fn.execute('messages')")).toContain("word");
  },
);

test.each(NEOVIMS)("$name ends by itself also while it waits for a key", async (version) => {
  const ui = { width: 80, height: 20 };
  await using neovim = await TestNeovim.start({ version, setup: false, ui });
  await neovim.type(":for i in range(50) | echo i | endfor<CR>");
  await eventually("the prompt", async () => {
    const { blocking } = await neovim.request<{ blocking: boolean }>("nvim_get_mode", []);
    return blocking;
  });
  await neovim.quit();
  expect(neovim.process.signalCode).toBeNull();
});
