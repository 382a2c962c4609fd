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
        starts.push(server.startMs + (await untilUp(machine, 'io.write("up\\n")', undefined)));
        setups.push(await setupMs(machine, empty));
      }
      return { setup: median(setups), ready: median(starts) };
    } finally {
      rmSync(empty.runtimepath, { recursive: true });
    }
  },

  async measure(machine, subject) {
    const setups: number[] = [];
    const starts: number[] = [];
    for (let i = 0; i < repetitions(machine, 10); i++) {
      setups.push(await setupMs(machine, subject));
      starts.push(await untilUp(machine, subject.setup, subject));
    }
    return { values: { setup: median(setups), ready: median(starts) } };
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

/** From the start of a Neovim to its first output, or with a subject to an open port. */
async function untilUp(machine: Machine, line: string, subject?: Subject): Promise<number> {
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
  try {
    if (subject) await portOpen(join(home, ".claude/ide"));
    else await new Promise((resolve) => child.stdout.once("data", resolve));
    return performance.now() - began;
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
