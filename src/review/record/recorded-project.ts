import { gitFolder } from "../../lib/git-folder";
import { headOf } from "../git/committed";
import { Git } from "../git/run";
import { append } from "../journal/append";
import { Blobs } from "../journal/blobs";
import { ensureReviewFolder, reviewRoot } from "../journal/folder";
import type { JournalRecord, NewRecord } from "../journal/record";
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

const MOST_CHARACTERS = 500;

/** What the journal says of whose call it was. */
export function callFields({ session, prompt, agent, tool, use, command }: ToolCall) {
  return { session, prompt, agent, tool, use, command: command && shortened(command) };
}

/** For the journal, which keeps no long texts. */
export function shortened(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
}
