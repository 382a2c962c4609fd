import * as v from "valibot";

/*
 * The journal of a root: one record per line, as JSON, in the order of events. Records are immutable. Readers ignore
 * unknown types and fields, so that different versions of this program can share a journal.
 */

const Hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const Text = v.string();
const Entry = v.pipe(v.string(), v.regex(/^[0-7]{1,6} [0-9a-f]{40,64}$/));
/** Refuses paths that file systems reject, because every later read of the file would fail. */
const Path = v.pipe(v.string(), v.nonEmpty(), v.maxBytes(4096), v.excludes("\0"));
/** A comparison of the work tree finds 20,000 files at most. */
const MAX_FILES = 50_000;
function filesOf<T extends v.GenericSchema>(file: T) {
  return v.pipe(v.array(file), v.maxLength(MAX_FILES));
}
const Rows = v.tuple([v.number(), v.number()]);

/**
 * The content of a file. `blob` names stored bytes (./blobs.ts). `withheld` is why we do not have the bytes; a private
 * file has no hash either. "unknown" means that we never saw them.
 */
const Content = v.union([
  v.object({ blob: Hash }),
  v.object({ absent: v.literal(true) }),
  v.object({ withheld: v.picklist(["private", "large", "unknown"]), hash: v.optional(Hash) }),
]);
export type Content = v.InferOutput<typeof Content>;

const FileChange = v.object({
  /** Relative to the root, with "/". */
  path: Path,
  before: Content,
  after: Content,
  /** Permission bits before and after, if they differ; 0 after a deletion. */
  mode: v.optional(v.tuple([v.number(), v.number()])),
  /** The earlier path of a moved file. The same record has the deletion of that path. */
  from: v.optional(Path),
  /** The file is a symlink, and the contents are its targets. */
  symlink: v.optional(v.boolean()),
  /** Only git's index changed. */
  staged: v.optional(v.boolean()),
});
export type FileChange = v.InferOutput<typeof FileChange>;

/** `at` is in ms since the epoch. */
const common = { v: v.number(), at: v.number(), id: Text };
/** Identifies a call by the CLI's session_id, prompt_id, agent_id (of a subagent) and tool_name. */
const call = {
  session: Text,
  prompt: v.optional(Text),
  agent: v.optional(Text),
  tool: Text,
  /** At most 500 characters. */
  command: v.optional(Text),
};
const Process = v.object({ pid: v.number(), pidDomain: v.string() });
const Head = v.optional(v.string());

const Prompt = v.object({
  ...common,
  type: v.literal("prompt"),
  session: Text,
  prompt: v.optional(Text),
  /** At most 500 characters. */
  text: Text,
  /** When the CLI became idle, in ms since the epoch, as it reports. */
  idle: v.optional(v.number()),
  /** HEAD's commit. */
  head: Head,
});

/** A call of Bash or an MCP tool begins. A `change` with the same `use` follows. */
const Begin = v.object({
  ...common,
  ...call,
  type: v.literal("begin"),
  use: Text,
  /** The CLI's process, and the domain in which its id is valid (../../lib/process.ts). */
  cli: v.optional(Process),
  /** These are shell lines of a skill: no record of their end follows. */
  skill: v.optional(v.boolean()),
});

/** A file's content before an editing tool changes it. The tool's response has neither line ends nor encoding. */
const Seen = v.object({
  ...common,
  type: v.literal("seen"),
  session: Text,
  use: Text,
  path: Path,
  content: Content,
});

/**
 * The changes of one tool call; without files, only its end. The `source` is "tool" for Claude's editing tools, "bash"
 * for the CLI's report on a command, and "trees" for our comparison of the work tree, which finds the call by its time.
 */
const Change = v.object({
  ...common,
  ...call,
  type: v.literal("change"),
  use: v.optional(Text),
  source: v.picklist(["tool", "bash", "trees"]),
  files: filesOf(FileChange),
  /** When the call began, in ms since the epoch, as the CLI measured it. */
  began: v.optional(v.number()),
  /** The user's hooks run after the call, and may format the file. */
  hooked: v.optional(v.boolean()),
  /** Entries that the call put into git's indexes, by path; mode 0 for removed entries. */
  index: v.optional(v.record(Path, Entry)),
  /** A sentence for the user about what we do not know of this call. */
  incomplete: v.optional(Text),
  head: Head,
});

