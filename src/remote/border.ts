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

/** The part of a request that passes. */
export interface RequestRule {
  /** The parameters that the server receives. */
  params(params: JsonObject, crossing: Crossing): JsonObject;
  /** The answer for the client, which asked with `asked`. */
  result(result: JsonObject, asked: JsonObject, crossing: Crossing): unknown;
  /** The answer to a refusal that is not a protocol error. */
  refused?(message: string): unknown;
  /** Whether it waits for the user; MAX_WAITING of one remote may. */
  waits?(params: JsonObject): boolean;
}

/** The part of a notification's parameters that passes; undefined: nothing, not even its name. */
export type NotificationRule = (params: JsonObject, crossing: Crossing) => JsonObject | undefined;

/** The allowlist of a server, for both directions. */
export interface Rules {
  readonly requests: Readonly<Record<string, RequestRule>>;
  /** From the client. */
  readonly reports: Readonly<Record<string, NotificationRule>>;
  /** To the client. */
  readonly notifications: Readonly<Record<string, NotificationRule>>;
}

interface Passed {
  readonly rule: RequestRule;
  readonly asked: JsonObject;
  /** Called once it is answered or cancelled. */
  end(): void;
}

/** Proposals of one remote that may wait for the user at once. */
const MAX_WAITING = 8;
/** Requests of one connection that may be under way at once. */
const MAX_PASSED = 1_024;

/**
 * The border of a remote: the transport that a server gets instead of `outside`, the client's own. It parses every
 * message and writes it again by `rules`.
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

  /** From the server. */
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

  /** Takes a place among those that wait for the user; returns what gives it back. */
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

  /** `find` throws what is answered instead, or returns undefined if the server will answer. */
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

/** Replaces an answer of the server that the rules cannot convert. */
const UNREADABLE = new RpcError(ErrorCode.InternalError, "The answer cannot be passed on");

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

/** The kind of a tool's argument ("project": a path, also from the project's top), or its conversion. */
type Field = "plain" | "path" | "project" | "uri" | ((value: unknown) => unknown);

/** The part of a call that passes. */
export interface ToolRule {
  /** The arguments that pass. */
  readonly input: Readonly<Record<string, Field>>;
  /** The text blocks of the answer for the client, which asked with `asked`. */
  output(blocks: readonly string[], asked: JsonObject, crossing: Crossing): string[];
  /** Whether it waits for the user. */
  readonly waits?: boolean;
}

/** The requests for tools. A tool without a rule is not listed and cannot be called. */
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
