import * as v from "valibot";
import type { EditorPort } from "../../editor/methods";
import type { Diagnostic, EditorBuffer, FilePath } from "../../editor/model";
import { resolveUri } from "../../editor/path";
import { bufferAt, SEVERITY_NAMES } from "../../editor/state";
import { failureCode } from "../../lib/errors";
import { fileUri, rawUri } from "../../lib/file-uri";
import { realPath } from "../../lib/paths";
import { type Client, failed, isClaudeCode, json, type ToolResult } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import type { FileNames } from "./diffs";

/** Claude Code (2.1.330) waits 500 ms for the diagnostics of one file. */
const ONE_FILE_DEADLINE_MS = 300;
/** It waits 2,000 ms for those of all files, and still uses an answer after 1,500 ms. */
const ALL_FILES_DEADLINE_MS = 1_500;
/** More would block the client for too long. The answer says that it is cut. */
const MAX_ITEMS = 10_000;

const Input = v.object({
  uri: v.optional(v.pipe(v.string(), v.description("File URI; all files if left out"))),
});

/** Spec 4.6. Returns one file's diagnostics at once, and those of all files when servers have seen the last write. */
export function getDiagnostics(editor: EditorPort, names: FileNames): Tool {
  const unknownBefore = new WeakMap<Client, Set<string>>();

  async function oneFile(uri: string, client: Client): Promise<ToolResult> {
    const candidates = resolveUri(uri);
    const [likely] = candidates;
    if (!likely) return failed(`Not a file URI of this machine: ${uri}`);
    await syncUpTo(editor, ONE_FILE_DEADLINE_MS);
    const { state } = editor;
    const { given, path } = candidates.find((one) => bufferAt(state, one.path)) ?? likely;
    const real = names.remember(client, path, given);
    const buffer = bufferAt(state, path);
    if (isClaudeCode(client)) expectWrite(real, buffer, client);
    const items = buffer ? state.diagnosticsOf(buffer.buf) : [];
    return json(published([{ uri: uriFor(client, given), items }]));
  }

  /** Claude Code asks for the diagnostics of a file right before it writes the file. */
  function expectWrite(real: FilePath, buffer: EditorBuffer | undefined, client: Client): void {
    const unknown = unknownBefore.get(client) ?? new Set();
    unknownBefore.set(client, unknown);
    if (buffer?.loaded) unknown.delete(real);
    else unknown.add(real);
    const path = (buffer?.path as FilePath | undefined) ?? real;
    // If Neovim is busy, a hook reloads the file later.
    editor.call("document_watch", { path }).catch(() => {});
  }

  async function allFiles(client: Client): Promise<ToolResult> {
    await settled(editor, ALL_FILES_DEADLINE_MS);
    // If a file was not open before its edit, Claude Code has no earlier diagnostics, and all of them would look new.
    const unknown = unknownBefore.get(client);
    const files = editor.state.diagnostics
      .filter((file) => !unknown?.has(realPath(file.path)))
      .map((file) => ({ uri: uriFor(client, names.of(client, file.path)), items: file.items }));
    const total = files.reduce((sum, file) => sum + file.items.length, 0);
    if (total <= MAX_ITEMS) return json(published(files));
    const _meta = { truncated: true, total, returned: MAX_ITEMS };
    return { ...json(published(worst(files))), _meta };
  }

  return defineTool({
    name: "getDiagnostics",
    description:
      "Get the diagnostics (errors, warnings, hints) that language servers and linters show in Neovim",
    input: Input,
    annotations: { readOnlyHint: true },
    call: ({ uri }, { client }) => (uri === undefined ? allFiles(client) : oneFile(uri, client)),
  });
}

/** If Neovim is busy, its last known state is the answer. */
async function syncUpTo(editor: EditorPort, deadlineMs: number): Promise<void> {
  try {
    await editor.sync(deadlineMs);
  } catch (error) {
    if (failureCode(error) !== "busy") throw error;
  }
}

/** Waits until language servers have reported on all written files, but not longer than the deadline. */
async function settled(editor: EditorPort, deadlineMs: number): Promise<void> {
  const end = performance.now() + deadlineMs;
  await syncUpTo(editor, deadlineMs);
  const left = end - performance.now();
  if (editor.state.pending.size === 0 || left <= 0) return;
  await new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(finish, left);
    const stop = editor.on("state", () => {
      if (editor.state.pending.size === 0) finish();
    });
  });
}

function uriFor(client: Client, path: string): string {
  return isClaudeCode(client) ? rawUri(path) : fileUri(path);
}

interface FileItems {
  uri: string;
  items: readonly Diagnostic[];
}

/** The format of spec 4.6 is that of VS Code. A range is mandatory. */
function published(files: readonly FileItems[]): object[] {
  return files.map(({ uri, items }) => ({
    uri,
    diagnostics: items.map((item) => ({
      message: item.message,
      severity: SEVERITY_NAMES.vscode[item.severity - 1],
      range: {
        start: { line: item.lnum, character: item.col },
        end: { line: item.end_lnum, character: item.end_col },
      },
      ...(item.source && { source: item.source }),
      ...(item.code && { code: item.code }),
    })),
  }));
}

/** The most severe MAX_ITEMS diagnostics, grouped by file. */
function worst(files: readonly FileItems[]): FileItems[] {
  const ranked = files
    .flatMap(({ uri, items }) => items.map((item) => ({ uri, item })))
    .sort((a, b) => a.item.severity - b.item.severity)
    .slice(0, MAX_ITEMS);
  const byFile = Map.groupBy(ranked, ({ uri }) => uri);
  return [...byFile].map(([uri, entries]) => ({ uri, items: entries.map(({ item }) => item) }));
}
