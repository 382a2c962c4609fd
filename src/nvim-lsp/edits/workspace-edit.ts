import * as v from "valibot";
import type { Encoding } from "../../editor/model";
import { Failure } from "../../lib/errors";
import { pathsOfUri } from "../../lib/file-uri";
import { MAX_PATH_BYTES, realPath } from "../../lib/paths";

/** The failure of an edit. `why` is a sentence for Claude. */
export const unchanged = (why: string) => new Failure(`Nothing was changed. ${why}`);

/** The answer of lua/claude-code/editor/edits for one server. */
export interface ServerEdit {
  edit: unknown;
  encoding: Encoding;
  server: string;
}

const Position = v.object({
  line: v.pipe(v.number(), v.integer(), v.minValue(0)),
  character: v.pipe(v.number(), v.integer(), v.minValue(0)),
});
const Edit = v.pipe(
  v.object({
    annotationId: v.optional(v.string()),
    range: v.object({ start: Position, end: Position }),
    newText: v.optional(v.string()),
    /** 2: a snippet (rust-analyzer's `SnippetTextEdit`). */
    insertTextFormat: v.optional(v.number()),
    /** LSP 3.18. */
    snippet: v.optional(v.object({ value: v.string() })),
  }),
  v.check(({ newText, snippet }) => (newText ?? snippet) !== undefined),
  v.transform(({ range, annotationId, newText = "", insertTextFormat, snippet }) => {
    const isSnippet = snippet !== undefined || insertTextFormat === 2;
    const text = snippet?.value ?? newText;
    return { range, annotationId, newText: isSnippet ? textOfSnippet(text) : text };
  }),
);
const Uri = v.string();
const DocumentChange = v.union([
  v.object({
    textDocument: v.object({ uri: Uri, version: v.optional(v.number()) }),
    edits: v.array(Edit),
  }),
  v.object({ kind: v.picklist(["create", "rename", "delete"]) }),
]);

/** The edit of a language server (LSP 3.17, `WorkspaceEdit`). */
const WorkspaceEdit = v.object({
  changes: v.optional(v.record(Uri, v.array(Edit))),
  documentChanges: v.optional(v.array(DocumentChange)),
  changeAnnotations: v.optional(
    v.record(
      v.string(),
      v.object({ label: v.string(), needsConfirmation: v.optional(v.boolean()) }),
    ),
  ),
});

/** The edits of one file for editor/edits/apply.lua. `path` is a real path. */
export interface FileEdit {
  path: string;
  edits: object[];
  encoding: Encoding;
  version?: number;
}

/** Checks a server's edit, and preserves the order of the changes. Throws Failure. */
export function fileEditsOf({ edit, encoding, server }: ServerEdit): FileEdit[] {
  const result = v.safeParse(WorkspaceEdit, withoutNulls(edit));
  if (!result.success) {
    const where = result.issues.map((issue) => v.getDotPath(issue) ?? "the whole")[0];
    throw unchanged(`The edit of ${server} breaks the protocol: ${where}.`);
  }
  const { changes = {}, documentChanges, changeAnnotations = {} } = result.output;
  const plain = Object.entries(changes).map(([uri, edits]) => ({ textDocument: { uri }, edits }));
  // `documentChanges` takes precedence if both exist (LSP 3.17).
  const all: v.InferOutput<typeof DocumentChange>[] = documentChanges ?? plain;
  return all.map((change): FileEdit => {
    if ("kind" in change) {
      throw unchanged(
        `${server} wants to create, move or delete files: this tool only edits texts.`,
      );
    }
    // rust-analyzer always sends an annotation that needs confirmation, so check whether an edit refers to it.
    const asked = change.edits
      .map(({ annotationId }) => changeAnnotations[annotationId ?? ""])
      .find((one) => one?.needsConfirmation);
    if (asked) {
      throw unchanged(
        `${server} wants the user to confirm this ("${asked.label}"): it can only be done in the editor.`,
      );
    }
    const { uri, version } = change.textDocument;
    const edits = change.edits.map(({ range, newText }) => ({ range, newText }));
    return { path: pathOf(uri), edits, encoding, ...(version !== undefined && { version }) };
  });
}

/** Removes fields that are null, because servers send null for missing fields. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(entries.map(([key, one]) => [key, withoutNulls(one)]));
}

function pathOf(uri: string): string {
  const [path] = pathsOfUri(uri);
  if (path === undefined) throw unchanged(`${uri} is not a file of this machine.`);
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw unchanged("A file's path is too long.");
  if (/\p{Cc}/u.test(path)) throw unchanged(`${uri} contains control characters.`);
  return realPath(path);
}

/** Placeholders for escaped characters while we parse the snippet. */
const ESCAPED: Record<string, string> = { "\\": "\u0001", $: "\u0002", "}": "\u0003" };

/** The text of a snippet, with the default of each placeholder. */
export function textOfSnippet(snippet: string): string {
  let text = snippet
    .replaceAll(/\\([\\$}])/g, (_, char: string) => ESCAPED[char] ?? char)
    .replaceAll(/\$\{\w+\|([^,|}]*)[^|}]*\|\}/g, "$1")
    .replaceAll(/\$(?:\d+|[A-Za-z_]\w*)|\$\{\w+\}/g, "");
  for (let before = ""; before !== text; ) {
    before = text;
    text = text.replaceAll(/\$\{\w+:([^${}]*)\}/g, "$1");
  }
  for (const [char, mark] of Object.entries(ESCAPED)) text = text.replaceAll(mark, () => char);
  return text;
}
