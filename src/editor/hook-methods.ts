/**
 * Methods of Neovim for hooks, prompts and comments, a part of METHODS. With each call a hook says to which CLI it
 * belongs: HookCall in `src/hooks/call.ts`.
 */
import * as v from "valibot";
import { Diagnostic } from "./model";

const FOREVER = Number.POSITIVE_INFINITY;
const Nothing = v.object({});
const Edit = v.object({ path: v.string(), created: v.boolean() });

export const HOOK_METHODS = {
  session_start: { params: v.object({ source: v.optional(v.string()) }), result: v.unknown() },
  session_finish: { params: Nothing, result: v.unknown() },
  /** If `report` is true, Claude must see new problems now. The hook waits up to `timeout_ms` for them. */
  session_edited: {
    params: Edit,
    result: v.object({ report: v.boolean(), timeout_ms: v.number() }),
  },
  /** The problems since the last edit of a file; all its problems if the state before was not `known`. */
  session_new_problems: {
    params: Edit,
    result: v.object({ settled: v.boolean(), known: v.boolean(), items: v.array(Diagnostic) }),
  },
  /** The problems of the files that the session has edited; undefined if it has not edited any. */
  session_summary: {
    params: Nothing,
    result: v.optional(
      v.object({
        settled: v.boolean(),
        /** The cause of missing reports: "gopls is still indexing". */
        unknown: v.optional(v.string()),
        /** "Claude 2 (docs)", if several run in this Neovim. */
        session: v.optional(v.string()),
        may_block: v.boolean(),
        timeout_ms: v.number(),
        /** The limit of the whole wait while language servers start or index. */
        busy_timeout_ms: v.number(),
        retries: v.number(),
        blocked: v.number(),
        errors: v.number(),
        warnings: v.number(),
        others: v.number(),
        worst: v.array(v.object({ path: v.string(), item: Diagnostic })),
      }),
    ),
  },
  session_blocked: { params: Nothing, result: v.unknown() },
  /**
   * Claude may stop. `waited`: the hook waited for language servers. `unknown`: a message for the user if they did not
   * report in time.
   */
  session_allowed: {
    params: v.object({ waited: v.optional(v.literal(true)) }),
    result: v.object({ unknown: v.optional(v.string()) }),
  },
  /** `text` is the file's text after Claude's edit. */
  edit_is_held: {
    params: v.object({ path: v.string(), text: v.optional(v.string()) }),
    result: v.optional(v.boolean()),
  },
  /** Waits for the user's unsaved edits of the file. */
  edit_hold: { params: v.object({ path: v.string() }), result: v.unknown() },
  permission_wanted: {
    params: v.object({ plan: v.optional(v.string()) }),
    result: v.boolean(),
  },
  /** The user's answer, if there is one. */
  permission_request: {
    params: v.custom<object>(() => true),
    result: v.optional(
      v.object({
        allow: v.boolean(),
        /** The number of one of the CLI's suggestions, from 1. */
        suggestion: v.optional(v.number()),
        /** The reason of a rejection, for Claude. */
        reason: v.optional(v.string()),
        /** For each question, the numbers of options, from 1, or the user's own text. */
        replies: v.optional(
          v.array(
            v.object({
              options: v.optional(v.array(v.number())),
              text: v.optional(v.string()),
            }),
          ),
        ),
        /** The plan, if the user has edited it, and the mode in which Claude continues. */
        plan: v.optional(v.string()),
        mode: v.optional(v.picklist(["default", "acceptEdits"])),
      }),
    ),
  },
  /** Opens a file for a CLI that uses us as $VISUAL. Resolves when the user closes it, to true if they wrote it. */
  prompt_edit: {
    params: v.object({
      path: v.string(),
      kind: v.string(),
      n: v.optional(v.number()),
      line: v.optional(v.number()),
    }),
    result: v.unknown(),
  },

  /** The client with this process id has received these mentions. */
  mentions_delivered: {
    params: v.object({ ids: v.array(v.number()), pid: v.optional(v.number()) }),
    result: v.unknown(),
    deadlineMs: FOREVER,
  },
  /**
   * Submits a text of the user as a prompt to the CLI with this process id. `connected` is false if the CLI is gone,
   * and only the user can send the text. Returns true if the CLI runs in a terminal of this Neovim.
   */
  prompt_submit: {
    params: v.object({
      pid: v.optional(v.number()),
      text: v.string(),
      connected: v.boolean(),
    }),
    result: v.optional(v.boolean()),
    deadlineMs: FOREVER,
  },
  /** The user's comments that are not sent yet, as one text. They count as sent then. */
  review_comments: { params: Nothing, result: v.string() },
} as const;
