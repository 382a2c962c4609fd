import { libc } from "../../../lib/libc";
import { ownChildren } from "../../../lib/own-children";
import { isAlive } from "../../../lib/process";
import { environment, type Process, processes } from "./processes";

/** Set for everything a run starts, so that it is found even after it became a daemon. */
const RUN_VARIABLE = "CLAUDE_CODE_NVIM_RUN";

/** prctl(2): a process whose parent has ended becomes our child, however it cut itself off. */
const PR_SET_CHILD_SUBREAPER = 36;
/** waitpid(2): does not wait. */
const WNOHANG = 1;

/** A process may start the next one while it is killed: how often we look again. */
const ROUNDS = 100;
const ROUND_MS = 5;

/** The leaders of all runs under way. */
const leaders = new Set<number>();

/** What one run has started, as a whole. Linux shows all of it; elsewhere it is the process group. */
export class ProcessTree {
  readonly #id = `${process.pid}.${crypto.randomUUID()}`;
  #leader: number | undefined;

  /** Must be made before the leader is started. */
  constructor() {
    libc()?.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  }

  /** For the leader's environment. */
  get variables(): Record<string, string> {
    return { [RUN_VARIABLE]: this.#id };
  }

  /** The leader of the process group was started. */
  begin(leader: number): void {
    this.#leader = leader;
    leaders.add(leader);
  }

  /** Ends what can be found at once. */
  kill(): void {
    if (!this.#leader) return;
    kill(-this.#leader);
    kill(this.#leader);
    for (const { pid } of this.#members()) kill(pid);
  }

  /** The leader has ended: resolves when nothing is left that it started. */
  async end(): Promise<void> {
    if (!this.#leader) return;
    for (let round = 0; round < ROUNDS; round++) {
      this.kill();
      if (this.#members().filter(isLeft).length === 0) break;
      await Bun.sleep(ROUND_MS);
    }
    leaders.delete(this.#leader);
  }

  /**
   * By the variable, by descent from the leader, and, unless another run is under way, whatever else
   * descends from us: who cut itself off from both became our child. Not what we run for ourselves.
   */
  #members(): Process[] {
    const all = processes();
    const roots = leaders.size > 1 ? [this.#leader] : [this.#leader, process.pid];
    const below = descendants(all, roots);
    return all.filter(
      ({ pid }) =>
        pid !== process.pid &&
        !leaders.has(pid) &&
        (below.has(pid) || environment(pid).includes(`${RUN_VARIABLE}=${this.#id}`)),
    );
  }
}

/** Ends the runs of an executable that was killed itself, as far as they kept their environment. */
export function killAbandonedRuns(): void {
  for (const { pid } of processes()) {
    const entry = environment(pid).find((text) => text.startsWith(`${RUN_VARIABLE}=`));
    const owner = Number.parseInt(entry?.slice(RUN_VARIABLE.length + 1) ?? "", 10);
    if (owner > 0 && !isAlive(owner)) kill(pid);
  }
}

/** Whether it still runs. One that became our child stays as a zombie until we ask for its end. */
function isLeft({ pid, parent, state }: Process): boolean {
  if (state !== "Z") return true;
  if (parent === process.pid) libc()?.waitpid(pid, null, WNOHANG);
  return false;
}

function descendants(all: readonly Process[], roots: readonly (number | undefined)[]): Set<number> {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const found = new Set<number>();
  const open = [...roots];
  for (let root = open.pop(); root !== undefined; root = open.pop()) {
    for (const { pid } of children.get(root) ?? []) {
      if (found.has(pid) || ownChildren.has(pid)) continue;
      found.add(pid);
      open.push(pid);
    }
  }
  return found;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}
