import * as v from "valibot";
import type { Encoding } from "../../editor/model";
import { pathsOfUri } from "../../lib/file-uri";
import { realPath } from "../../lib/paths";

/** Why an edit is not made: a sentence for Claude. */
export class EditProblem extends Error {
  constructor(message: string) {
    super(`Nothing was changed. ${message}`);
  }
}

/** What lua/claude-code/editor/edits answers of a server. */
export interface ServerEdit {
  edit: unknown;
  encoding: Encoding;
  server: string;
}

const Position = v.object({
  line: v.pipe(v.number(), v.integer(), v.minValue(0)),
  character: v.pipe(v.number(), v.integer(), v.minValue(0)),
});
const Annotated = { annotationId: v.optional(v.string()) };
const Edit = v.pipe(
  v.object({
    ...Annotated,
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
const Options = v.optional(
  v.object({
    overwrite: v.optional(v.boolean()),
    ignoreIfExists: v.optional(v.boolean()),
    ignoreIfNotExists: v.optional(v.boolean()),
  }),
  {},
);
const Document = v.object({ uri: Uri, version: v.optional(v.number()) });
const Renaming = { kind: v.literal("rename"), oldUri: Uri, newUri: Uri };
const DocumentChange = v.union([
  v.object({ textDocument: Document, edits: v.array(Edit) }),
  v.object({ ...Annotated, kind: v.picklist(["create", "delete"]), uri: Uri, options: Options }),
  v.object({ ...Annotated, ...Renaming, options: Options }),
]);

/** What a language server wants to change (LSP 3.17, `WorkspaceEdit`). */
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
type WorkspaceEdit = v.InferOutput<typeof WorkspaceEdit>;

/** One step of an edit, as Lua takes it (editor/edits/apply.lua). Paths are real ones. */
export type Operation = { path: string } & (
  | { kind: "edit"; edits: object[]; encoding: Encoding; version?: number }
  | { kind: "create" | "delete" | "rename"; new_path?: string; ignore: boolean }
);

/** What a server sent, checked, in its order. Throws EditProblem. */
export function operationsOf({ edit, encoding, server }: ServerEdit): Operation[] {
  const result = v.safeParse(WorkspaceEdit, withoutNulls(edit));
  if (!result.success) {
    const where = result.issues.map((issue) => v.getDotPath(issue) ?? "the whole")[0];
    throw new EditProblem(`The edit of ${server} is not in the protocol: ${where}.`);
  }
  const changes = changesOf(result.output);
  refuseConfirmations(result.output, changes);
  return changes.map((change): Operation => {
    if (!("kind" in change)) {
      const { uri, version } = change.textDocument;
      const edits = change.edits.map(({ range, newText }) => ({ range, newText }));
      const about = version === undefined ? {} : { version };
      return { kind: "edit", path: pathOf(uri), edits, encoding, ...about };
    }
    const { overwrite, ignoreIfExists, ignoreIfNotExists } = change.options;
    if (overwrite) throw new EditProblem(`${server} wants to overwrite a file.`);
    if (change.kind === "rename") {
      const [path, new_path] = [pathOf(change.oldUri), pathOf(change.newUri)];
      return { kind: "rename", path, new_path, ignore: ignoreIfExists ?? false };
    }
    const ignore = (change.kind === "create" ? ignoreIfExists : ignoreIfNotExists) ?? false;
    return { kind: change.kind, path: pathOf(change.uri), ignore };
  });
}

/** `documentChanges` alone counts where both are there (LSP 3.17). */
function changesOf({ changes = {}, documentChanges }: WorkspaceEdit) {
  const plain = Object.entries(changes).map(([uri, edits]) => ({ textDocument: { uri }, edits }));
  return documentChanges ?? (plain as v.InferOutput<typeof DocumentChange>[]);
}

/** Servers send null for what they leave out. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(entries.map(([key, one]) => [key, withoutNulls(one)]));
}

/** rust-analyzer sends an annotation that needs it with each edit, for the edits it may be about. */
function refuseConfirmations(
  { changeAnnotations = {} }: WorkspaceEdit,
  changes: ReturnType<typeof changesOf>,
): void {
  const ids = changes.flatMap((change) =>
    "kind" in change ? change.annotationId : change.edits.map(({ annotationId }) => annotationId),
  );
  const asked = ids.map((id) => changeAnnotations[id ?? ""]).find((one) => one?.needsConfirmation);
  if (!asked) return;
  throw new EditProblem(
    `The language server wants the user to confirm this ("${asked.label}"): it can only be done in the editor.`,
  );
}

function pathOf(uri: string): string {
  const [path] = pathsOfUri(uri);
  if (path === undefined) throw new EditProblem(`${uri} is not a file of this machine.`);
  if (/\p{Cc}/u.test(path)) throw new EditProblem(`${uri} holds control characters.`);
  return realPath(path);
}

/** Stand for what a snippet escapes, while the rest is read. */
const ESCAPED: Record<string, string> = { "\\": "\u0001", $: "\u0002", "}": "\u0003" };

/** A snippet's text without an editor that fills it in: placeholders are their defaults. */
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
