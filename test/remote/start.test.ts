import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import {
  AUTHORIZATION,
  BOTH_NEOVIMS,
  claims,
  eventually,
  rows,
  TestClient,
  type TestNeovim,
} from "#test";
import { join } from "../../src/lib/platform";
import { said, shows, startNeovim } from "../terminal/workbench";
import { killRelay, World } from "./world";

describe.each(BOTH_NEOVIMS)("Claude in a remote, from $name", (version) => {
  let neovim: TestNeovim;
  const world = new World();
  const session = join(world.home, "session");
  beforeAll(async () => {
    neovim = await startNeovim(version, "{}");
    await neovim.lock();
  });
  afterAll(async () => {
    await neovim[Symbol.asyncDispose]();
    world[Symbol.dispose]();
  });

  /** A Claude that prints its arguments, and keeps running. */
  const command = () => {
    writeFileSync(
      join(world.home, "claude"),
      `#!/bin/sh\n{ printf '%s\\n' "$@"; env; } >${session}.new; mv ${session}.new ${session}; echo up; exec cat`,
      { mode: 0o755 },
    );
    return ["/usr/bin/env", "{env}", join(world.home, "claude"), "{args}"];
  };
  const lua = (words: readonly string[]) => `vim.json.decode([=[${JSON.stringify(words)}]=])`;
  const configure = (remote: string, terminal = `"dev"`) =>
    neovim.lua(`
      SAID = {}
      require("claude-code").setup({ terminal = { remote = ${terminal} }, remotes = { dev = ${remote} } })`);
  const status = () =>
    neovim.lua<string>(`return table.concat(require("port").status_lines(), "\\n")`);

  test("starts there, connected, with what it needs and nothing that leads to this Neovim", async () => {
    claims("A remote's token opens nothing here");
    await configure(`{ command = ${lua(command())}, relay = ${lua(world.relay)} }`);
    await neovim.command("Claude");
    await shows(neovim, "up");
    const [lock] = world.locks();
    const text = readFileSync(session, "utf8");
    const lines = text.split("\n");
    expect(lock?.content.workspaceFolders).toEqual([neovim.cwd]);
    expect(lines).toContain(`CLAUDE_CODE_SSE_PORT=${lock?.port}`);
    expect(lines).toContain("CLAUDE_CODE_NVIM_SESSION=1");
    expect(lines).toContain("NVIM=");
    expect(lines).toContain("--session-id");
    expect(text).toContain("--plugin-dir=");
    expect(text).not.toContain((await neovim.lock()).content.authToken);
    expect(await status()).toContain(`remote dev: up, port ${lock?.port}`);
    expect(await neovim.lua("return SAID")).toEqual([]);
    const client = await TestClient.open(lock as never, "claude-code");
    const isConnected = `return require("port").session_rows.get(1).connected`;
    await neovim.until("the session's client", isConnected);
    client.close();
    await eventually("no client", async () => !(await neovim.lua(isConnected)));
  });

  test("takes prompts through the mod there, which cannot reach sessions here", async () => {
    claims("A remote's mod gets only prompts for its own sessions");
    const [lock] = world.locks();
    const { modSocket = "", authToken = "" } = lock?.content ?? {};
    const post = (path: string, session: string, fields: object = {}) =>
      fetch(`http://mod/${path}`, {
        ...{ unix: modSocket, method: "POST", headers: { [AUTHORIZATION]: authToken } },
        body: JSON.stringify({ contract: 1, mod: MOD, session, ...fields }),
      });
    const MOD = crypto.randomUUID();
    const host = await neovim.lua<string>(`
      local rows = require("port").session_rows
      rows.set(rows.add({ cwd = "/" }), { id = "of-here" })
      return rows.get(1).id`);
    const poll = post("next", host);
    const has = (n: number) => neovim.lua<boolean>("return require('port').mod.has(...)", n);
    await eventually("the mod", () => has(1));
    const folder = join(world.home, ".claude/tasks", host);
    mkdirSync(folder, { recursive: true });
    const task = { subject: "\u001b[31mparse", status: "in_progress" };
    writeFileSync(join(folder, "1.json"), JSON.stringify(task));
    await post("report", host);
    await neovim.until(
      "the tasks",
      "return (require('port').session_rows.get(1).tasks or {}).doing == '<1b>[31mparse'",
    );
    await neovim.lua(`require("port").mod.submit(1, "hello", function(...) answer = { ... } end)`);
    const operation = (await (await poll).json()) as { id: number };
    expect(operation).toMatchObject({ op: "submit", text: "hello" });
    await post("report", host, { answer: { id: operation.id, refused: "no" } });
    await neovim.until("the answer", "return answer ~= nil and answer[1].code == 'refused'");
    await post("report", "of-here");
    await eventually("no mod", async () => !(await has(1)));
    expect(await has(2)).toBe(false);
    expect((await post("report", host, {})).status).toBe(204);
    const headers = { [AUTHORIZATION]: crypto.randomUUID() };
    const refused = await fetch("http://mod/next", { unix: modSocket, method: "POST", headers });
    expect(refused.status).toBe(401);
  });

  test("comes back with its port and token when the executable dies", async () => {
    const [lock] = world.locks();
    await neovim.lua(`vim.uv.kill(require("port").server.process.pid, "sigkill")`);
    await eventually("the end", async () => !(await status()).includes("dev: up"));
    await eventually("the remote is up", async () => (await status()).includes("dev: up"));
    const modSocket = expect.stringContaining("/mod/");
    const content = { ...lock?.content, modSocket };
    expect(world.locks()).toEqual([{ ...lock, content } as never]);
  });

  test("says once that the connection has dropped", async () => {
    claims("A lost connection rejects the remote's edits");
    await neovim.lua("SAID = {}");
    const [lock] = world.locks();
    const client = await TestClient.open(lock as never, "claude-code");
    client.openDiff(join(neovim.cwd, "a.txt"), "b\n", "a").catch(() => {});
    const isShown = `return require("port").diff_shown()`;
    await neovim.until("the diff", isShown);
    killRelay(await neovim.lua<number>(`return require("port").server.process.pid`));
    await eventually("no diff", async () => !(await neovim.lua(isShown)));
    const ended = () =>
      neovim.lua<string[]>(`
      return vim.tbl_filter(function(text) return text:find("remote") end, SAID)`);
    await eventually("the message", async () => (await ended()).length > 0);
    expect(await ended()).toEqual([
      "The connection to the remote dev ended, which rejected its diffs: /usr/bin/env ended with SIGKILL; Neovim " +
        "tries to connect again. If Claude does not reconnect, restart it with :Claude! --continue",
    ]);
    await eventually("the remote is up", async () => (await status()).includes("dev: up"));
  });

  test("names options that cannot be used, and does not start", async () => {
    const words = `{ "sh", "{env}", "{args}" }`;
    const relay = `{ "docker", "exec", "-i", "dev", "claude-code-nvim", "relay", "--stdio" }`;
    const both = `command = ${words}, relay = ${relay}`;
    const wrong = rows(`
      7 | remotes.dev: expected a table with command and relay
      { command = { "claude" }, relay = ${relay} } | remotes.dev.command: expected a list of words with "{env}" and "{args}" in it
      { command = ${words}, relay = { "docker", "exec", "-it", "dev", "relay" } } | remotes.dev.relay: it must have no terminal
      { command = ${words}, relay = "unix:/x" } | remotes.dev.relay: expected a list of words
      { ${both}, path_mappings = { ["/x"] = false } } | remotes.dev.path_mappings: expected a table of absolute paths
      { ${both}, path_mappings = { ["x"] = "~/x" } } | remotes.dev.path_mappings: expected a table of absolute paths
      { ${both}, paths = {} } | remotes.dev.paths: unknown option`);
    for (const [remote = "", message = ""] of wrong) {
      await configure(remote);
      expect((await said(neovim)).join("\n")).toContain(message);
    }
    await neovim.lua(`require("port").terminal.close_all()`);
    await configure(`function() return { command = ${words} } end`);
    await neovim.command("Claude");
    expect(await said(neovim)).toEqual(["remotes.dev.relay: expected a list of words"]);
    await configure(`function() error("no container", 0) end`);
    await neovim.command("Claude");
    expect(await said(neovim)).toEqual(["the function remotes.dev failed: no container"]);
    await configure(`{ command = ${words}, relay = ${relay} }`, `function() return "other" end`);
    await neovim.command("Claude");
    expect(await said(neovim)).toEqual(['there is no "other" in the option remotes']);
    await configure(`{ command = ${words}, relay = ${relay}, path_mappings = { ["/x"] = "~" } }`);
    await neovim.command("Claude");
    await eventually("the refusal", async () =>
      (await said(neovim)).join("\n").includes("path_mappings of dev: "),
    );
    await neovim.lua(`require("port").terminal.close_all()`);
  });

  test("ends the relay with Neovim, and leaves no lock file", async () => {
    await neovim.quit();
    await eventually("no lock file", () => world.locks().length === 0);
  });
});
