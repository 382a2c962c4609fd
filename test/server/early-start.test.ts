import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
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

  test("what changes in the environment behind setup() counts, and the executable stays", async () => {
    const folder = temporaryFolder();
    const args = ["-c", `lua vim.env.CLAUDE_CONFIG_DIR = ${JSON.stringify(folder)}`];
    const { neovim: running, early, situation } = await started({ version, args });
    await using neovim = running;
    expect(early).toEqual([situation.process_id as number]);
    const { lock_file } = await neovim.lua<{ lock_file: string }>(
      `return require("claude-code").status()`,
    );
    expect(dirname(lock_file)).toBe(`${folder}/ide`);
    rmSync(folder, { recursive: true });
  });

  test.each([
    ["a variable that counts as a process starts", `vim.env.MIMALLOC_PURGE_DELAY = "0"`],
    ["a value that JSON cannot say", `vim.env.ODD = "a\\255b"`],
  ])("%s: another executable serves", async (_name, change) => {
    const args = ["-c", `lua ${change}`];
    const { neovim: running, early, situation } = await started({ version, args });
    await using neovim = running;
    expect(early).toHaveLength(1);
    expect(early).not.toContain(situation.process_id);
    await eventually("its end", () => !isRunning(early[0] as number));
    using client = await TestClient.open(await neovim.lock());
    expect(await client.request("ping")).toEqual({});
  });

  test("a port range that changes behind setup() is the one that counts", async () => {
    const args = ["-c", `lua require("claude-code").setup({ port_range = { 20000, 20999 } })`];
    const { neovim: running } = await started({ version, args });
    await using neovim = running;
    const { port } = await neovim.lock();
    expect(port).toBeGreaterThanOrEqual(20000);
    expect(port).toBeLessThanOrEqual(20999);
  });

  test("the port that is open early refuses everybody, and is the one that is published", async () => {
    const home = temporaryFolder();
    const port = await freePort();
    const go = `${home}/go`;
    const args = ["-c", `lua while not vim.uv.fs_stat("${go}") do vim.uv.sleep(5) end`];
    const setup = `{ port_range = { ${port}, ${port} } }`;
    const starting = TestNeovim.start({ version, home, setup, args });
    const status = await eventually("an open port", () => statusOf(port));
    expect(status).toBe(401);
    expect(existsSync(`${home}/.claude`)).toBe(false);
    writeFileSync(go, "");
    await using neovim = await starting;
    const lock = await neovim.lock();
    expect(lock.port).toBe(port);
    using client = await TestClient.open(lock);
    expect(await client.request("ping")).toEqual({});
    rmSync(home, { recursive: true, force: true });
  });
});

/** What the server answers to a token that it never gave; false while there is none. */
async function statusOf(port: number): Promise<number | false> {
  const headers = { "x-claude-code-ide-authorization": crypto.randomUUID() };
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers }).catch(() => undefined);
  return answer ? answer.status : false;
}

async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const port = server.port as number;
  await server.stop(true);
  return port;
}

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
