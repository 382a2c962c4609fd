import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Long enough for a busy build machine; a failure says what it waited for. */
const DEADLINE_MS = 60_000;

/**
 * Installs an archive in a new Neovim by `:Claude install`, with all its checks against the
 * pinned manifest, and holds a session with the result: the lock file, the handshake, the tools.
 * Throws if any of it fails. Works on every system that Neovim runs on.
 */
export async function smoke(root: string, archive: string, nvim: string): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "claude-code-nvim-smoke-"));
  const steps = [
    `lua require("claude-code").setup({ auto_start = false })`,
    // Not the build that may be beside the plugin.
    `lua require("claude-code.install.locate").ORDER = { "managed" }`,
    `lua require("claude-code").install([[${resolve(archive)}]])`,
    "ClaudeCodeStart",
  ];
  const plugin = ["--cmd", `set runtimepath^=${escaped(root)}`];
  const commands = steps.flatMap((step) => ["-c", step]);
  const child = Bun.spawn([nvim, "--clean", "--headless", ...plugin, ...commands], {
    cwd: root,
    env: environment(home),
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  try {
    const lock = await lockFile(join(home, ".claude/ide"), child);
    const tools = await listTools(lock);
    if (!tools.includes("openDiff")) throw new Error(`the tools lack openDiff: ${tools}`);
    console.log(`\nok  installed, and serves ${tools.length} tools on port ${lock.port}`);
  } finally {
    child.kill();
    await child.exited;
    await rm(home, { recursive: true, force: true });
  }
}

/** As `:set` wants a path. */
function escaped(path: string): string {
  return path.replaceAll("\\", "/").replaceAll(/[ ,]/g, "\\$&");
}

function environment(home: string): Record<string, string | undefined> {
  const { NVIM: _, ...rest } = process.env;
  return {
    ...rest,
    HOME: home,
    USERPROFILE: home,
    LOCALAPPDATA: join(home, "local"),
    XDG_DATA_HOME: join(home, "data"),
    XDG_STATE_HOME: join(home, "state"),
    XDG_CONFIG_HOME: join(home, "config"),
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
  };
}

interface Lock {
  port: number;
  authToken: string;
}

async function lockFile(folder: string, child: Bun.Subprocess): Promise<Lock> {
  const end = Date.now() + DEADLINE_MS;
  while (Date.now() < end) {
    if (child.exitCode !== null) throw new Error(`Neovim ended with code ${child.exitCode}`);
    const names = await readdir(folder).catch(() => []);
    const name = names.find((entry) => entry.endsWith(".lock"));
    if (name) {
      const { authToken } = JSON.parse(await readFile(join(folder, name), "utf8"));
      return { port: Number.parseInt(name, 10), authToken };
    }
    await Bun.sleep(100);
  }
  throw new Error(`no lock file in ${folder} within ${DEADLINE_MS} ms`);
}

async function listTools({ port, authToken }: Lock): Promise<string[]> {
  const headers = { "x-claude-code-ide-authorization": authToken };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers } as never);
  await once(socket, "open");
  const ask = async (id: number, method: string, params: object) => {
    const answer = once(socket, "message");
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    const { data } = (await answer) as MessageEvent;
    return JSON.parse(String(data)).result;
  };
  const clientInfo = { name: "smoke", version: "1" };
  await ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  const { tools } = await ask(2, "tools/list", {});
  socket.close();
  return tools.map(({ name }: { name: string }) => name);
}

function once(socket: WebSocket, event: string): Promise<Event> {
  return new Promise((done, fail) => {
    socket.addEventListener(event, done, { once: true });
    socket.addEventListener("error", () => fail(new Error("the connection failed")), {
      once: true,
    });
    setTimeout(() => fail(new Error(`no ${event} within ${DEADLINE_MS} ms`)), DEADLINE_MS).unref();
  });
}
