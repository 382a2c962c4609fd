import { ErrorCode, RpcError } from "../jsonrpc/message";
import { isObject, type JsonObject, own } from "../lib/json";
import { isClaudeCode } from "../mcp/client";
import { failed, type ToolResult, texts } from "../mcp/protocol";
import type { NotificationRule, RequestRule } from "./border";
import type { Crossing } from "./remote";

/* The rules of what passes to each of our servers. */

export const initialize: RequestRule = {
  params({ protocolVersion, clientInfo }, crossing) {
    const info = isObject(clientInfo) ? clientInfo : {};
    crossing.isClaudeCode = isClaudeCode({ info: { name: String(info.name), version: "" } });
    return { protocolVersion, clientInfo };
  },
  result: (result) => result,
};

export const ping: RequestRule = { params: () => ({}), result: () => ({}) };

export const handshake: Readonly<Record<string, NotificationRule>> = {
  "notifications/initialized": () => ({}),
  "notifications/cancelled": ({ requestId }) => ({ requestId }),
};

/** What a tool's argument is ("project": a path, also from the project's top), or what becomes of it. */
type Field = "plain" | "path" | "project" | "uri" | ((value: unknown) => unknown);

/** What passes of a call. */
export interface ToolRule {
  /** The arguments that pass. */
  readonly input: Readonly<Record<string, Field>>;
  /** The text blocks of the answer for the client, which asked with `asked`. */
  output(blocks: readonly string[], asked: JsonObject, crossing: Crossing): string[];
  /** Does it wait for the user? */
  readonly waits?: boolean;
}

/** All tools of a server: one that is new does not compile until its rule is here. */
export type ToolRules<Name extends string> = Readonly<Record<Name, ToolRule | "never">>;

/** The requests for tools: those that never pass are not in the list, and nobody can call them. */
export function toolRequests<Name extends string>(rules: ToolRules<Name>) {
  const ruleOf = (name: unknown) => {
    const rule = own<ToolRule | "never">(rules, String(name));
    return rule === "never" ? undefined : rule;
  };
  const list: RequestRule = {
    params: () => ({}),
    result: ({ tools }) => ({ tools: (tools as JsonObject[]).filter(({ name }) => ruleOf(name)) }),
  };
  const call: RequestRule = {
    params({ name, arguments: given }, crossing) {
      const rule = ruleOf(name);
      if (!rule) throw new RpcError(ErrorCode.InvalidParams, `Unknown tool: ${name}`);
      return { name, arguments: isObject(given) ? inputOf(rule, given, crossing) : given };
    },
    result: (result, { name, arguments: given }, crossing) =>
      outputOf(ruleOf(name) as ToolRule, result as unknown as ToolResult, given, crossing),
    refused: failed,
    waits: ({ name }) => ruleOf(name)?.waits === true,
  };
  return { "tools/list": list, "tools/call": call };
}

function inputOf({ input }: ToolRule, given: JsonObject, crossing: Crossing): JsonObject {
  const passing = Object.entries(input).filter(([key]) => Object.hasOwn(given, key));
  return Object.fromEntries(
    passing.map(([key, field]) => [key, passed(field, given[key], crossing)]),
  );
}

function passed(field: Field, value: unknown, crossing: Crossing): unknown {
  if (typeof field === "function") return field(value);
  if (field === "path") return crossing.pathToHost(value);
  if (field === "project") return crossing.projectPathToHost(value);
  return field === "uri" ? crossing.uriToHost(value) : value;
}

function outputOf(
  rule: ToolRule,
  { content, isError }: ToolResult,
  given: unknown,
  crossing: Crossing,
): ToolResult {
  const blocks = content.map(({ text }) => text);
  if (isError)
    return failed(blocks.map((text) => crossing.remote.map.errorToRemote(text)).join("\n"));
  return texts(...rule.output(blocks, isObject(given) ? given : {}, crossing));
}
