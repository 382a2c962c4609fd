import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { TestClient } from "../support/client";
import { eventually } from "../support/eventually";
import { NEOVIMS, type NeovimOptions, TestNeovim, temporaryFolder } from "../support/neovim";
import { isRunning } from "../support/process";

/** Right behind setup(), while Neovim still loads what comes after it. */
const CHILDREN_OF_SETUP = ["-c", "lua EARLY = vim.api.nvim_get_proc_children(vim.fn.getpid())"];

interface Situation {
  state: string;
  why?: string;
  process_id?: number;
}

async function started(
  options: NeovimOptions,
): Promise<{ neovim: TestNeovim; early: number[]; situation: Situation }> {
  const args = [...CHILDREN_OF_SETUP, ...(options.args ?? [])];
  const neovim = await TestNeovim.start({ ...options, args });
  const early = await neovim.lua<number[]>("return EARLY");
  const situation = await eventually("a decision", async () => {
    const found = await neovim.lua<Situation>(`return require("claude-code").status()`);
    return (found.state === "ready" || found.why !== undefined) && found;
  });
  return { neovim, early, situation };
}

describe.each(NEOVIMS)("while $name starts", (version) => {
  test("the executable that setup() starts is the one that serves", async () => {
    const { neovim: running, early, situation } = await started({ version });
    await using neovim = running;
    expect(early).toEqual([situation.process_id as number]);
    using client = await TestClient.open(await neovim.lock());
    expect(await client.request("ping")).toEqual({});
  });

  test.each([
    ["git's commit editor", { args: ["COMMIT_EDITMSG"] }],
    ["auto_start = false", { setup: "{ auto_start = false }" }],
    ["auto_start is a function", { setup: "{ auto_start = function() return false end }" }],
  ])("%s: nothing is started", async (_name, options) => {
    const { neovim: running, early, situation } = await started({ version, ...options });
    await using _neovim = running;
    expect(early).toEqual([]);
    expect(situation.state).toBe("stopped");
  });

  test("a decision against it that comes later ends it, and nothing was published", async () => {
    const home = temporaryFolder();
    const args = ["-c", "cd ~"];
    const { neovim: running, early, situation } = await started({ version, home, args });
    await using neovim = running;
    expect(situation.why).toBe("the workspace would be the home folder or one above it");
    expect(early).toHaveLength(1);
    await eventually("its end", () => !isRunning(early[0] as number));
    expect(existsSync(neovim.lockFolder)).toBe(false);
    rmSync(home, { recursive: true });
  });

  test("an environment that changes behind setup() is the one that counts", async () => {
    const folder = temporaryFolder();
    const args = ["-c", `lua vim.env.CLAUDE_CONFIG_DIR = ${JSON.stringify(folder)}`];
    const { neovim: running, early, situation } = await started({ version, args });
    await using neovim = running;
    expect(early).toHaveLength(1);
    expect(early).not.toContain(situation.process_id);
    await eventually("its end", () => !isRunning(early[0] as number));
    const { lock_file } = await neovim.lua<{ lock_file: string }>(
      `return require("claude-code").status()`,
    );
    expect(dirname(lock_file)).toBe(`${folder}/ide`);
    rmSync(folder, { recursive: true });
  });
});

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
