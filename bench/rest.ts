import { existsSync, readdirSync, readFileSync } from "node:fs";
import { BareServer } from "./bare-server";
import { Editor } from "./editor";
import type { Machine, Scenario, Values } from "./scenario";

/** Threads of the start end within 12 seconds, and what it left behind is given back. */
const SETTLE_MS = 12_000;
const WATCHED_MS = 10_000;
/** So many Neovims are open at once. */
const TEN = 10;

/** With Bun's own interval a server without a client wakes 13 times a second. */
const QUIET = { BUN_GC_TIMER_INTERVAL: "10000" };

/** What a server with one client costs while nothing happens. Linux alone says it, by /proc. */
export const rest: Scenario = {
  name: "rest",

  async floor(machine) {
    await using server = await BareServer.start(machine.bare, QUIET);
    return await costs(machine, server.process.pid);
  },

  async measure(machine, subject) {
    await using editor = await Editor.start(machine.nvim, subject);
    using _client = await editor.setUp(subject);
    const [server] = editor.children();
    if (server === undefined) return { values: {} };
    const more = await Promise.all(
      Array.from({ length: TEN - 1 }, () => Editor.start(machine.nvim, subject)),
    );
    try {
      await Promise.all(more.map(({ nvim }) => nvim.lua(subject.setup)));
      const alone = await costs(machine, server);
      const servers = [server, ...more.flatMap((one) => one.children().slice(0, 1))];
      return {
        values: { ...alone, ...(servers.length === TEN && { "memory-ten": share(servers) }) },
      };
    } finally {
      await Promise.all(more.map((one) => one[Symbol.asyncDispose]()));
    }
  },
};

/** What these processes take of the machine's memory, in MB: of what several share, each its part. */
function share(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + field(`/proc/${pid}/smaps_rollup`, "Pss") / 1024, 0);
}

async function costs(machine: Machine, pid: number): Promise<Values> {
  await Bun.sleep(SETTLE_MS);
  // Not a server, if it has ended: a plugin may run other programs at its start.
  if (!existsSync(`/proc/${pid}/task`)) return {};
  const before = wakeUps(pid);
  const ms = Math.max(2_000, WATCHED_MS * machine.effort);
  await Bun.sleep(ms);
  const woken = [...wakeUps(pid)].map(([thread, count]) => count - (before.get(thread) ?? 0));
  return {
    "wake-ups": woken.reduce((sum, count) => sum + Math.max(0, count), 0) / (ms / 1_000),
    "memory-private": privateMemory(pid),
  };
}

/** How often its threads have gone to sleep since its start, and so were woken. */
function wakeUps(pid: number): Map<string, number> {
  const threads = readdirSync(`/proc/${pid}/task`);
  return new Map(threads.map((thread) => [thread, switches(`/proc/${pid}/task/${thread}/status`)]));
}

function switches(path: string): number {
  try {
    return field(path, "voluntary_ctxt_switches");
  } catch {
    return 0; // The thread has ended.
  }
}

/** What no other process shares and no file holds, in MB. */
function privateMemory(pid: number): number {
  return field(`/proc/${pid}/smaps_rollup`, "Private_Dirty") / 1024;
}

function field(path: string, name: string): number {
  const found = new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(readFileSync(path, "utf8"));
  return Number(found?.[1]);
}
