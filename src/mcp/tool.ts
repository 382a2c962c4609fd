import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { ErrorCode, RpcError } from "../jsonrpc/message";
import type { Client, ToolResult } from "./protocol";

export interface ToolCall {
  readonly client: Client;
  /** Claude Code's id of this use of the tool. */
  readonly use?: string | undefined;
  /** Aborts when the client cancels the call or goes away. */
  readonly signal: AbortSignal;
}

type InputSchema = v.GenericSchema<Record<string, unknown> | undefined>;

/** The schema validates the input, defines its type, and is published as `inputSchema`. */
interface ToolDefinition<S extends v.GenericSchema> {
  name: string;
  /** Missing for tools that the specification lists without one (close_tab). */
  description?: string;
  input: S;
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean };
  meta?: Record<string, unknown>;
  call(input: v.InferOutput<S>, call: ToolCall): ToolResult | Promise<ToolResult>;
}

export interface Tool {
  readonly name: string;
  /** The entry of `tools/list`. */
  describe(): Record<string, unknown>;
  /** Validates the input and runs the tool. Throws RpcError InvalidParams that names the wrong fields. */
  call(input: unknown, call: ToolCall): ToolResult | Promise<ToolResult>;
}

export function defineTool<S extends v.GenericSchema>(definition: ToolDefinition<S>): Tool {
  const { name, description, input: schema, annotations, meta } = definition;
  return {
    name,
    describe: () => ({
      name,
      ...(description && { description }),
      inputSchema: inputSchema(schema as unknown as InputSchema),
      ...(annotations && { annotations }),
      ...(meta && { _meta: meta }),
    }),
    call: (input, call) => definition.call(validate(schema, input, name), call),
  };
}

/** Validates `input`, by default `{}`. Throws RpcError InvalidParams. */
export function validate<S extends v.GenericSchema>(
  schema: S,
  input: unknown,
  name: string,
): v.InferOutput<S> {
  const result = v.safeParse(schema, input ?? {}, { abortPipeEarly: true });
  if (result.success) return result.output;
  const problems = result.issues.map((issue) => {
    const path = v.getDotPath(issue);
    return path ? `${path}: ${issue.message}` : issue.message;
  });
  throw new RpcError(
    ErrorCode.InvalidParams,
    `Invalid arguments for ${name}: ${problems.join("; ")}`,
  );
}

function inputSchema(schema: InputSchema): Record<string, unknown> {
  const { $schema: _, ...published } = toJsonSchema(schema, { errorMode: "ignore" });
  return { properties: {}, ...published };
}
