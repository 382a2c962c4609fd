import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { NeovimRpc } from "../../src/neovim/rpc";
import { claudeEnv, prepareClaudeHome } from "../../test/support/claude-home";
import { TestClient } from "../../test/support/client";
import { eventually } from "../../test/support/eventually";
import { Model } from "../../test/support/model";
import { say } from "../../test/support/turns";

/** In ms, long enough for a busy build machine. */
const DEADLINE_MS = 60_000;
const KILLED_MS = 20_000;

/**
 * Installs an archive in a new Neovim by `:Claude install`, with all checks against the pinned manifest. Then tries the
 * lock file, the handshake and the tools, and with `withClaude` a turn of the genuine CLI on PATH. Throws if any of it
 * fails. Works on every system of Neovim's.
 */
export async function smoke(
  root: string,
  archive: string,
  nvim: string,
  withClaude: boolean,
): Promise<void> {
  const home = await realpath(await mkdtemp(join(tmpdir(), "claude-code-nvim-smoke-")));
  const project = join(home, "project");
  for (const folder of ["project", "tmp", "run"]) await mkdir(join(home, folder));
  await prepareClaudeHome(home, project);
  using model = new Model();
  const pipe =
    process.platform === "win32" ? `\\\\.\\pipe\\smoke-${process.pid}` : join(home, "nvim");
  const steps = [
    `lua require("claude-code").setup({ auto_start = false, terminal = { permission_mode = "acceptEdits" } })`,
    // Ignore a build beside the plugin.
    `lua require("claude-code.install").ORDER = { "managed" }`,
    `lua require("claude-code").install([[${resolve(archive)}]])`,
    "ClaudeCodeStart",
  ];
  const plugin = ["--listen", pipe, "--cmd", `set runtimepath^=${escaped(root)}`];
  const commands = steps.flatMap((step) => ["-c", step]);
  const child = Bun.spawn([nvim, "--clean", "--headless", ...plugin, ...commands], {
    cwd: project,
    env: environment(home, model.url),
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  try {
    const lock = await lockFile(join(home, ".claude/ide"), child);
    await session(lock);
    if (withClaude)
      await firstLight(await NeovimRpc.connect(pipe), model, join(project, "new.txt"));
    await kill(child, join(home, ".claude/ide", `${lock.port}.lock`));
  } finally {
    child.kill();
    await child.exited;
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The executable outlives a killed Neovim and removes the lock file. On Windows it may end together with Neovim. */
async function kill(child: Bun.Subprocess, lock: string): Promise<void> {
  child.kill("SIGKILL");
  await child.exited;
  const gone = eventually("the lock file to go", () => !existsSync(lock), KILLED_MS);
  const problem = await gone.then(() => undefined, String);
  if (problem && process.platform !== "win32") throw new Error(problem);
  console.log(`ok  after a killed Neovim the lock file ${problem ? "stays" : "is gone"}`);
}

async function session(lock: Awaited<ReturnType<typeof lockFile>>): Promise<void> {
  using client = await TestClient.open(lock, "smoke");
  const answer = await client.request<{ tools: { name: string }[] }>("tools/list");
  const tools = answer.tools.map(({ name }) => name);
  if (!tools.includes("openDiff")) throw new Error(`the tools lack openDiff: ${tools}`);
  console.log(`\nok  installed, and serves ${tools.length} tools on port ${lock.port}`);
}

/** The CLI starts in Neovim's terminal and connects. Its hooks record the file that it writes. */
async function firstLight(neovim: NeovimRpc, model: Model, file: string): Promise<void> {
  const lua = (code: string) => neovim.request("nvim_exec_lua", [code, []]);
  const clients = (count: number) =>
    eventually(
      `${count} clients`,
      () => lua(`return #require("claude-code").status().clients == ${count}`),
      DEADLINE_MS,
    );
  await clients(0);
  await lua(`vim.cmd("Claude")`);
  await clients(1);
  console.log("ok  the genuine CLI starts in Neovim's terminal, and connects");
  model.script([[{ tool: "Write", input: { file_path: file, content: "one\n" } }], say("Done.")]);
  await lua(`vim.cmd("Claude send! Write the file")`);
  const count = `return require("claude-code.editor.review").count() == 1`;
  await eventually("the review", () => lua(count), DEADLINE_MS);
  console.log("ok  its hooks record the file that it writes, and the review lists it");
  neovim.close();
}

/** Escapes a path for `:set`. */
function escaped(path: string): string {
  return path.replaceAll("\\", "/").replaceAll(/[ ,]/g, "\\$&");
}

function environment(home: string, modelUrl: string): Record<string, string | undefined> {
  const { NVIM: _, CLAUDE_CONFIG_DIR: __, ...rest } = process.env;
  return {
    ...rest,
    ...claudeEnv(home, modelUrl),
    USERPROFILE: home,
    LOCALAPPDATA: join(home, "local"),
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
