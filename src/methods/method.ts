import type * as v from "valibot";
import type { EditorPort } from "../editor/port";
import { rethrow } from "../editor/rpc-error";
import type { EditorState } from "../editor/state";
import type { Method } from "../mcp/definition";
import { json } from "../mcp/protocol";
import { defineTool, type Tool, validate } from "../mcp/tool";

/** What spec 05's methods need of the editor. */
export interface MethodEditor
  extends Pick<EditorPort, "bufferSizes" | "region" | "cursor" | "context"> {
  sync(): Promise<Pick<EditorState, "buffers" | "current">>;
}

/**
 * One of spec 05's methods. Said once, offered twice: as a JSON-RPC method (`editor/position`) on
 * the WebSocket and as an MCP tool (`editor_position`) on the stdio server.
 */
export interface EditorMethod<N extends string = string> {
  readonly name: `editor/${N}`;
  method(editor: MethodEditor): Method;
  tool(editor: MethodEditor): Tool<`editor_${N}`>;
}

export interface EditorMethodDefinition<N extends string, S extends v.GenericSchema> {
  name: `editor/${N}`;
  description: string;
  input: S;
  answer(editor: MethodEditor, input: v.InferOutput<S>): Promise<object>;
}

export function defineMethod<const N extends string, S extends v.GenericSchema>(
  definition: EditorMethodDefinition<N, S>,
): EditorMethod<N> {
  const { name, description, input: schema } = definition;
  return {
    name,
    method: (editor) => (params) =>
      definition.answer(editor, validate(schema, params, name)).catch(rethrow),
    tool: (editor) =>
      defineTool({
        name: name.replace("/", "_") as `editor_${N}`,
        description,
        input: schema,
        annotations: { readOnlyHint: true },
        call: async (input) => json(await definition.answer(editor, input)),
      }),
  };
}
