import { gitFolder } from "../../lib/git-folder";
import { headOf } from "../git/committed";
import { Git } from "../git/run";
import { append } from "../journal/append";
import { Blobs } from "../journal/blobs";
import { ensureReviewFolder, pathBelow, reviewRoot } from "../journal/folder";
import { recordsOf } from "../journal/read";
import type { FileChange, JournalRecord, NewRecord } from "../journal/record";
import { Privacy } from "./privacy";

/** A root, with the folder that records Claude's changes below it. */
export class RecordedProject {
  readonly root: string;
  /** Holds the journal and the blobs. */
  readonly folder: string;
  readonly blobs: Blobs;
  readonly privacy = new Privacy();
  readonly isRepository: boolean;
  /** Undefined outside of a git work tree, or without git. */
  readonly git: Git | undefined;

  /** Throws the system's error if the folder cannot be written. */
  constructor(projectFolder: string) {
    this.root = reviewRoot(projectFolder);
    this.folder = ensureReviewFolder(this.root);
    this.blobs = new Blobs(this.folder);
    this.isRepository = gitFolder(this.root) !== undefined;
    this.git = this.isRepository ? Git.in(this.root) : undefined;
  }

  append(record: NewRecord): JournalRecord {
    return append(this.folder, record);
  }

  /** Appends a change by a call that the work tree shows. */
  appendFound(call: ToolCall, more: Partial<Extract<NewRecord, { type: "change" }>>): void {
    this.append({ type: "change", ...callFields(call), source: "trees", files: [], ...more });
  }

  /** HEAD for a record; also undefined before the first commit, and without git. */
  head(): string | undefined {
    return this.git?.wait(headOf(this.root)) ?? undefined;
  }
}

/** A call of a tool, as a hook gets it. `response` is unchecked. */
export interface ToolCall {
  session: string;
  prompt?: string | undefined;
  /** The id of the subagent that made the call. */
  agent?: string | undefined;
  tool: string;
  use?: string | undefined;
  command?: string | undefined;
  /** The absolute path of an editing tool's file. */
  path?: string | undefined;
  response?: unknown;
  durationMs?: number | undefined;
}

const MAX_CHARACTERS = 500;

/** The fields by which the journal identifies a call. */
export function callFields({ session, prompt, agent, tool, use, command }: ToolCall) {
  return { session, prompt, agent, tool, use, command: command && shortened(command) };
}

/** Cuts a text for the journal. */
export function shortened(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1)}…` : text;
}

/** A file that a language server edited, by its absolute path. */
interface EditedFile {
  path: string;
  before: Uint8Array;
  after: Uint8Array;
}

/**
 * Records an edit that one of our tools made for Claude, in the last turn of its session. `projectFolder` is the
 * project's folder in Claude Code. Leaves out files that are not below the root. Throws the system's error.
 */
export function recordLanguageEdit(
  projectFolder: string,
  call: ToolCall,
  edited: readonly EditedFile[],
): void {
  const project = new RecordedProject(projectFolder);
  const files = edited.flatMap(({ path: absolute, before, after }): FileChange[] => {
    const path = pathBelow(project.root, absolute, true);
    if (path === undefined) return [];
    return [{ path, before: project.blobs.put(before), after: project.blobs.put(after) }];
  });
  if (files.length === 0) return;
  const turns = recordsOf(project.folder, "prompt");
  const { prompt } = turns.findLast(({ session }) => session === call.session) ?? {};
  const fields = callFields({ ...call, prompt });
  project.append({ type: "change", ...fields, source: "tool", files, head: project.head() });
}
