import * as v from "valibot";
import {
  isRunning,
  type RunningSession,
  runningSessions,
  sessionsFolder,
} from "../claude/running-sessions";
import { folderSetup } from "../claude/settings-files";
import { taskList, tasksFolder } from "../claude/tasks";
import type { EditorPort } from "../editor/methods";
import { message } from "../lib/errors";
import type { Log } from "../lib/log";
import { PathWatch } from "../lib/path-watch";
import { isBelow } from "../lib/paths";
import { join } from "../lib/platform";
import { processDomain } from "../lib/process";
import { type Answer, takes } from "../lib/requests";
import type { ModEndpoint } from "../mod/endpoint";
import { lastPrompts, pastConversations } from "./conversations";
import { type Place, placeOf } from "./place";
import { changingIn, innermost, type Worktree, worktreesOf } from "./worktrees";

/** "shell" means that a command of an ended turn still runs. The CLI also shows it as "working". */
const STATES = new Map([
  ["idle", "idle"],
  ["busy", "working"],
  ["shell", "working"],
  ["waiting", "blocked"],
]);
const KINDS = new Map([
  ["permission prompt", "permission"],
  ["sandbox request", "permission"],
  ["input needed", "question"],
  ["goal proposal", "question"],
  ["dialog open", "question"],
]);

/** In ms. Remotes may report usage many times a second. */
const FOLD_MS = 20;
/** In ms. A program may write task lists thousands of times a second. */
const FOLD_TASKS_MS = 1_000;

const Process = v.object({ pid: v.number() });
const Folder = v.object({ folder: v.string() });

/**
 * Reports to Neovim the running sessions, from the CLI's files, and the work trees of its workspace. Also answers the
 * requests `sessions/…`.
 */
export class SessionsEndpoint {
  readonly #watch = new PathWatch(() => this.look());
  readonly #tasks = new PathWatch(() => this.#lookSoon(FOLD_TASKS_MS));
  readonly #places = new Map<number, Place>();
  #reported: Promise<unknown> = Promise.resolve();
  #isAttached = false;
  #sent = "";
  /** By their delays. */
  readonly #timers = new Map<number, Timer>();

