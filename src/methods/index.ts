import type { Method } from "../mcp/definition";
import type { Tool } from "../mcp/tool";
import { buffers } from "./buffers";
import { context } from "./context";
import type { EditorMethod, MethodEditor } from "./method";
import { position } from "./position";
import { selection } from "./selection";

const METHODS: readonly EditorMethod[] = [selection, position, buffers, context];

/** Spec 05 as JSON-RPC methods, for the WebSocket. */
export function createMethods(editor: MethodEditor): Record<string, Method> {
  return Object.fromEntries(METHODS.map((method) => [method.name, method.method(editor)]));
}

/** Spec 05 as MCP tools (`editor_selection`, …), for the stdio server. */
export function createMethodTools(editor: MethodEditor): Tool[] {
  return METHODS.map((method) => method.tool(editor));
}
