import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { isolatedEnv, temporaryFolder } from "../test/support/neovim";
import { BareServer } from "./bare-server";
import { lockFiles } from "./editor";
import { type Machine, median, repetitions, type Scenario, type Subject } from "./scenario";

/** The time of the user's line, and the time until a client can connect. */
export const startup: Scenario = {
  name: "startup",

  async floor(machine) {
    const empty = emptyPlugin();
    try {
      const starts: number[] = [];
      const setups: number[] = [];
      for (let i = 0; i < repetitions(machine, 10); i++) {
        await using server = await BareServer.start(machine.bare);
        await using editor = new StartingEditor(machine, 'io.write("up\\n")');
        starts.push(server.startMs + (await editor.output).ms);
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
      await using alone = new StartingEditor(machine, subject.setup, subject);
      starts.push(await alone.ready());
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

/** In ms. The line runs while Neovim starts, as for users. */
async function setupMs(machine: Machine, subject: Subject): Promise<number> {
  const line = `local began = vim.uv.hrtime() ${subject.setup} io.write((vim.uv.hrtime() - began) / 1e6)`;
  await using editor = new StartingEditor(machine, line, subject);
  return Number((await editor.output).text);
}

/** A Neovim that runs one line of Lua as it starts. */
class StartingEditor implements AsyncDisposable {
  /** The line's output, and its time in ms since the start. */
  readonly output: Promise<{ text: string; ms: number }>;
  readonly #began: number;
  readonly #home = temporaryFolder();
  readonly #cwd = temporaryFolder();
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  constructor(machine: Machine, line: string, subject?: Subject) {
    mkdirSync(join(this.#home, "run"), { mode: 0o700 });
    const path = subject ? ["--cmd", `set runtimepath^=${subject.runtimepath}`] : [];
    this.#began = performance.now();
    this.#child = spawn(machine.nvim, ["--clean", "--headless", ...path, "-c", `lua ${line}`], {
      cwd: this.#cwd,
      env: isolatedEnv(this.#home),
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#exited = new Promise((resolve) => this.#child.once("exit", resolve));
    this.output = new Promise((resolve) =>
      this.#child.stdout?.once("data", (data) =>
        resolve({ text: String(data), ms: performance.now() - this.#began }),
      ),
    );
  }

  /** Resolves when a lock file names an open port, to the time in ms since the start. */
  async ready(): Promise<number> {
    await portOpen(join(this.#home, ".claude/ide"));
    return performance.now() - this.#began;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
    await this.#exited;
    rmSync(this.#home, { recursive: true, force: true });
    rmSync(this.#cwd, { recursive: true, force: true });
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
