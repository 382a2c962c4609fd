import * as v from "valibot";
import type { EditorPort } from "../editor/methods";
import type { Cursor } from "../editor/model";
import { type EditorState, openFiles } from "../editor/state";
import { fileUri } from "../lib/file-uri";
import { basename } from "../lib/platform";
import { json } from "../mcp/protocol";
import type { Method } from "../mcp/server";
import { defineTool, validate } from "../mcp/tool";

/** The part of the editor that spec 05's methods need. */
export interface MethodEditor extends Pick<EditorPort, "call"> {
  sync(): Promise<Pick<EditorState, "buffers" | "current">>;
}

/**
 * Defines one of spec 05's methods, which is both a JSON-RPC method (`editor/position`) on the WebSocket and an MCP
 * tool (`editor_position`) of the stdio server.
 */
function defineMethod<S extends v.GenericSchema>(definition: {
  name: string;
  description: string;
  input: S;
  answer(editor: MethodEditor, input: v.InferOutput<S>): Promise<object>;
}) {
  const { name, description, input: schema } = definition;
  return {
    name,
    method:
      (editor: MethodEditor): Method =>
      (params) =>
        definition.answer(editor, validate(schema, params, name)),
    tool: (editor: MethodEditor) =>
      defineTool({
        name: name.replace("/", "_"),
        description,
        input: schema,
        annotations: { readOnlyHint: true },
        call: async (input) => json(await definition.answer(editor, input)),
      }),
  };
}

/**
 * Spec 05. Lines are 1-based, columns 0-based in characters. `start` and `end` are 1-based offsets in characters; the
 * end is after the last character. If nothing is selected, there is only `active`. `truncated` says that the text, but
 * not the positions, was cut at 100,000 bytes.
 */
const selection = defineMethod({
  name: "editor/selection",
  description:
    "The selected text and where it is: in the current window, or, where nothing is selected and " +
    "no file is shown, in the file window the user was in before",
  input: v.object({}),
  answer: (editor) => editor.call("region", {}),
});

/** Spec 05. Lines are 1-based, columns 0-based in characters. `position` is a 1-based offset in characters. */
const position = defineMethod({
  name: "editor/position",
  description: "Where the cursor is: line, column, offset, buffer and its length",
  input: v.object({}),
  answer: async (editor) => describeCursor(await editor.call("cursor", {})),
});

/** Also the parameters of `editor/position_changed`. */
export function describeCursor(cursor: Cursor): object {
  const { line, column, position: offset, name, path, total_lines } = cursor;
  return {
    line,
    column,
    position: offset,
    buffer: name,
    uri: path === undefined ? null : fileUri(path),
    total_lines,
  };
}

/**
 * Spec 05. `major_mode` is Neovim's filetype. `size` counts characters, and is 0 if the buffer is not loaded. Special
 * buffers show no file, or are not listed.
 */
const buffers = defineMethod({
  name: "editor/buffers",
  description:
    "The open buffers: name, file, unsaved changes, size, filetype, which one is current",
  input: v.object({
    include_special: v.optional(
      v.pipe(v.boolean(), v.description("Also unlisted, unnamed and special buffers")),
      false,
    ),
  }),
  async answer(editor, { include_special }) {
    const state = await editor.sync();
    const shown = include_special ? state.buffers : openFiles(state);
    const bufs = shown.map(({ buf }) => buf);
    const sizes = await editor.call("buffer_sizes", { bufs });
    const list = shown.map((buffer, index) => ({
      name: buffer.path === undefined ? buffer.name : basename(buffer.path),
      uri: buffer.path === undefined ? null : fileUri(buffer.path),
      modified: buffer.modified,
      size: sizes[index] ?? 0,
      major_mode: buffer.filetype,
      active: buffer.buf === state.current,
    }));
    return { buffers: list, total: list.length };
  },
});

/** A client that needs more lines can read the file as a resource. */
const MAX_LINES = 1_000;

const lines = (what: string) =>
  v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(MAX_LINES),
      v.description(`Lines ${what} the cursor`),
    ),
    5,
  );

/** Spec 05. The texts before and after the cursor's line do not begin or end with a line end. */
const context = defineMethod({
  name: "editor/context",
  description: "The lines around the cursor, the enclosing function and the file type",
  input: v.object({ lines_before: lines("before"), lines_after: lines("after") }),
  async answer(editor, input) {
    const cursor = await editor.call("context", input);
    const { line, column, before, after, text, function_name, filetype } = cursor;
    return {
      current_line: line,
      current_column: column,
      context_before: before,
      context_after: after,
      current_line_text: text,
      function_name: function_name ?? null,
      file_type: filetype === "" ? "text" : filetype,
    };
  },
});

const METHODS = [selection, position, buffers, context] as const;

/** The methods for the WebSocket. */
export function createMethods(editor: MethodEditor): Record<string, Method> {
  return Object.fromEntries(METHODS.map((method) => [method.name, method.method(editor)]));
}

/** The same as MCP tools (`editor_selection`, …) for the stdio server. */
export function createMethodTools(editor: MethodEditor) {
  return METHODS.map((method) => method.tool(editor));
}
