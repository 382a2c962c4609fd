import * as v from "valibot";
import { Failure } from "../lib/errors";
import { isObject } from "../lib/json";

/*
 * Parameters of Neovim's requests for a review. Paths are absolute. `text` has the exact bytes that Neovim would write for
 * a buffer, with line ends and BOM, in the file's encoding. Neovim sends it in the form of LastText below, or in base64.
 * Without `text`, no buffer has the file, and we read the disk.
 */

const Path = v.string();
const Text = v.optional(
  v.union([
    v.instance(Uint8Array),
    v.pipe(
      v.string(),
      v.transform((text) => new Uint8Array(Buffer.from(text, "base64"))),
    ),
  ]),
);
const Id = v.string();
const WithText = v.object({ path: Path, text: Text });

/**
 * "unreviewed" covers all sessions, "all" also kept changes, "session" and "turn" one session, and "since" a turn and all
 * later ones, also their kept changes.
 */
const Scope = {
  scope: v.optional(v.picklist(["turn", "since", "session", "all", "unreviewed"]), "unreviewed"),
  /** By default the session with the last prompt or change. */
  session: v.optional(v.string()),
  /** The number of the turn. By default the last one. */
  turn: v.optional(v.number()),
  /** The root of the project that counts this turn: a session in a worktree has a list of its own. */
  project: v.optional(v.string()),
  /** The number of the last turn of "since". By default the last one. */
  last: v.optional(v.number()),
};

const ScopeObject = v.object(Scope);
export type Scoped = v.InferOutput<typeof ScopeObject>;

export const List = v.object({
  ...Scope,
  /** Files, or folders. */
  paths: v.optional(v.array(Path)),
  /** Buffers with unsaved changes. */
  texts: v.optional(v.array(WithText), []),
  /** The `version` of Neovim's last answer. If it is still current, the new answer says only that. */
  known: v.optional(v.string()),
});

export const File = v.object({ ...Scope, path: Path, text: Text });

const Chosen = v.object({
  path: Path,
  text: Text,
  /** Ids of hunks from the list, or "mode". "file", or leaving this out, means the whole file. */
  hunks: v.optional(v.array(Id)),
  /** First and last row of the text, from 1. Chooses the parts of hunks in these rows. */
  range: v.optional(v.tuple([v.number(), v.number()])),
});

export const Keep = v.object({
  ...Scope,
  files: v.array(Chosen),
  /** The versions of a plan. If something has changed since, nothing is decided. */
  plan: v.optional(v.array(v.string())),
});

export const Undo = v.object({
  ...Keep.entries,
  /** Also undo conflicts. The user's rows then stay beside those of the base text. */
  keep_both: v.optional(v.boolean(), false),
});

export const Back = v.object({
  /** The id that review/last returned. By default the last decision. */
  decision: v.optional(Id),
  files: v.optional(v.array(WithText), []),
  /** A file whose buffer has the text from before the undo already, through Neovim's own undo. */
  path: v.optional(Path),
});

export const Why = v.object({ path: Path, text: Text, row: v.number() });

export const Base = v.object({ path: Path });

export const Accepted = v.object({ path: Path, text: v.nonOptional(Text) });

export const Done = v.object({
  ...Scope,
  paths: v.optional(v.array(Path)),
  texts: v.optional(v.array(WithText), []),
});

/** `name` is that of the turn in questions. */
export const Plan = v.object({ ...Done.entries, name: v.optional(v.string(), "its last turn") });

export const Alike = v.object({ ...Done.entries, path: Path, hunk: Id });

export type Listing = v.InferOutput<typeof Done>;

/** `lead` begins the words. */
export const Turns = v.object({ session: v.optional(v.string()), lead: v.string() });

/** By default the session with the last prompt, and its last turn. `at` is when the CLI got a prompt, in ms since the epoch. */
export const Turn = v.object({
  session: v.optional(v.string()),
  turn: v.optional(v.number()),
  at: v.optional(v.number()),
});

export const Commit = v.object({
  /** A file of the project. By default the workspace's first project. */
  path: v.optional(Path),
  /** Whether the message begins with the prompts that led to the hunks. */
  draft: v.optional(v.boolean(), false),
  texts: v.optional(v.array(WithText), []),
});

export const Message = v.object({
  /** The command of the Claude CLI: the option `terminal.command`, with the path of the program. */
  command: v.array(v.string()),
  /** The option `terminal.env`. */
  env: v.record(v.string(), v.string()),
});

const MAX_LINES = 20;
const MAX_CHARACTERS = 20_000;

const Comment = v.object({
  /** The id of an existing comment. Without it, the comment is new. */
  comment: v.optional(Id),
  state: v.picklist(["open", "sent", "deleted"]),
  path: Path,
  /** First row, from 1, and count. */
  rows: v.tuple([v.number(), v.number()]),
  /** The first of these lines, to find them again. */
  lines: v.pipe(v.array(v.string()), v.maxLength(MAX_LINES)),
  text: v.pipe(v.string(), v.maxLength(MAX_CHARACTERS)),
});

export const Comments = v.object({ changes: v.array(Comment) });

/**
 * `over` is the file's earlier content, if Neovim had not written it. `version` identifies the file that Neovim wrote
 * (fileVersion in lib/paths.ts).
 */
export const Written = v.object({ path: Path, over: Text, version: v.optional(v.string()) });

/** The option `review.ignore`. */
export const Ignore = v.object({ patterns: v.array(v.string()) });

/** The options `privacy.*`. */
export const Privacy = v.object({ defaults: v.boolean(), patterns: v.array(v.string()) });

const Sent = v.object({
  id: v.number(),
  /** In base64. Left out if an earlier request had this text, and no later request had another. */
  bytes: v.optional(v.string()),
});

/** The last text that Neovim sent. Further requests about this text have only its id. */
export class LastText {
  #last: { id: number; bytes: Uint8Array } | undefined;

  /** Replaces each text in a request by its bytes: the same object for the same text. Throws Failure. */
  resolve(value: unknown): unknown {
    if (value instanceof Uint8Array) return value;
    if (v.is(Sent, value)) return this.#take(value);
    if (Array.isArray(value)) return value.map((one) => this.resolve(one));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.resolve(one)]));
  }

  #take({ id, bytes }: v.InferOutput<typeof Sent>): Uint8Array {
    if (bytes !== undefined)
      this.#last = { id, bytes: new Uint8Array(Buffer.from(bytes, "base64")) };
    if (this.#last?.id === id) return this.#last.bytes;
    throw new Failure("the text of this buffer did not arrive: try again");
  }
}
