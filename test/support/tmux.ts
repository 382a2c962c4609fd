import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "../../src/lib/platform";
import { eventually, pause } from "./eventually";
import { isRunning } from "./process";

/** How long a screen may take to show what a test waits for, unless the test says otherwise. */
const SCREEN_TIMEOUT_MS = 20_000;
/** Between two captures, each of which starts a process: about 4 ms of processor time. */
const POLL_MS = { least: 30, most: 100 };
/** How long a program may take to end after its terminal was closed, before it is killed. */
const END_TIMEOUT_MS = 3000;

/** A tmux server outlives the process that started it, but must not outlive an interrupted test run. */
const open = new Set<Terminal>();
process.once("SIGTERM", () => {
  for (const terminal of open) terminal.abandon();
  process.exit(143);
});

export interface TerminalOptions {
  command: string[];
  cwd: string;
  /** The whole environment of the command: nothing is inherited. */
  env: Record<string, string>;
  columns?: number;
  rows?: number;
}

/** A real terminal of a fixed size with one program in it: a tmux server of its own. */
export class Terminal {
  private constructor(
    private readonly folder: string,
    private readonly env: Record<string, string>,
  ) {}

  static async start(options: TerminalOptions): Promise<Terminal> {
    const folder = await mkdtemp(join(tmpdir(), "terminal-"));
    const env = { TERM: "xterm-256color", LC_ALL: "C.UTF-8", ...options.env };
    const terminal = new Terminal(folder, env);
    const size = ["-x", String(options.columns ?? 160), "-y", String(options.rows ?? 50)];
    await terminal.tmux(
      // The program's last output stays on the screen for the error message.
      ...["start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"],
      ...["set-option", "-g", "default-terminal", "tmux-256color", ";"],
      ...["set-option", "-g", "escape-time", "0", ";", "set-option", "-g", "status", "off", ";"],
      ...["set-option", "-g", "focus-events", "on", ";"],
      // Through env(1), so that tmux never hands a lone word to a shell.
      ...["new-session", "-d", ...size, "-c", options.cwd, "env", ...options.command.map(literal)],
    );
    open.add(terminal);
    return terminal;
  }

  /** Named keys, with tmux's names: "Enter", "Escape", "C-c", "Down". */
  async press(...keys: string[]): Promise<void> {
    await this.tmux("send-keys", ...keys.map(literal));
  }

  async type(text: string): Promise<void> {
    await this.tmux("send-keys", "-l", "--", literal(text));
  }

  /** A click of the left button on the cell at `row`, `column` (1-based), as SGR mouse reports. */
  async click(row: number, column: number): Promise<void> {
    await this.type(`\x1b[<0;${column};${row}M\x1b[<0;${column};${row}m`);
  }

  async screen(): Promise<string> {
    return this.tmux("capture-pane", "-p");
  }

  async colours(): Promise<string> {
    return this.tmux("capture-pane", "-e", "-p");
  }

  /** The first screen that shows `wanted`. Throws with the last screen when none did in time. */
  async waitFor(wanted: string | RegExp, timeoutMs = SCREEN_TIMEOUT_MS): Promise<string> {
    const shows = (screen: string) =>
      typeof wanted === "string" ? screen.includes(wanted) : wanted.test(screen);
    return this.waitUntil(shows, String(wanted), timeoutMs);
  }

  /** As waitFor, with any condition; `what` names it in the error message. */
  async waitUntil(
    holds: (screen: string) => boolean,
    what: string,
    timeoutMs = SCREEN_TIMEOUT_MS,
  ): Promise<string> {
    const start = Date.now();
    for (;;) {
      const screen = await this.screen();
      if (holds(screen)) return screen;
      const waited = Date.now() - start;
      if (waited > timeoutMs) {
        throw new Error(
          `No ${what} on the screen within ${timeoutMs} ms. It shows:\n${squeeze(screen)}`,
        );
      }
      await Bun.sleep(pause(waited, POLL_MS.least, POLL_MS.most));
    }
  }

  async pid(): Promise<number> {
    return Number((await this.tmux("display-message", "-p", "#{pane_pid}")).trim());
  }

  async ended(): Promise<boolean> {
    return (await this.tmux("display-message", "-p", "#{pane_dead}")).trim() === "1";
  }

  /** Ends the program (SIGHUP, as when a window is closed), waits for that, ends the terminal. */
  async close(): Promise<void> {
    if (!open.delete(this)) return;
    const pid = await this.pid().catch(() => undefined);
    await this.tmux("kill-server").catch(() => {});
    if (pid !== undefined) await end(pid);
    await rm(this.folder, { recursive: true, force: true });
  }

  /** As close, but without waiting for anything. */
  abandon(): void {
    Bun.spawnSync(["tmux", "-S", this.socket, "kill-server"]);
    rmSync(this.folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The environment of a program in its first pane, for one that runs elsewhere. */
  async inside(): Promise<{ TMUX: string; TMUX_PANE: string }> {
    const [server, pane] = (await this.tmux("display-message", "-p", "#{pid} #{pane_id}"))
      .trim()
      .split(" ") as [string, string];
    return { TMUX: `${this.socket},${server},0`, TMUX_PANE: pane };
  }

  private get socket(): string {
    return join(this.folder, "tmux.sock");
  }

  async tmux(...args: string[]): Promise<string> {
    const child = Bun.spawn(["tmux", "-u", "-S", this.socket, "-f", "/dev/null", ...args], {
      env: this.env,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code !== 0) throw new Error(`tmux ${args[0]} failed (exit ${code}): ${err.trim()}`);
    return out;
  }
}

async function end(pid: number): Promise<void> {
  await eventually("its end", () => !isRunning(pid), END_TIMEOUT_MS).catch(() =>
    process.kill(pid, "SIGKILL"),
  );
}

/** A screen without its runs of empty lines, for error messages. */
export function squeeze(screen: string): string {
  return screen.replace(/\n{3,}/g, "\n\n").trim();
}

/** tmux treats a semicolon at the end of an argument as the end of a command. */
function literal(argument: string): string {
  return argument.endsWith(";") ? `${argument.slice(0, -1)}\\;` : argument;
}
