import * as v from "valibot";

/*
 * The journal of a root: one record a line, as JSON. Records are immutable; the order of
 * the lines is the order of what happened. Unknown types and fields are left alone, so that versions
 * of this program can share a journal.
 */

const Hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const Text = v.string();
const Entry = v.pipe(v.string(), v.regex(/^[0-7]{1,6} [0-9a-f]{40,64}$/));
/** Refuses paths that no file system accepts: every later read of the file would fail. */
const Path = v.pipe(v.string(), v.nonEmpty(), v.maxBytes(4096), v.excludes("\0"));
/** A comparison of the work tree finds 20,000 files at most. */
const MAX_FILES = 50_000;
function filesOf<T extends v.GenericSchema>(file: T) {
  return v.pipe(v.array(file), v.maxLength(MAX_FILES));
}
const Rows = v.tuple([v.number(), v.number()]);

/**
 * The content of a file. `blob` names bytes that are kept (./blobs.ts). `withheld`: they are not; for a
 * private file there is no hash either. `unknown`: no one saw them.
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
  /** Permission bits before and after, where they differ; 0 after a deletion. */
  mode: v.optional(v.tuple([v.number(), v.number()])),
  /** The path that a created file was moved from: that deletion is in the same record. */
  from: v.optional(Path),
  /** It is a symlink: the contents are its targets. */
  symlink: v.optional(v.boolean()),
  /** git's index got another text than the file has, which is as it was. */
  staged: v.optional(v.boolean()),
});
export type FileChange = v.InferOutput<typeof FileChange>;

/** `at`: ms since the epoch. */
const common = { v: v.number(), at: v.number(), id: Text };
/** Whose call: the CLI's session_id, prompt_id, agent_id (of a subagent), tool_name and tool_use_id. */
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
  /** When the CLI became idle, by its own report, in ms since the epoch. */
  idle: v.optional(v.number()),
  /** The commit that HEAD names. */
  head: Head,
});

/** Bash or an MCP tool begins. Its changes follow as a `change` of the same `use`. */
const Begin = v.object({
  ...common,
  ...call,
  type: v.literal("begin"),
  use: Text,
  /** The CLI's process, and where that number is valid (../../lib/process.ts). */
  cli: v.optional(Process),
});

/** A file's content before an editing tool changes it: the tool's answer gives neither line ends nor encoding. */
const Seen = v.object({
  ...common,
  type: v.literal("seen"),
  session: Text,
  use: Text,
  path: Path,
  content: Content,
});

/**
 * The changes of one tool call. Without files it says that the call of this `use` has ended.
 * `source`: "tool" is Claude's editing tools; "bash" what the CLI says of a command; "trees" our own
 * comparison of the work tree before and after, which knows the call by its time.
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
  /** Hooks of the user's run after it, and may format what it wrote. */
  hooked: v.optional(v.boolean()),
  /** Entries that came into git's indexes with the call, by path; mode 0 where it took something out. */
  index: v.optional(v.record(Path, Entry)),
  /** A sentence for the user: what is not known of this call. */
  incomplete: v.optional(Text),
  head: Head,
});

/** The turn has ended; `background`: agents or commands of it still run. */
const Stop = v.object({
  ...common,
  type: v.literal("stop"),
  session: Text,
  prompt: v.optional(Text),
  background: v.optional(v.boolean()),
  /** Nothing else does, but these processes, which its commands have left behind. */
  left: v.optional(v.array(Process)),
});
const End = v.object({ ...common, type: v.literal("end"), session: Text });

/** Neovim wrote these: they are the user's, also while a command of Claude's runs. */
const Written = v.object({
  ...common,
  type: v.literal("written"),
  files: filesOf(v.object({ path: Path, content: Content })),
});

/** Which of Claude's changes a decision is about: a session's, one prompt's, one alone, else all. */
const Scope = v.object({
  session: v.optional(Text),
  prompt: v.optional(Text),
  change: v.optional(Text),
  /** Includes hunks that were kept before. */
  kept: v.optional(v.boolean()),
});
export type RecordedScope = v.InferOutput<typeof Scope>;

const What = v.union([
  v.literal("all"),
  /** Rows of the base text and of the present one: first (from 1) and count. */
  v.object({
    old: v.array(Rows),
    new: v.array(Rows),
    /** And that the file was created or deleted, and its mode. */
    file: v.optional(v.boolean()),
    /** And only its mode. */
    mode: v.optional(v.boolean()),
  }),
]);

const KeptFile = v.object({
  path: Path,
  /** The text that the user looked at. */
  text: Content,
  /** The base text's at that time. */
  base: v.optional(Hash),
  keep: What,
});
const Keep = v.object({
  ...common,
  type: v.literal("keep"),
  scope: v.optional(Scope),
  /** "home": a worktree came home, and waits for its review there. */
  why: v.picklist(["user", "commit", "accepted", "done", "home"]),
  /** The commit, for what was committed. */
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
      /** Permission bits of a file that it removes, or gives others. */
      mode: v.optional(v.number()),
      /** git's index entry before and after, `MODE BLOB`, where Claude had staged its change. */
      index: v.optional(v.tuple([Entry, Entry])),
    }),
  ),
});

/** Takes back the keep or undo of that id; with `path` only in that file. */
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
  /** The comment that this one replaces, sends or deletes; its own id otherwise. */
  comment: v.optional(Text),
  state: v.picklist(["open", "sent", "deleted"]),
  path: Path,
  rows: v.optional(Rows),
  /** The first of those lines, without line ends. */
  lines: v.optional(v.array(Text)),
  text: Text,
});

/** Claude has received in this session that these were undone: ids of undo records. */
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
  Back,
  Comment,
  Reported,
]);
export type JournalRecord = v.InferOutput<typeof JournalRecord>;

export type RecordOf<T extends JournalRecord["type"]> = Extract<JournalRecord, { type: T }>;

/** A record before it gets its version, time and id. */
export type NewRecord = JournalRecord extends infer R
  ? R extends JournalRecord
    ? Omit<R, keyof typeof common> & Partial<Pick<R, "at" | "id">>
    : never
  : never;

export const RECORD_TYPES: ReadonlySet<string> = new Set(
  JournalRecord.options.map(({ entries }) => entries.type.literal),
);
