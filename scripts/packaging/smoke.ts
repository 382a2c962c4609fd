import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { TestClient } from "../../test/support/client";

/** In ms, long enough for a busy build machine. */
const DEADLINE_MS = 60_000;

/**
 * Installs an archive in a new Neovim by `:Claude install`, with all checks against the pinned manifest. Then tries the
 * lock file, the handshake and the tools. Throws if any of it fails. Works on every system that Neovim supports.
 */
export async function smoke(root: string, archive: string, nvim: string): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "claude-code-nvim-smoke-"));
  const steps = [
    `lua require("claude-code").setup({ auto_start = false })`,
    // Ignore a build beside the plugin.
    `lua require("claude-code.install").ORDER = { "managed" }`,
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
    using client = await TestClient.open(lock, "smoke");
    const answer = await client.request<{ tools: { name: string }[] }>("tools/list");
    const tools = answer.tools.map(({ name }) => name);
    if (!tools.includes("openDiff")) throw new Error(`the tools lack openDiff: ${tools}`);
    console.log(`\nok  installed, and serves ${tools.length} tools on port ${lock.port}`);
  } finally {
    child.kill();
    await child.exited;
    await rm(home, { recursive: true, force: true });
  }
}

/** Escapes a path for `:set`. */
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

async function lockFile(folder: string, child: Bun.Subprocess) {
  const end = Date.now() + DEADLINE_MS;
  while (Date.now() < end) {
    if (child.exitCode !== null) throw new Error(`Neovim ended with code ${child.exitCode}`);
    const names = await readdir(folder).catch(() => []);
    const name = names.find((entry) => entry.endsWith(".lock"));
    if (name) {
      const content = JSON.parse(await readFile(join(folder, name), "utf8"));
      return { port: Number.parseInt(name, 10), content };
    }
    await Bun.sleep(100);
  }
  throw new Error(`no lock file in ${folder} within ${DEADLINE_MS} ms`);
}
