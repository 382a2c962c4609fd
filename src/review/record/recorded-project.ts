import { gitFolder } from "../../lib/git-folder";
import { headOf } from "../git/committed";
import { Git } from "../git/run";
import { append } from "../journal/append";
import { Blobs } from "../journal/blobs";
import { ensureReviewFolder, pathBelow, reviewRoot } from "../journal/folder";
import { recordsOf } from "../journal/read";
import type { FileChange, JournalRecord, NewRecord } from "../journal/record";
import { Privacy } from "./privacy";

/** A root, and the folder where what Claude changes below it is recorded. */
export class RecordedProject {
  readonly root: string;
  /** The journal and the blobs are in it. */
  readonly folder: string;
  readonly blobs: Blobs;
  readonly privacy = new Privacy();
  readonly isRepository: boolean;
  /** Undefined outside of a git work tree, or without git. */
  readonly git: Git | undefined;

  /** Throws the system's error where nothing can be written. */
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

  /** For a record: undefined also before the first commit, and without git. */
  head(): string | undefined {
    return this.git?.wait(headOf(this.root)) ?? undefined;
  }
}

/** One call of a tool, as a hook gets it; everything in `response` is still to be checked. */
export interface ToolCall {
  session: string;
  prompt?: string | undefined;
  /** The subagent's, if one called. */
  agent?: string | undefined;
  tool: string;
  use?: string | undefined;
  command?: string | undefined;
  /** The absolute path that an editing tool got. */
  path?: string | undefined;
  response?: unknown;
  durationMs?: number | undefined;
}

const MAX_CHARACTERS = 500;

/** The journal's fields of a call: whose it was. */
export function callFields({ session, prompt, agent, tool, use, command }: ToolCall) {
  return { session, prompt, agent, tool, use, command: command && shortened(command) };
}

/** For the journal, which keeps no long texts. */
export function shortened(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1)}…` : text;
}

/** A file that a language server edited. */
interface EditedFile {
  /** Absolute. */
  path: string;
  before: Uint8Array;
  after: Uint8Array;
}

/**
 * Records what one of our own tools changed for Claude, as a change of its last turn. `projectFolder`:
 * as Claude Code names it; files that are not below its root are left out. Throws the system's error.
 */
export function recordLanguageEdit(
  projectFolder: string,
  call: ToolCall,
  edited: readonly EditedFile[],
): void {
  const project = new RecordedProject(projectFolder);
  const files = edited.flatMap((file) => changeOf(project, file));
  if (files.length === 0) return;
  const turns = recordsOf(project.folder, "prompt");
  const { prompt } = turns.findLast(({ session }) => session === call.session) ?? {};
  const fields = callFields({ ...call, prompt });
  project.append({ type: "change", ...fields, source: "tool", files, head: project.head() });
}

function changeOf(project: RecordedProject, { path, before, after }: EditedFile): FileChange[] {
  const relativePath = pathBelow(project.root, path, true);
  if (relativePath === undefined) return [];
  const [old, now] = [project.blobs.put(before), project.blobs.put(after)];
  return [{ path: relativePath, before: old, after: now }];
}
