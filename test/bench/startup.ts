import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { isolatedEnv, temporaryFolder } from "../support/neovim";
import { BareServer } from "./bare-server";
import { Editor, lockFiles } from "./editor";
import { type Machine, repetitions, type Scenario } from "./scenario";
import { median } from "./statistics";
import type { Subject } from "./subject";

const SETUP_MS = `
  local started = vim.uv.hrtime()
  loadstring(...)()
  return (vim.uv.hrtime() - started) / 1e6`;

/** What else a configuration loads behind the user's line: forty plugins of 2 ms each. */
const FORTY_PLUGINS = [
  "for _ = 1, 40 do local ended = vim.uv.hrtime() + 2e6 while vim.uv.hrtime() < ended do end end",
  `vim.api.nvim_create_autocmd("VimEnter", { callback = function() io.write("up\\n") end })`,
].join(" ");

/** How long the user's line takes, and how long until a client is let in. */
export const startup: Scenario = {
  name: "startup",

  async floor(machine) {
    const empty = emptyPlugin();
    try {
      const starts: number[] = [];
      const setups: number[] = [];
      for (let i = 0; i < repetitions(machine, 10); i++) {
        await using server = await BareServer.start(machine.bare);
        starts.push(server.startMs + (await started(machine, 'io.write("up\\n")')).up);
        setups.push(await setupMs(machine, empty));
      }
      return { setup: median(setups), ready: median(starts), behind: 0 };
    } finally {
      rmSync(empty.runtimepath, { recursive: true });
    }
  },

  async measure(machine, subject) {
    const setups: number[] = [];
    const starts: number[] = [];
    const behind: number[] = [];
    for (let i = 0; i < repetitions(machine, 10); i++) {
      setups.push(await setupMs(machine, subject));
      starts.push((await started(machine, subject.setup, subject)).ready);
      const { up, ready } = await started(machine, `${subject.setup} ${FORTY_PLUGINS}`, subject);
      behind.push(ready - up);
    }
    return {
      values: { setup: median(setups), ready: median(starts), behind: median(behind) },
    };
  },
};

function emptyPlugin(): Subject {
  const runtimepath = temporaryFolder();
  mkdirSync(join(runtimepath, "lua"));
  writeFileSync(join(runtimepath, "lua/empty.lua"), "return { setup = function() end }\n");
  return { name: "empty", runtimepath, setup: 'require("empty").setup({})' };
}

async function setupMs(machine: Machine, subject: Subject): Promise<number> {
  await using editor = await Editor.start(machine.nvim, subject);
  return editor.nvim.lua<number>(SETUP_MS, subject.setup);
}

/** From the start of a Neovim to its first output, if `line` writes one, and with a subject to an open port. */
async function started(
  machine: Machine,
  line: string,
  subject?: Subject,
): Promise<{ up: number; ready: number }> {
  const home = temporaryFolder();
  const cwd = temporaryFolder();
  mkdirSync(join(home, "run"), { mode: 0o700 });
  const path = subject ? ["--cmd", `set runtimepath^=${subject.runtimepath}`] : [];
  const began = performance.now();
  const child = spawn(machine.nvim, ["--clean", "--headless", ...path, "-c", `lua ${line}`], {
    cwd,
    env: isolatedEnv(home),
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const up = new Promise<number>((resolve) =>
    child.stdout.once("data", () => resolve(performance.now() - began)),
  );
  try {
    if (subject) await portOpen(join(home, ".claude/ide"));
    const ready = performance.now() - began;
    return { up: line.includes("io.write") ? await up : 0, ready };
  } finally {
    child.kill();
    await exited;
    rmSync(home, { recursive: true, force: true });
    rmSync(cwd, { recursive: true, force: true });
  }
}

async function portOpen(folder: string): Promise<void> {
  const end = performance.now() + 10_000;
  while (performance.now() < end) {
    const [name] = lockFiles(folder);
    if (name && (await accepts(Number.parseInt(name, 10)))) return;
    await Bun.sleep(1);
  }
  throw new Error(`no server came up: no lock file in ${folder} names an open port`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const done = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}
