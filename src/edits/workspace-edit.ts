import * as v from "valibot";
import type { Encoding } from "../editor/model";
import { pathsOfUri } from "../lib/file-uri";
import { realPath } from "../lib/paths";
import { EditProblem } from "./problem";
import { textOfSnippet } from "./snippet";
import type { TextEdit } from "./text-edits";
import type { VirtualFiles } from "./virtual-files";

const Position = v.object({
  line: v.pipe(v.number(), v.integer(), v.minValue(0)),
  character: v.pipe(v.number(), v.integer(), v.minValue(0)),
});
const Range = v.object({ start: Position, end: Position });
const PlainEdit = v.object({
  range: Range,
  newText: v.string(),
  annotationId: v.optional(v.string()),
  /** 2: a snippet (rust-analyzer's `SnippetTextEdit`). */
  insertTextFormat: v.optional(v.number()),
});
/** LSP 3.18. */
const SnippetEdit = v.object({
  range: Range,
  snippet: v.object({ value: v.string() }),
  annotationId: v.optional(v.string()),
});
const Edit = v.pipe(
  v.union([PlainEdit, SnippetEdit]),
  v.transform((edit): TextEdit & { annotationId?: string | undefined } => {
    const { range, annotationId } = edit;
    if ("snippet" in edit) {
      return { range, annotationId, newText: textOfSnippet(edit.snippet.value) };
    }
    const { newText, insertTextFormat } = edit;
    return {
      range,
      annotationId,
      newText: insertTextFormat === 2 ? textOfSnippet(newText) : newText,
    };
  }),
);
const Annotated = { annotationId: v.optional(v.string()) };
const Uri = v.string();
const TextDocumentEdit = v.object({
  textDocument: v.object({ uri: Uri, version: v.nullish(v.number()) }),
  edits: v.array(Edit),
});
const Options = v.optional(
  v.object({
    overwrite: v.optional(v.boolean()),
    ignoreIfExists: v.optional(v.boolean()),
    ignoreIfNotExists: v.optional(v.boolean()),
    recursive: v.optional(v.boolean()),
  }),
  {},
);
const DocumentChange = v.union([
  TextDocumentEdit,
  v.object({ ...Annotated, kind: v.literal("create"), uri: Uri, options: Options }),
  v.object({
    ...Annotated,
    kind: v.literal("rename"),
    oldUri: Uri,
    newUri: Uri,
    options: Options,
  }),
  v.object({ ...Annotated, kind: v.literal("delete"), uri: Uri, options: Options }),
]);

/** What a language server wants to change (LSP 3.17, `WorkspaceEdit`). */
export const WorkspaceEdit = v.object({
  changes: v.optional(v.record(Uri, v.array(Edit))),
  documentChanges: v.optional(v.array(DocumentChange)),
  changeAnnotations: v.optional(
    v.record(
      v.string(),
      v.object({ label: v.string(), needsConfirmation: v.optional(v.boolean()) }),
    ),
  ),
});
export type WorkspaceEdit = v.InferOutput<typeof WorkspaceEdit>;

/** What a server sent, checked. `server`: its name. Throws EditProblem. */
export function parseWorkspaceEdit(edit: unknown, server: string): WorkspaceEdit {
  const result = v.safeParse(WorkspaceEdit, withoutNulls(edit));
  if (result.success) return result.output;
  const where = result.issues.map((issue) => v.getDotPath(issue) ?? "the whole")[0];
  throw new EditProblem(`The edit of ${server} is not in the protocol: ${where}.`);
}

/** Servers send null for what they leave out. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(entries.map(([key, one]) => [key, withoutNulls(one)]));
}

/** Does everything of a WorkspaceEdit in `files`, in its order. Throws EditProblem. */
export function applyWorkspaceEdit(
  edit: WorkspaceEdit,
  encoding: Encoding,
  files: VirtualFiles,
): void {
  refuseConfirmations(edit);
  const encoded = (edits: v.InferOutput<typeof Edit>[]) =>
    edits.map((one) => ({ ...one, encoding }));
  // `documentChanges` alone counts where both are there (LSP 3.17).
  if (!edit.documentChanges) {
    for (const [uri, edits] of Object.entries(edit.changes ?? {})) {
      files.edit(pathOf(uri), encoded(edits));
    }
    return;
  }
  for (const change of edit.documentChanges) {
    if (!("kind" in change)) {
      const { uri } = change.textDocument;
      files.edit(pathOf(uri), encoded(change.edits));
    } else if (change.kind === "create") files.create(pathOf(change.uri), change.options);
    else if (change.kind === "delete") files.remove(pathOf(change.uri), change.options);
    else files.move(pathOf(change.oldUri), pathOf(change.newUri), change.options);
  }
}

/** The files that an edit is about, with the versions of their texts for which it was made. */
export function filesOf(edit: WorkspaceEdit): { path: string; version?: number }[] {
  const versions = new Map<string, number | undefined>();
  const add = (uri: string, version?: number | null) => {
    const path = realPath(pathOf(uri));
    versions.set(path, versions.get(path) ?? version ?? undefined);
  };
  if (!edit.documentChanges) for (const uri of Object.keys(edit.changes ?? {})) add(uri);
  for (const change of edit.documentChanges ?? []) {
    if (!("kind" in change)) add(change.textDocument.uri, change.textDocument.version);
    else if (change.kind !== "rename") add(change.uri);
    else for (const uri of [change.oldUri, change.newUri]) add(uri);
  }
  return [...versions].map(([path, version]) => ({
    path,
    ...(version !== undefined && { version }),
  }));
}

/** rust-analyzer sends an annotation that needs it with each edit, for the edits it may be about. */
function refuseConfirmations({
  changes = {},
  documentChanges,
  changeAnnotations = {},
}: WorkspaceEdit): void {
  const ids = documentChanges
    ? documentChanges.flatMap((change) =>
        "kind" in change ? change.annotationId : idsOf(change.edits),
      )
    : Object.values(changes).flatMap(idsOf);
  const asked = ids.map((id) => changeAnnotations[id ?? ""]).find((one) => one?.needsConfirmation);
  if (!asked) return;
  throw new EditProblem(
    `The language server wants the user to confirm this ("${asked.label}"): it can only be done in the editor.`,
  );
}

function idsOf(edits: v.InferOutput<typeof Edit>[]): (string | undefined)[] {
  return edits.map(({ annotationId }) => annotationId);
}

function pathOf(uri: string): string {
  const [path] = pathsOfUri(uri);
  if (path === undefined) throw new EditProblem(`${uri} is not a file of this machine.`);
  if (/\p{Cc}/u.test(path)) throw new EditProblem(`${uri} holds control characters.`);
  return path;
}
