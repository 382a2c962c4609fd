import { claudeFolder } from "../../claude/config-dir";
import { runsOthersAfter } from "../../claude/hooks";
import { leftBehind } from "../../claude/left-behind";
import { EDITING_TOOLS } from "../../claude/names";
import { sessionStatus } from "../../claude/running-sessions";
import { settingsFiles, settingsPaths } from "../../claude/settings-files";
import { ownProcess } from "../../lib/process";
import { MAX_TEXT_BYTES, sameContent } from "../journal/blobs";
import { pathBelow } from "../journal/folder";
import type { Content, FileChange, RecordOf } from "../journal/record";
import { bashChanges } from "./bash-changes";
import { type FileState, readState } from "./file-state";
import { KnownContents, recordRunning } from "./known";
import { callFields, RecordedProject, shortened, type ToolCall } from "./recorded-project";
import { isDoubtful } from "./text";

/** Whether the work tree must be compared now, beside the hook. */
export type Comparison = "compare" | "enough";

const WITHOUT_GIT =
  "Outside of a git repository, changes by commands are known only of files that Claude edited before, or that are open in Neovim.";

/** Commands that stage: what they put into the index counts as Claude's until something else writes the index. */
const STAGING = /\bgit\b.*\b(add|mv|rm|stage|apply|restore|reset)\b/s;

/**
 * Records what a session of Claude does in one project. Every method throws the system's error where
 * the journal cannot be written (ENOSPC, EACCES, …): the hook goes on then.
 */
export class Recorder {
  readonly project: RecordedProject;
  readonly #started: number;

  /**
   * `projectFolder`: the project's folder, CLAUDE_PROJECT_DIR. `started`: when the hook's process did, in ms
   * since the epoch. On a busy machine that is long before it can record anything.
   */
  constructor(projectFolder: string, started = Date.now()) {
    this.project = new RecordedProject(projectFolder);
    this.#started = Math.floor(started);
  }

  /** A new turn: what changed since the last one is not Claude's, unless a call was interrupted. */
  prompt(session: string, prompt: string | undefined, text: string): Comparison {
    const head = this.project.head();
    const state = sessionStatus(session);
    const idle = state?.status === "idle" ? state.since : undefined;
    this.project.append({ type: "prompt", session, prompt, text: shortened(text), idle, head });
    return "compare";
  }

  /**
   * Bash or an MCP tool begins: what changes from now on may be its doing. The CLI starts the hook before
   * the call and does not wait for it, so its record may come late, also after that of the call's end.
   * The comparison sees with what it begins, where it is done before the call changes anything. `pid`: of
   * the CLI.
   */
  begin(call: ToolCall, pid?: number): Comparison {
    const { use } = call;
    if (use === undefined) return "enough";
    const cli = pid === undefined ? undefined : { pid, pidDomain: ownProcess().domain };
    const at = this.#started;
    this.project.append({ at, type: "begin", ...callFields(call), use, cli });
    return "compare";
  }

  /** An editing tool is about to change a file. */
  seen({ session, use, path: absolute }: ToolCall): Comparison {
    const path = absolute && pathBelow(this.project.root, absolute, true);
    const content = path && readState(this.project, path)?.content;
    const isPrivate = content && "withheld" in content && content.withheld === "private";
    if (!path || !content || !use || isPrivate) return "enough";
    this.project.append({ type: "seen", session, use, path, content });
    return "enough";
  }

