import * as v from "valibot";
import { isObject } from "../lib/json";
import { own } from "../lib/own";
import { visibleLine } from "../lib/visible";
import type { ReviewMethod } from "../review/requests";
import type { Mirror } from "./mirror";
import type { PathMap } from "./path-map";

/* A review in a remote, whose requests and answers cross here: with the paths of the other side, and checked. */

/** Of what the relay says to the user, and of a prompt. */
const MOST_CHARACTERS = 20_000;

const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER));
const rows = v.tuple([count, count]);
const text = v.pipe(v.string(), v.maxLength(MOST_CHARACTERS));
const words = v.pipe(
  v.string(),
  v.transform((said) => visibleLine(said, 500)),
);
const bytes = v.pipe(
  v.string(),
  v.transform((base64): Uint8Array => Buffer.from(base64, "base64")),
);
const lines = v.array(bytes);
const is = v.optional(v.boolean());
const later = v.picklist(["user", "claude"]);
const counts = v.object({ files: count, hunks: count, added: count, removed: count });
const owners = v.array(
  v.object({
    session: text,
    turn: v.optional(count),
    prompt: v.optional(text),
    agent: v.optional(text),
    tool: text,
    command: v.optional(v.string()),
    at: v.number(),
  }),
);
const hunk = v.object({
  id: text,
  old: rows,
  new: rows,
  added: count,
  removed: count,
  mixed: v.boolean(),
  conflict: v.optional(later),
  queued: v.optional(v.boolean()),
  owners,
  in_parts: is,
  code: v.optional(bytes),
  old_lines: v.optional(lines),
  new_lines: v.optional(lines),
});
const KINDS = ["changed", "created", "deleted", "renamed", "binary", "mode", "unseen"] as const;
/** A word before the id of each decision there: no other one is meant by it. */
const tagOf = (name: string) => `remote ${name} `;

/** Those of a list that are as they should be. */
function some<T extends v.GenericSchema>(schema: T) {
  const checked = (all: unknown[]): v.InferOutput<T>[] =>
    all.flatMap((one) => {
      const { success, output } = v.safeParse(schema, one);
      return success ? [output] : [];
    });
  return v.pipe(v.array(v.unknown()), v.transform(checked));
}

/** What each method of the review may answer, and what is reported: files of a mirror alone, by their paths here. */
export function answersOf(name: string, map: PathMap, mirror: Mirror) {
  const path = v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const host = map.toHost(dataset.value);
      if (host !== undefined && mirror.holds(host)) return host;
      addIssue({ message: "is no path of a folder that is there alone" });
      return NEVER;
    }),
  );
  const id = v.pipe(
    text,
    v.transform((given) => tagOf(name) + given),
  );
  const file = v.object({
    path,
    kind: v.picklist(KINDS),
    binary: is,
    from: v.optional(path),
    same_text: is,
    hunk_count: count,
    hunks: v.array(hunk),
    mode: v.optional(
      v.object({ before: count, after: count, queued: v.optional(v.boolean()), owners }),
    ),
    owners,
    queued: v.optional(v.boolean()),
    cannot_undo: v.optional(words),
    version: text,
  });
  const edit = v.object({ first: count, count, expected: lines, lines });
  const conflict = v.object({ hunk: text, by: later, base: lines, claude: lines, now: lines });
  const decision = v.object({
    decision: v.optional(id),
    queued: v.optional(is),
    files: some(
      v.object({
        path,
        problem: v.optional(words),
        edits: v.optional(v.array(edit)),
        eol: is,
        removed: is,
        same: is,
        conflicts: v.optional(v.array(conflict)),
        staged: is,
      }),
    ),
  });
  // It changes no text.
  const kept = v.object({
    decision: v.optional(id),
    files: some(v.object({ path, problem: v.optional(words) })),
  });
  const nothing = v.optional(v.null());
  const list = v.object({
    version: text,
    files: some(file),
    counts,
    incomplete: v.array(words),
    ignored: count,
    since: v.optional(words),
  });
  const methods = {
    list: v.union([list, v.object({ unchanged: v.literal(true) })]),
    file: v.optional(file),
    keep: kept,
    undo: decision,
    last: v.optional(v.object({ decision: id, type: text, at: v.number(), paths: some(path) })),
    back: decision,
    done: kept,
    commit: v.object({
      commit: v.optional(words),
      files: count,
      hunks: count,
      notes: v.array(words),
    }),
    why: v.optional(v.object({ hunk: v.optional(hunk), owners })),
    base: v.optional(v.object({ text: bytes })),
    // Of no use here, and the user's own words.
    comments: nothing,
    accepted: nothing,
    written: nothing,
    privacy: nothing,
    ignore: nothing,
  } satisfies Record<ReviewMethod, v.GenericSchema>;
  const summary = v.object({
    counts,
    incomplete: v.boolean(),
    due: v.optional(v.array(v.object({ decision: id })), []),
    runs: v.boolean(),
  });
  return { methods, summary };
}

export type Answers = ReturnType<typeof answersOf>;
export type AnswerOf<M extends ReviewMethod> = v.InferOutput<Answers["methods"][M]>;
export type RemoteSummary = v.InferOutput<Answers["summary"]>;

export function isDecisionOf(name: string, id: unknown): boolean {
  return typeof id === "string" && id.startsWith(tagOf(name));
}

/** The same request with paths of the remote, and bytes in base64. What has no path there is left out. */
export function requestToRemote(request: unknown, name: string, map: PathMap): unknown {
  const paths = (all: unknown) =>
    Array.isArray(all) ? all.flatMap((path) => map.toRemote(String(path)) ?? []) : undefined;
  const fields = {
    path: (path: unknown) => (path === undefined ? undefined : map.toRemote(String(path))),
    root: (path: unknown) => map.toRemote(String(path)),
    paths,
    expanded: paths,
    decision: (id: unknown) => idThere(id, name),
    queued: (id: unknown) => idThere(id, name),
  };
  return withFields(request, fields);
}

/** A message with other values in these fields, and bytes in base64. */
export function withFields(
  value: unknown,
  fields: Readonly<Record<string, (value: unknown) => unknown>>,
): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map((one) => withFields(one, fields));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, one]) => {
    const change = own(fields, key);
    return [key, change ? change(one) : withFields(one, fields)];
  });
  return Object.fromEntries(entries);
}

function idThere(id: unknown, name: string): unknown {
  return isDecisionOf(name, id) ? String(id).slice(tagOf(name).length) : id;
}
