import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../support/eventually";
import { isolatedEnv, NEWEST, TestNeovim, temporaryFolder } from "../support/neovim";
import { Terminal } from "../support/tmux";

test("a Claude in a pane that Neovim did not open is shown there", async () => {
  const home = temporaryFolder();
  const cwd = join(home, "project");
  const listed = join(home, ".claude/sessions");
  for (const folder of [cwd, listed]) mkdirSync(folder, { recursive: true });
  {
    await using terminal = await Terminal.start({ command: ["cat"], cwd, env: isolatedEnv(home) });
    const inside = await terminal.inside();
    // A shell is between the pane and the program.
    const command = ["sh", "-c", "sleep 300 & echo $! >child; wait"];
    const opened = ["new-window", "-d", "-c", cwd, "-P", "-F", "#{pane_id}", ...command];
    const pane = (await terminal.tmux(...opened)).trim();
    // The file is there a moment before the number is.
    const child = await eventually(
      "its program",
      async () => Number(await Bun.file(join(cwd, "child")).text()) || false,
    );
    const file = { pid: child, sessionId: "1", cwd, kind: "interactive", name: "docs" };
    writeFileSync(join(listed, `${child}.json`), JSON.stringify(file));

    await using neovim = await TestNeovim.start({
      ...{ version: NEWEST, home, cwd, env: inside, setup: "{ auto_start = false }" },
    });
    await neovim.lua(`
      vim.ui.select = function(rows, _, callback)
        CHOSEN = rows[1]
        callback(rows[1])
      end`);
    await eventually("the row", async () =>
      neovim.lua<boolean>(`return #require("claude-code").sessions() == 1`),
    );
    await neovim.command("Claude sessions");
    await eventually("the pane", async () =>
      expect((await terminal.tmux("display-message", "-p", "#{pane_id}")).trim()).toBe(pane),
    );
    expect(await neovim.lua<{ where: string }>("return CHOSEN")).toMatchObject({
      ...{ where: "outside", name: "docs" },
    });
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});
