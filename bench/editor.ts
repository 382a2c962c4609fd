import { namesIn } from "../src/lib/paths";
import { TestClient } from "../test/support/client";
import { TestNeovim } from "../test/support/neovim";
import type { Subject } from "./scenario";
import standstill from "./standstill.lua" with { type: "text" };

export interface Standstill {
  longest: number;
  sum: number;
  count: number;
  cpu: number;
  wall: number;
}

/** In ms. A plugin may enable some features only when a client connects. */
const NOTED_MS = 200;

/** A Neovim with a UI that runs one plugin, or none (`subject` undefined). */
export class Editor implements AsyncDisposable {
  private constructor(readonly nvim: TestNeovim) {}

  static async start(binary: string, subject: Subject | undefined): Promise<Editor> {
    const nvim = await TestNeovim.start({
      version: { name: "bench", binary },
      setup: false,
      ui: { width: 160, height: 48 },
      ...(subject && { runtimepath: subject.runtimepath }),
      args: ["--cmd", "set noswapfile"],
    });
    await nvim.lua(`BENCH = loadstring(...)()`, standstill);
    return new Editor(nvim);
  }

  /** Runs the user's line, and connects a client. Waits until the plugin has noticed it. */
  async setUp(subject: Subject): Promise<TestClient> {
    await this.nvim.lua(subject.setup);
    const client = await TestClient.open(await this.nvim.lock(), "bench");
    await Bun.sleep(NOTED_MS);
    return client;
  }

  /** Measures the standstill of Neovim's event loop during `work`, from the end of `prelude` (Lua) on. */
  async watched(work: () => Promise<unknown>, prelude = ""): Promise<Standstill> {
    await this.nvim.lua(`${prelude} BENCH.start()`);
    await work();
    return this.nvim.lua<Standstill>("return BENCH.stop()");
  }

  /** The process ids of Neovim's children. */
  children(): number[] {
    const pid = this.nvim.process.pid as number;
    const { stdout } = Bun.spawnSync(["pgrep", "-P", String(pid)]);
    return stdout.toString().split("\n").filter(Boolean).map(Number);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.nvim[Symbol.asyncDispose]();
  }
}

/** The resident memory of a process, in MB. */
export function resident(pid: number): number {
  const { stdout } = Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]);
  return Number(stdout.toString()) / 1024;
}

export function lockFiles(folder: string): string[] {
  return namesIn(folder).filter((name) => name.endsWith(".lock"));
}
