import { rm } from "node:fs/promises";
import { join } from "node:path";
import { eventually, NEOVIMS, TestClient } from "#test";
import { lockFiles } from "../../genuine/lock-file";
import { Neovim } from "../../genuine/neovim";
import { newUser } from "../../support/claude-home";

/*
 * Selecting with the mouse, in a real terminal with Neovim's own screen. A client on the socket sees what
 * Claude would see.
 */
const DEBOUNCE_MS = 100;
const constants = [`selection.DEBOUNCE_MS = ${DEBOUNCE_MS}`];
const TEXT = "one two three\nfour five six\nseven eight nine\n";

for (const version of NEOVIMS) {
  describe(version.name, () => {
    let root: string;
    let file: string;
    let neovim: Neovim;
    let client: TestClient;

    beforeAll(async () => {
      const { root: folder, project, home } = await newUser({ "main.txt": TEXT });
      [root, file] = [folder, join(project, "main.txt")];
      neovim = await Neovim.start({ version, project, home, files: [file], constants });
      const lock = await eventually("a lock file", async () => {
        const [found] = await lockFiles(home);
        return found ?? (false as const);
      });
      client = await TestClient.open(lock, "claude-code");
    });

    afterAll(async () => {
      client?.close();
      await neovim?.close();
      if (root) await rm(root, { recursive: true, force: true, maxRetries: 5 });
    });

    beforeEach(async () => {
      await neovim.terminal.press("C-\\", "C-n");
      await neovim.lua(`
        vim.cmd("silent only! | edit ${file}")
        vim.o.mouse = "a"
        vim.api.nvim_win_set_cursor(0, { 1, 0 })
        return true`);
      await neovim.terminal.waitFor(/1,1 +All/);
    });

    /** Waits for the frame, and makes sure that no other comes after it. */
    async function expectSent(text: string, start: [number, number], end: [number, number]) {
      const at = ([line, character]: [number, number]) => ({ line, character });
      const selection = { start: at(start), end: at(end), isEmpty: text === "" };
      const last = () => client.notifications("selection_changed").at(-1);
      await eventually("the selection", () => {
        expect(last()).toMatchObject({ text, filePath: file, selection });
        return true;
      });
      await neovim.lua(`vim.wait(${DEBOUNCE_MS + 10}) return true`);
      await client.json("getOpenEditors");
      expect(last()).toMatchObject({ text, selection });
    }

    /**
     * Presses at the first place and drags over the others. Neovim keeps but one place of the mouse, so
     * each waits until the one before was seen, as a hand does; what comes next, until it was let go.
     */
    async function drag(...places: [row: number, column: number][]) {
      await neovim.lua(`
        RELEASED = false
        vim.on_key(function(key)
          RELEASED = RELEASED or key == vim.keycode("<LeftRelease>")
        end, vim.api.nvim_create_namespace("test.drag"))
        return true`);
      for (const [index, [row, column]] of places.entries()) {
        await neovim.terminal.type(`\x1b[<${index === 0 ? 0 : 32};${column};${row}M`);
        const here = async () =>
          await neovim.lua<string>(`return vim.fn.line(".") .. "," .. vim.fn.col(".")`);
        await eventually("the cursor", async () => (await here()) === `${row},${column}`);
      }
      const [row, column] = places.at(-1) as [number, number];
      await neovim.terminal.type(`\x1b[<0;${column};${row}m`);
      await eventually("the release", () => neovim.lua<boolean>("return RELEASED"));
    }

    test("dragged over with the mouse", async () => {
      await drag([1, 5], [1, 8], [2, 8], [2, 9]);
      await expectSent("two three\nfour five", [0, 4], [1, 9]);
    });

    test("dragged, then clicked into a terminal split", async () => {
      await neovim.terminal.type(":botright split | terminal");
      await neovim.terminal.press("Enter");
      await neovim.terminal.type(":wincmd t");
      await neovim.terminal.press("Enter");
      await drag([2, 1], [2, 4]);
      await neovim.terminal.click(40, 10);
      await expectSent("four", [1, 0], [1, 4]);
      await eventually("the click", async () =>
        expect(await neovim.lua("return vim.bo.buftype")).toBe("terminal"),
      );
    });
  });
}
