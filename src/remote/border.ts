import {
  ErrorCode,
  failure,
  type Id,
  notification,
  parse,
  RpcError,
  rpcErrorOf,
  success,
  type Transport,
} from "../jsonrpc/message";
import { failureCode, message } from "../lib/errors";
import { isDeep, isObject, type JsonObject, own, parseJson } from "../lib/json";
import { failed, isClaudeCode, type ToolResult, texts } from "../mcp/protocol";
import { Crossing, type Remote, refusal } from "./remote";

/** Says which parts of a request and its answer pass. */
export interface RequestRule {
  /** The parameters that the server receives. */
  params(params: JsonObject, crossing: Crossing): JsonObject;
  /** The answer that the client receives. `asked` are the parameters that it sent. */
  result(result: JsonObject, asked: JsonObject, crossing: Crossing): unknown;
  /** The answer to a refused request, if it is not a protocol error. */
  refused?(message: string): unknown;
  /** True for requests that wait for the user. MAX_WAITING of them may be open for one remote. */
  waits?(params: JsonObject): boolean;
}

/** The parameters that pass. If undefined, the notification does not pass. */
export type NotificationRule = (params: JsonObject, crossing: Crossing) => JsonObject | undefined;

/** The allowlist of a server, for both directions. */
export interface Rules {
  readonly requests: Readonly<Record<string, RequestRule>>;
  /** Notifications from the client. */
  readonly reports: Readonly<Record<string, NotificationRule>>;
  /** Notifications to the client. */
  readonly notifications: Readonly<Record<string, NotificationRule>>;
}

interface Passed {
  readonly rule: RequestRule;
  readonly asked: JsonObject;
  /** Called when the request is answered or cancelled. */
  end(): void;
}

/** The limit of proposals of one remote that wait for the user. */
const MAX_WAITING = 8;
/** The limit of unanswered requests of one connection. */
const MAX_PASSED = 1_024;

/**
 * The transport that a server gets for a client in a remote. It is between the server and `outside`, the client's
 * transport, parses every message, and passes on only what `rules` permit.
 */
export class Border implements Transport {
  onMessage: (text: string) => void = () => {};
  onClose: () => void = () => {};
  readonly #crossing: Crossing;
  readonly #passed = new Map<Id, Passed>();

  constructor(
    private readonly outside: Transport,
    private readonly remote: Remote,
    private readonly rules: Rules,
  ) {
    this.#crossing = new Crossing(remote);
    outside.onMessage = (text) => this.#receive(text);
    outside.onClose = () => {
      for (const { end } of this.#passed.values()) end();
      this.#passed.clear();
      this.onClose();
    };
  }

  /** Receives a message from the server. */
  send(text: string): void {
    const message = parseJson(text);
    if (!isObject(message)) return;
    const { id, method, params, result, error } = message;
    if (typeof method === "string") return this.#notifyClient(method, params);
    const passed = this.#passed.get(id as Id);
    if (!passed) return;
    this.#end(id as Id);
    if (isObject(error)) {
      const words = this.remote.map.errorToRemote(String(error.message));
      return this.#fail(id as Id, Number(error.code), words);
    }
    const { rule, asked } = passed;
    this.#answer(id as Id, rule, () => rule.result(result as JsonObject, asked, this.#crossing));
  }

  #receive(text: string): void {
    const message = parse(text);
    if (Array.isArray(message))
      return this.#fail(null, ErrorCode.InvalidRequest, "No batch passes here");
    if (message.kind === "invalid") this.outside.send(failure(message.id, message.error));
    if (message.kind === "notification") this.#report(message.method, message.params);
    if (message.kind === "request") this.#request(message.id, message.method, message.params);
  }

