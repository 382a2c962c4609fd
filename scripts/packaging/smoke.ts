import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { IS_WINDOWS, join, normal } from "../../src/lib/platform";
import { NeovimRpc } from "../../src/neovim/rpc";
import { claudeEnv, prepareClaudeHome } from "../../test/support/claude-home";
import { TestClient } from "../../test/support/client";
import { eventually } from "../../test/support/eventually";
import { Model } from "../../test/support/model";
import { say } from "../../test/support/turns";

/** In ms, long enough for a busy build machine. */
const DEADLINE_MS = 60_000;
const KILLED_MS = 20_000;
/** On Windows, programs in Neovim's terminals get its stdin and stdout unless it is embedded, or these are a console. */
const IS_EMBEDDED = IS_WINDOWS && !process.stdin.isTTY;
const MODE = IS_EMBEDDED ? ["--embed", "--cmd", "set nomore"] : [];
const NOT_OURS = { NVIM: undefined, CLAUDE_CONFIG_DIR: undefined };

type Lock = Awaited<ReturnType<typeof lockFile>>;

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
  const folder = normal(await realpath(await mkdtemp(join(tmpdir(), "smoke-"))));
  const home = join(folder, "Jörg Doe's");
  await mkdir(home);
  const project = join(home, "project");
  for (const folder of ["project", "tmp", "run"]) await mkdir(join(home, folder));
  await prepareClaudeHome(home, project);
  using model = new Model();
  const pipe = IS_WINDOWS ? `\\\\.\\pipe\\smoke-${process.pid}` : join(home, "nvim");
  const steps = [
    `lua require("claude-code").setup({ auto_start = false, terminal = { permission_mode = "acceptEdits" } })`,
    // Ignore a build beside the plugin.
    `lua require("claude-code.install").ORDER = { "managed" }`,
    `lua require("claude-code").install([[${resolve(archive)}]])`,
    "ClaudeCodeStart",
  ];
  const plugin = ["--listen", pipe, "--cmd", `lua vim.opt.runtimepath:prepend([[${root}]])`];
  const commands = steps.flatMap((step) => ["-c", step]);
  const child = Bun.spawn([nvim, "--clean", "--headless", ...MODE, ...plugin, ...commands], {
    cwd: project,
    env: { ...process.env, ...claudeEnv(home, model.url), ...NOT_OURS },
    stdin: IS_EMBEDDED ? "pipe" : "inherit",
    stdout: IS_EMBEDDED ? "ignore" : "inherit",
    stderr: "inherit",
  });
  try {
    const lock = await lockFile(join(home, ".claude/ide"), child);
    await session(lock);
    if (withClaude)
      await firstLight(await NeovimRpc.connect(pipe), model, join(project, "new.txt"));
    await kill(child, join(home, ".claude/ide"), lock);
  } finally {
    child.kill();
    await child.exited;
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The executable ends after a killed Neovim, and removes the lock file. Windows kills it, too: the next one does that. */
async function kill(child: Bun.Subprocess, folder: string, lock: Lock): Promise<void> {
  using client = await TestClient.open(lock, "smoke");
  child.kill("SIGKILL");
  const ended = await Promise.race([client.closed.then(() => true), Bun.sleep(KILLED_MS)]);
  if (!ended) throw new Error("the executable outlives a killed Neovim");
  const left = existsSync(join(folder, `${lock.port}.lock`));
  if (left && !IS_WINDOWS) throw new Error("a killed Neovim leaves its lock file");
  console.log(
    `ok  ends with a killed Neovim${left ? ", and leaves the lock file to the next one" : ""}`,
  );
}

async function session(lock: Lock): Promise<void> {
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
  if (IS_WINDOWS) await neovim.request("nvim_ui_attach", [160, 50, { ext_linegrid: true }]);
  await lua(`vim.cmd("Claude")`);
  await clients(1);
  console.log("ok  the genuine CLI starts in Neovim's terminal, and connects");
  model.script([[{ tool: "Write", input: { file_path: file, content: "one\n" } }], say("Done.")]);
  await lua(`vim.cmd("Claude send! Write the file")`);
  const count = `return require("claude-code.editor.review").count() == 1`;
  await eventually("the review", () => lua(count), DEADLINE_MS);
  console.log("ok  its hooks record the file that it writes, and the review lists it");
  const mod = await lua(`return require("claude-code").sessions()[1].mod == true`);
  console.log(`ok  its mod ${mod ? "has connected" : "cannot connect, so prompts are pasted"}`);
  neovim.close();
}

function lockFile(folder: string, child: Bun.Subprocess) {
  const look = async () => {
    if (child.exitCode !== null) throw new Error(`Neovim ended with code ${child.exitCode}`);
    const name = (await readdir(folder)).find((entry) => entry.endsWith(".lock"));
    if (!name) return false;
    const content = JSON.parse(await readFile(join(folder, name), "utf8"));
    return { port: Number.parseInt(name, 10), content };
  };
  return eventually("the lock file", look, DEADLINE_MS);
}
