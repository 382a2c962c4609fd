/** The messages of JSON-RPC 2.0. */
import { Failure } from "../lib/errors";
import { isObject, parseJson } from "../lib/json";

export type Id = string | number;

export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  /** Our own code: too many requests are under way. */
  Overloaded: -32000,
  /** Neovim did not answer in time. */
  EditorBusy: -32001,
  /** A Failure, with the reason as the message. */
  Refused: -32003,
  /** MCP's code for a missing resource. */
  ResourceNotFound: -32002,
} as const;

/** An error that the peer receives unchanged. Any other error becomes an InternalError. */
export class RpcError extends Error {
  override readonly name = "RpcError";

  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** The protocol's error for an RpcError or a Failure; undefined for a defect. */
export function rpcErrorOf(error: unknown): RpcError | undefined {
  if (error instanceof RpcError) return error;
  if (!(error instanceof Failure)) return undefined;
  const code = error.code === "busy" ? ErrorCode.EditorBusy : ErrorCode.Refused;
  return new RpcError(code, error.message);
}

export type Incoming =
  | { kind: "request"; id: Id; method: string; params: unknown }
  | { kind: "notification"; method: string; params: unknown }
  | { kind: "response"; id: Id }
  | { kind: "invalid"; id: Id | null; error: RpcError };

/** Each message needs more memory than its bytes, and other clients wait while we answer the batch. */
const MAX_IN_BATCH = 1000;

/** Reads a message or a batch. Never throws: an invalid message has the kind `invalid`. */
export function parse(text: string): Incoming | Incoming[] {
  const value = parseJson(text);
  if (value === undefined) {
    const error = new RpcError(ErrorCode.ParseError, "Parse error: the message is not JSON");
    return { kind: "invalid", id: null, error };
  }
  if (!Array.isArray(value)) return classify(value);
  if (value.length === 0) return invalid(null, "the batch is empty");
  if (value.length > MAX_IN_BATCH)
    return invalid(null, `the batch has more than ${MAX_IN_BATCH} messages`);
  return value.map(classify);
}

export function notification(method: string, params?: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

export function success(id: Id, result: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result: result ?? null });
}

export function failure(id: Id | null, error: RpcError): string {
  const { code, message, data } = error;
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
}

function classify(value: unknown): Incoming {
  if (!isObject(value)) return invalid(null, "not an object");
  const { jsonrpc, id, method, params, result, error } = value;
  const validId = typeof id === "string" || (typeof id === "number" && Number.isFinite(id));
  const answerId = validId ? id : null;
  if (jsonrpc !== "2.0") return invalid(answerId, '"jsonrpc" is not "2.0"');
  if (method === undefined) {
    const isError =
      isObject(error) && typeof error.code === "number" && typeof error.message === "string";
    if (validId && (result !== undefined || isError)) return { kind: "response", id };
    return invalid(answerId, 'no "method"');
  }
  if (typeof method !== "string") return invalid(answerId, '"method" is not a string');
  if (params !== undefined && (typeof params !== "object" || params === null))
    return invalid(answerId, '"params" is neither object nor array');
  if (validId) return { kind: "request", id, method, params };
  if (id !== undefined) return invalid(null, '"id" is neither string nor number');
  return { kind: "notification", method, params };
}

function invalid(id: Id | null, problem: string): Incoming {
  const error = new RpcError(ErrorCode.InvalidRequest, `Invalid request: ${problem}`);
  return { kind: "invalid", id, error };
}

/** Exchanges messages with one peer, in order (the MCP SDK's Transport). */
export interface Transport {
  send(text: string): void;
  /** The receiver sets this before the first message arrives. */
  onMessage: (text: string) => void;
  /** The receiver sets this. Called once, when the peer is gone. */
  onClose: () => void;
}