  #request(id: Id, method: string, given: unknown): void {
    const rule = own(this.rules.requests, method);
    if (!rule) return this.#fail(id, ErrorCode.MethodNotFound, `Method not found: ${method}`);
    if (this.#passed.has(id) || this.#passed.size >= MAX_PASSED) {
      const problem = this.#passed.has(id)
        ? `Request id ${id} is still under way`
        : "Too many requests";
      return this.#fail(id, ErrorCode.Overloaded, problem);
    }
    const asked = paramsOf(given);
    this.#answer(id, rule, () => {
      const params = rule.params(asked, this.#crossing);
      this.#passed.set(id, { rule, asked, end: this.#place(rule, asked) });
      this.onMessage(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  /** Counts a request that waits for the user. Returns a function that ends the count. */
  #place(rule: RequestRule, asked: JsonObject): () => void {
    if (!rule.waits?.(asked)) return () => {};
    const { remote } = this;
    if (remote.waiting >= MAX_WAITING) {
      throw refusal(`${MAX_WAITING} proposals of ${remote.name} wait for the user already`);
    }
    remote.waiting++;
    return () => void remote.waiting--;
  }

  #report(method: string, given: unknown): void {
    const params = own(this.rules.reports, method)?.(paramsOf(given), this.#crossing);
    if (!params) return;
    if (method === "notifications/cancelled") this.#end(params.requestId as Id);
    this.onMessage(notification(method, params));
  }

  #notifyClient(method: string, given: unknown): void {
    const rule = own(this.rules.notifications, method);
    const params = rule?.(isObject(given) ? given : {}, this.#crossing);
    if (params) this.outside.send(notification(method, params));
  }

  #end(id: Id): void {
    this.#passed.get(id)?.end();
    this.#passed.delete(id);
  }

  /** Answers with the result or the error of `find`. If the result is undefined, the server will answer. */
  #answer(id: Id, rule: RequestRule, find: () => unknown): void {
    try {
      const result = find();
      if (result !== undefined) this.outside.send(success(id, result));
    } catch (error) {
      const isRefusal = failureCode(error) === "not_shared";
      if (isRefusal && rule.refused) {
        return this.outside.send(success(id, rule.refused(message(error))));
      }
      const isKnown = isRefusal || error instanceof RpcError;
      const { code, message: text } = (isKnown && rpcErrorOf(error)) || UNREADABLE;
      this.#fail(id, code, text);
    }
  }

  #fail(id: Id | null, code: number, text: string): void {
    this.outside.send(failure(id, new RpcError(code, text)));
  }
}

function paramsOf(given: unknown): JsonObject {
  return isObject(given) && !isDeep(given) ? given : {};
}

/** The client receives this if the rules cannot convert an answer. */
const UNREADABLE = new RpcError(ErrorCode.InternalError, "The answer cannot be passed on");

const initialize: RequestRule = {
  params({ protocolVersion, clientInfo }, crossing) {
    const info = isObject(clientInfo) ? clientInfo : {};
    crossing.isClaudeCode = isClaudeCode({ info: { name: String(info.name), version: "" } });
    return { protocolVersion, clientInfo };
  },
  result: (result) => result,
};

/** The rules that both of our servers share. */
export const SHARED_RULES: Omit<Rules, "notifications"> = {
  requests: { initialize, ping: { params: () => ({}), result: () => ({}) } },
  reports: {
    "notifications/initialized": () => ({}),
    "notifications/cancelled": ({ requestId }) => ({ requestId }),
  },
};

/** The kind of a tool's argument, or its conversion. A "project" path may be relative to the project's top. */
type Field = "plain" | "path" | "project" | "uri" | ((value: unknown) => unknown);

/** Says which arguments of a tool pass, and what its answer is. */
export interface ToolRule {
  readonly input: Readonly<Record<string, Field>>;
  /** Converts the text blocks of the answer. `asked` are the arguments that the client sent. */
  output(blocks: readonly string[], asked: JsonObject, crossing: Crossing): string[];
  readonly waits?: boolean;
}

/** The rules for MCP's requests about tools. A tool without a rule is not listed and cannot be called. */
export function toolRequests(rules: Readonly<Record<string, ToolRule>>) {
  const ruleOf = (name: unknown) => own(rules, String(name));
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
