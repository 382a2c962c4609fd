import * as v from "valibot";
import { Failure } from "../lib/errors";
import { isObject } from "../lib/json";

/*
 * Parameters of Neovim's requests for a review. Paths are absolute. `text` is a buffer's text as it would be
 * written, to the byte: with line ends, BOM and in the file's encoding. Neovim sends it as LastText
 * below takes it, or in base64. It is left out for a file that no buffer has loaded: then the disk counts.
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

/** "unreviewed" (and "all" with what was kept): every session's; "session", "turn": of `session`. */
const Scope = {
  scope: v.optional(v.picklist(["turn", "session", "all", "unreviewed"]), "unreviewed"),
  /** The one that did something last if left out. */
  session: v.optional(v.string()),
};

const ScopeObject = v.object(Scope);
export type Scoped = v.InferOutput<typeof ScopeObject>;

export const List = v.object({
  ...Scope,
  /** Files, or folders. */
  paths: v.optional(v.array(Path)),
  /** Buffers with unsaved changes. */
  texts: v.optional(v.array(WithText), []),
  /** `version` of the answer that Neovim has: if it is the same, it learns that. */
  known: v.optional(v.string()),
});

export const File = v.object({ ...Scope, path: Path, text: Text });

const Chosen = v.object({
  path: Path,
  text: Text,
  /** Ids of hunks as they were listed, and "mode"; "file", or neither of the two, is the whole file. */
  hunks: v.optional(v.array(Id)),
  /** First and last row of the text, from 1: what of hunks is there. */
  range: v.optional(v.tuple([v.number(), v.number()])),
});

export const Keep = v.object({ ...Scope, files: v.array(Chosen) });

export const Undo = v.object({
  ...Keep.entries,
  /** Undo conflicts, too: the user's rows stay, beside those of the base text. */
  keep_both: v.optional(v.boolean(), false),
});

export const Back = v.object({
  /** As review/last gave it: another one was made since if it is not the last. */
  decision: v.optional(Id),
  files: v.optional(v.array(WithText), []),
  /** The buffer of this file has the text of before that undo already, by Neovim's own. */
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

export type Listing = v.InferOutput<typeof Done>;

export const Commit = v.object({
  /** A file of the project; the workspace's first one if it is left out. */
  path: v.optional(Path),
  /** The message begins with the prompts that made the hunks. */
  draft: v.optional(v.boolean(), false),
  texts: v.optional(v.array(WithText), []),
});

export const Message = v.object({
  /** Starts the Claude CLI: the option `terminal.command`, with the path of its program. */
  command: v.array(v.string()),
  /** The option `terminal.env`. */
  env: v.record(v.string(), v.string()),
});

const MAX_LINES = 20;
const MAX_CHARACTERS = 20_000;

const Comment = v.object({
  /** The one that is changed; a new one if it is left out. */
  comment: v.optional(Id),
  state: v.picklist(["open", "sent", "deleted"]),
  path: Path,
  /** First row, from 1, and count. */
  rows: v.tuple([v.number(), v.number()]),
  /** The first of them, to find them again. */
  lines: v.pipe(v.array(v.string()), v.maxLength(MAX_LINES)),
  text: v.pipe(v.string(), v.maxLength(MAX_CHARACTERS)),
});

export const Comments = v.object({ changes: v.array(Comment) });

/**
 * `over`: what the file held before, where Neovim had not written it. `version`: of the file as Neovim has written it
 * (lib/file-version.ts).
 */
export const Written = v.object({ path: Path, over: Text, version: v.optional(v.string()) });

/** The option `review.ignore`. */
export const Ignore = v.object({ patterns: v.array(v.string()) });

/** The options `privacy.*`. */
export const Privacy = v.object({ defaults: v.boolean(), patterns: v.array(v.string()) });

const Sent = v.object({
  id: v.number(),
  /** In base64; left out if they came with an earlier request, and no other text since. */
  bytes: v.optional(v.string()),
});

/** The text that one Neovim sent last: requests that are about it have only its id from then on. */
export class LastText {
  #last: { id: number; bytes: Uint8Array } | undefined;

  /**
   * A request with bytes in place of each text that was sent so, the same object for the same text.
   * Throws Failure.
   */
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