  /**
   * A tool has ended well. `asksForDiff`: the CLI got our setting bashEditDiffEnabled, so a command of
   * which it says nothing has changed nothing.
   */
  change(call: ToolCall, asksForDiff: boolean): Comparison {
    if (EDITING_TOOLS.includes(call.tool)) return this.#edited(call);
    // A command in the background has not ended: its `begin` stays open.
    if ((call.response as { backgroundTaskId?: unknown } | null)?.backgroundTaskId) return "enough";
    const isBash = call.tool === "Bash";
    const known = new KnownContents(this.project);
    const changes = isBash ? bashChanges(this.project, known, call, this.#began(call)) : null;
    recordRunning(this.project, known, call.use, foundBy(changes?.files ?? []));
    const incomplete = this.project.isRepository ? changes?.incomplete : WITHOUT_GIT;
    this.#append(call, "bash", changes?.files ?? [], { incomplete });
    if (STAGING.test(call.command ?? "")) return "compare";
    const isWhole = changes ? !changes.isCut : isBash && asksForDiff && this.project.isRepository;
    return isWhole ? "enough" : "compare";
  }

  /** A tool has failed, or was interrupted: it may have changed files all the same. */
  failed(call: ToolCall): Comparison {
    if (EDITING_TOOLS.includes(call.tool)) return "enough";
    this.#append(call, "bash", []);
    return "compare";
  }

  /** `background`: agents or commands still run. `pid`: of the CLI. */
  stop(session: string, prompt: string | undefined, background: boolean, pid = 0): Comparison {
    const pids = background || pid === 0 ? [] : leftBehind(pid, this.project.root);
    const left = pids.map((one) => ({ pid: one, pidDomain: ownProcess().domain }));
    this.project.append({
      ...{ type: "stop", session, prompt, background: background || left.length > 0 || undefined },
      ...(left.length > 0 && { left }),
    });
    return "compare";
  }

  end(session: string): Comparison {
    this.project.append({ type: "end", session });
    return "compare";
  }

  #edited(call: ToolCall): Comparison {
    const known = new KnownContents(this.project);
    const file = editChange(this.project, known, call);
    if (!file) return "enough";
    recordRunning(this.project, known, call.use, foundBy([file]));
    const settings = settingsFiles(settingsPaths(this.project.root, claudeFolder()));
    const hooked = settings.some(({ content }) => runsOthersAfter(call.tool, content));
    this.#append(call, "tool", [file], { hooked: hooked || undefined });
    return "enough";
  }

  #began({ durationMs }: ToolCall): number | undefined {
    return durationMs === undefined ? undefined : this.#started - durationMs;
  }

  /**
   * The id is the call's: two installations of our hooks write the same record, which counts once. Another
   * call with the same `use` gets another answer.
   */
  #append(
    call: ToolCall,
    source: "tool" | "bash",
    files: FileChange[],
    more: Pick<RecordOf<"change">, "hooked" | "incomplete"> = {},
  ): void {
    const { use, path, response, durationMs } = call;
    const answer = Bun.hash(JSON.stringify([path, response, durationMs])).toString(36);
    const id = use === undefined ? {} : { id: `${call.session}/${use}/${answer}` };
    const head = this.project.head();
    const type = "change";
    this.project.append({
      ...id,
      type,
      ...callFields(call),
      source,
      files,
      began: this.#began(call),
      ...more,
      head,
    });
  }
}

function foundBy(changes: readonly FileChange[]) {
  return changes.map(({ path, before }) => ({ path, content: before }));
}

/** The answers of Edit and Write (`originalFile`), and of NotebookEdit (`original_file`). */
interface Response {
  type?: unknown;
  originalFile?: unknown;
  original_file?: unknown;
}

/**
 * The change that one of Claude's editing tools made: before by its answer, after by the disk. Undefined for a
 * file that is not below the root, and where nothing changed. Throws the system's error.
 */
function editChange(
  project: RecordedProject,
  known: KnownContents,
  call: ToolCall,
): FileChange | undefined {
  const path = call.path && pathBelow(project.root, call.path, true);
  if (!path) return undefined;
  const state = readState(project, path);
  if (!state) return undefined;
  const after = state.content;
  if ("withheld" in after && after.withheld === "private") return { path, before: after, after };
  const before = contentBefore(project, known, path, call, state);
  return sameContent(before, after) ? undefined : { path, before, after };
}

function contentBefore(
  { blobs }: RecordedProject,
  known: KnownContents,
  path: string,
  call: ToolCall,
  { bytes = new Uint8Array(), stats }: FileState,
): Content {
  const response = call.response as Response | null | undefined;
  const seen = known.seen(path, call.use);
  // Null is an answer, too.
  const text =
    response?.originalFile === undefined ? response?.original_file : response.originalFile;
  if (typeof text === "string") {
    const exact = known.shownAs(path, text, seen);
    if (exact) return exact;
    return isDoubtful(text, bytes) ? { withheld: "unknown" } : blobs.put(Buffer.from(text));
  }
  if (seen) return seen;
  // Null for a new file; for an old one only above the CLI's limit, which is ours.
  const isLarge = (stats?.size ?? 0) > MAX_TEXT_BYTES / 2;
  if (text === null && response?.type !== "update" && !isLarge) return { absent: true };
  return known.last(path) ?? { withheld: "unknown" };
}