  constructor(
    private readonly editor: Pick<EditorPort, "state" | "on" | "call" | "sync">,
    private readonly mods: ModEndpoint,
    /** Neovim's process. */
    private readonly neovim: number,
    private readonly log: Log,
  ) {
    editor.on("state", ({ folders }) => {
      if (folders) this.look();
    });
    mods.onChange.on(() => this.#lookSoon(FOLD_MS));
  }

  /** Call it when Neovim is attached. Resolves when Neovim has the first report. */
  start(): Promise<unknown> {
    this.#isAttached = true;
    return this.look();
  }

  /** Resolves when Neovim has the current state. */
  look(): Promise<unknown> {
    if (!this.#isAttached) return this.#reported;
    const repositories = this.#repositories();
    const sessions = this.#sessions(repositories.flat());
    const watched = [
      `${sessionsFolder()}/`,
      ...this.editor.state.folders.map((folder) => join(folder, ".git")),
      ...repositories.flatMap(([tree]) => (tree ? changingIn(tree) : [])),
    ];
    const tasks = sessions.flatMap(({ id, is_covered }) =>
      id && is_covered ? [`${tasksFolder(id)}/`] : [],
    );
    const isNew = [this.#watch.follow(watched), this.#tasks.follow(tasks)].includes(true);
    // Changes made before the watch began caused no event.
    if (isNew) setImmediate(() => this.look());
    // JSON drops undefined fields, which Lua would receive as vim.NIL.
    const remote_mods = this.mods.remoteRows();
    const seen = JSON.stringify({ sessions, repositories, remote_mods });
    if (seen === this.#sent) return this.#reported;
    this.#sent = seen;
    this.#reported = this.editor.call("sessions_changed", JSON.parse(seen)).catch((error) => {
      this.#sent = "";
      this.log.warn(`A report of the sessions failed: ${message(error)}`);
    });
    return this.#reported;
  }

  #lookSoon(delayMs: number): void {
    if (this.#timers.has(delayMs)) return;
    const look = () => {
      this.#timers.delete(delayMs);
      this.look();
    };
    this.#timers.set(delayMs, setTimeout(look, delayMs));
  }

  readonly requests: Record<string, Answer> = {
    /** Returns nothing, when Neovim has the current state, including that of a folder that it has just entered. */
    look: async () => {
      await this.editor.sync();
      await this.look();
    },
    /** Place of a process. */
    place: takes(Process, ({ pid }) => placeOf(pid, this.neovim)),
    /** Conversation[] of the workspace and its work trees, the newest first. */
    past: () => pastConversations(this.editor.state.folders),
    /** string[]: the last prompts in the workspace. */
    prompts: () => lastPrompts(this.editor.state.folders),
    /** FolderSetup. */
    setup: takes(Folder, ({ folder }) => folderSetup(folder)),
  };

  end(): void {
    this.#isAttached = false;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#watch.end();
    this.#tasks.end();
  }

  /** The work trees of each repository of the workspace. */
  #repositories(): Worktree[][] {
    const all = this.editor.state.folders.map(worktreesOf).filter((trees) => trees.length > 0);
    return [...new Map(all.map((trees) => [trees[0]?.path, trees])).values()];
  }

  #sessions(trees: readonly Worktree[]) {
    const domain = processDomain();
    const running = runningSessions().filter(
      // A process id of another machine or container is not valid here.
      (one) => (one.pidDomain ?? domain) === domain && isRunning(one),
    );
    const pids = new Set(running.map(({ pid }) => pid));
    for (const pid of this.#places.keys()) if (!pids.has(pid)) this.#places.delete(pid);
    const ids = running.map(({ sessionId }) => sessionId);
    // After `claude --resume` of a running session, a prompt could reach the other CLI.
    const isOnly = (id: string) => ids.indexOf(id) === ids.lastIndexOf(id);
    return running
      .sort((one, other) => one.pid - other.pid)
      .flatMap((one) => this.#described(one, trees, isOnly));
  }

  #described(session: RunningSession, trees: readonly Worktree[], isOnly: (id: string) => boolean) {
    const { pid, cwd, kind, status } = session;
    if (!cwd || session.spare || (kind !== "interactive" && kind !== "bg")) return [];
    const state = status === undefined ? undefined : (STATES.get(status) ?? "idle");
    const around = innermost(cwd, trees) ?? innermost(cwd, worktreesOf(cwd));
    const places = [...trees.map(({ path }) => path), ...this.editor.state.folders];
    // The id becomes part of a path.
    const id = /^[\w-]+$/.exec(session.sessionId ?? "")?.[0];
    const isCovered = places.some((place) => isBelow(cwd, place));
    const described = {
      ...{ pid, cwd, state, is_background: kind === "bg" },
      id,
      // A name that the CLI derived adds nothing to the folder.
      name: session.nameSource === "derived" ? undefined : session.name,
      // The job becomes an argument, so it must not look like an option.
      job: kind === "bg" ? /^[a-zA-Z0-9][\w-]*$/.exec(session.jobId ?? "")?.[0] : undefined,
      kind: state === "blocked" ? KINDS.get(session.waitingFor ?? "") : undefined,
      ...{ worktree: around?.name, branch: around?.branch },
      is_covered: isCovered,
      ...this.#place(pid),
      ...(id && isOnly(id) && this.mods.place().rows().get(id)),
      tasks: id && isCovered ? taskList(id) : undefined,
    };
    return [described];
  }

  #place(pid: number): Place {
    const place = this.#places.get(pid) ?? placeOf(pid, this.neovim);
    this.#places.set(pid, place);
    return place;
  }
}