/** The turn has ended. `background` means that its agents or commands still run. */
const Stop = v.object({
  ...common,
  type: v.literal("stop"),
  session: Text,
  prompt: v.optional(Text),
  background: v.optional(v.boolean()),
  /** The processes that the turn's commands left behind, if nothing else runs. */
  left: v.optional(v.array(Process)),
});
const End = v.object({ ...common, type: v.literal("end"), session: Text });

/** Neovim wrote these texts. They are the user's, even while one of Claude's commands runs. */
const Written = v.object({
  ...common,
  type: v.literal("written"),
  files: filesOf(v.object({ path: Path, content: Content })),
});

/** The changes that a decision is about: those of a session or prompt, a single change, or all. */
const Scope = v.object({
  session: v.optional(Text),
  prompt: v.optional(Text),
  change: v.optional(Text),
  /** First and last number of turns of the session. They replace `prompt`, which earlier versions read. */
  turns: v.optional(Rows),
  /** Includes hunks that the user has kept. */
  kept: v.optional(v.boolean()),
});
export type RecordedScope = v.InferOutput<typeof Scope>;

const What = v.union([
  v.literal("all"),
  /** Rows of the base text and of the current text: first (from 1) and count. */
  v.object({
    old: v.array(Rows),
    new: v.array(Rows),
    /** Includes the creation or deletion of the file, and its mode. */
    file: v.optional(v.boolean()),
    /** Includes the mode. */
    mode: v.optional(v.boolean()),
  }),
]);

const KeptFile = v.object({
  path: Path,
  /** The text that the user saw. */
  text: Content,
  /** The hash of the base text at that time. */
  base: v.optional(Hash),
  keep: What,
});
const Keep = v.object({
  ...common,
  type: v.literal("keep"),
  scope: v.optional(Scope),
  /** "home" means that the changes came home from this worktree. */
  why: v.picklist(["user", "commit", "accepted", "done", "home"]),
  /** The commit, if `why` is "commit". */
  head: Head,
  files: filesOf(KeptFile),
});

const Undo = v.object({
  ...common,
  type: v.literal("undo"),
  scope: v.optional(Scope),
  files: filesOf(
    v.object({
      path: Path,
      before: Content,
      after: Content,
      undo: v.optional(What),
      /** The earlier permission bits, if the undo removes the file or changes its mode. */
      mode: v.optional(v.number()),
      /** git's index entry before and after, `MODE BLOB`, if Claude had staged the change. */
      index: v.optional(v.tuple([Entry, Entry])),
    }),
  ),
});

/** An undo in the scope of turns. Earlier versions skip it, and take its texts for the user's. */
const Restore = v.object({ ...Undo.entries, type: v.literal("restore") });

/** Takes back a keep or undo by its id; with `path`, only in that file. */
const Back = v.object({
  ...common,
  type: v.literal("back"),
  decision: Text,
  path: v.optional(Path),
  head: Head,
});

/** The user's comment on lines of a file, for Claude. */
const Comment = v.object({
  ...common,
  type: v.literal("comment"),
  /** The comment that this record replaces, sends or deletes. A new comment has the record's id. */
  comment: v.optional(Text),
  state: v.picklist(["open", "sent", "deleted"]),
  path: Path,
  rows: v.optional(Rows),
  /** The first of those lines, without line ends. */
  lines: v.optional(v.array(Text)),
  text: Text,
});

/** Claude knows about these undo records in this session. */
const Reported = v.object({
  ...common,
  type: v.literal("reported"),
  session: Text,
  undo: v.array(Text),
});

export const JournalRecord = v.variant("type", [
  Prompt,
  Begin,
  Seen,
  Change,
  Stop,
  End,
  Written,
  Keep,
  Undo,
  Restore,
  Back,
  Comment,
  Reported,
]);
export type JournalRecord = v.InferOutput<typeof JournalRecord>;

export type RecordOf<T extends JournalRecord["type"]> = Extract<JournalRecord, { type: T }>;

export type UndoRecord = RecordOf<"undo" | "restore">;

/** A record without its version, and perhaps without time and id. */
export type NewRecord = JournalRecord extends infer R
  ? R extends JournalRecord
    ? Omit<R, keyof typeof common> & Partial<Pick<R, "at" | "id">>
    : never
  : never;

export const RECORD_TYPES: ReadonlySet<string> = new Set(
  JournalRecord.options.map(({ entries }) => entries.type.literal),
);
