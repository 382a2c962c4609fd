import { describe, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { eventually } from "../support/eventually";
import { NEOVIMS, TestNeovim } from "../support/neovim";

describe.each(NEOVIMS)("the lock file of $name comes back", (version) => {
  test.each([
    ["the file was removed", (path: string) => rmSync(path)],
    ["its folder was removed", (path: string) => rmSync(dirname(path), { recursive: true })],
    ["its folder was moved", (path: string) => renameSync(dirname(path), `${dirname(path)}-old`)],
    [
      "its folder was made again",
      (path: string) => {
        rmSync(dirname(path), { recursive: true });
        // The executable may have been first.
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      },
    ],
  ])("%s", async (_name, harm) => {
    await using neovim = await TestNeovim.start({ version });
    const { path } = await neovim.lock();
    for (let i = 0; i < 2; i++) {
      harm(path);
      await eventually("the lock file", () => existsSync(path), 3000);
      rmSync(`${dirname(path)}-old`, { recursive: true, force: true });
    }
  });
});
