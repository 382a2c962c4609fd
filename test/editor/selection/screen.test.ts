import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually";
import { NEOVIMS } from "../../support/toolchain";
import { desk } from "../desk";

/*
 * Selecting as users do, in a real terminal with Neovim's own screen: keys in one burst, faster
 * than the debounce, and the mouse. A client on the socket sees what Claude would see.
 */
/** Longer than the keys of one burst are apart. */
const DEBOUNCE_MS = 100;
const constants = [`selection.DEBOUNCE_MS = ${DEBOUNCE_MS}`];
const TEXT = "one two three\nfour five six\nseven eight nine\n";

for (const version of NEOVIMS) {
  describe(version.name, () => {
    let user: Awaited<ReturnType<typeof desk>>;
    beforeAll(async () => {
      user = await desk({ version, constants }, TEXT);
    });
    afterAll(() => user?.[Symbol.asyncDispose]());

    beforeEach(async () => {
      await user.neovim.terminal.press("C-\\", "C-n");
      await user.neovim.lua(`
        vim.cmd("silent only! | edit ${user.main}")
        vim.o.mouse = "a"
        vim.api.nvim_win_set_cursor(0, { 1, 0 })
        return true`);
      await user.neovim.terminal.waitFor(/1,1 +All/);
    });

    /** Waits for the frame, and makes sure that no other comes after it. */
    async function expectSent(text: string, start: [number, number], end: [number, number]) {
      const at = ([line, character]: [number, number]) => ({ line, character });
      const selection = { start: at(start), end: at(end), isEmpty: text === "" };
      const last = () => user.client.notifications("selection_changed").at(-1);
      await eventually("the selection", () => {
        expect(last()).toMatchObject({ text, filePath: user.main, selection });
        return true;
      });
      await user.neovim.lua(`vim.wait(${DEBOUNCE_MS + 10}) return true`);
      await user.client.json("getOpenEditors");
      expect(last()).toMatchObject({ text, selection });
    }

    test("selected and left in one breath", async () => {
      await user.neovim.terminal.type("wve\x1b");
      await expectSent("two", [0, 4], [0, 7]);
      await user.neovim.terminal.waitUntil(
        (screen) => !screen.includes("-- VISUAL --"),
        "normal mode",
      );
    });

    /**
     * Presses at the first place and drags over the others. Neovim keeps but one place of the mouse, so
     * each waits until the one before was seen, as a hand does; what comes next, until it was let go.
     */
    async function drag(...places: [row: number, column: number][]) {
      await user.neovim.lua(`
        RELEASED = false
        vim.on_key(function(key)
          RELEASED = RELEASED or key == vim.keycode("<LeftRelease>")
        end, vim.api.nvim_create_namespace("test.drag"))
        return true`);
      for (const [index, [row, column]] of places.entries()) {
        await user.neovim.terminal.type(`\x1b[<${index === 0 ? 0 : 32};${column};${row}M`);
        const here = async () =>
          await user.neovim.lua<string>(`return vim.fn.line(".") .. "," .. vim.fn.col(".")`);
        await eventually("the cursor", async () => (await here()) === `${row},${column}`);
      }
      const [row, column] = places.at(-1) as [number, number];
      await user.neovim.terminal.type(`\x1b[<0;${column};${row}m`);
      await eventually("the release", () => user.neovim.lua<boolean>("return RELEASED"));
    }

    test("dragged over with the mouse", async () => {
      await drag([1, 5], [1, 8], [2, 8], [2, 9]);
      await expectSent("two three\nfour five", [0, 4], [1, 9]);
    });

    test("dragged, then clicked into a terminal split", async () => {
      await user.neovim.terminal.type(":botright split | terminal");
      await user.neovim.terminal.press("Enter");
      await user.neovim.terminal.type(":wincmd t");
      await user.neovim.terminal.press("Enter");
      await drag([2, 1], [2, 4]);
      await user.neovim.terminal.click(40, 10);
      await expectSent("four", [1, 0], [1, 4]);
      await eventually("the click", async () =>
        expect(await user.neovim.lua("return vim.bo.buftype")).toBe("terminal"),
      );
    });
  });
}
