import {
  ErrorCode,
  failure,
  type Id,
  type Incoming,
  notification,
  parse,
  RpcError,
  rpcErrorOf,
  success,
  type Transport,
} from "./message";

/** Answers the peer. Throws RpcError MethodNotFound for an unknown method. */
export interface Handler {
  /** `signal` aborts when the peer cancels the request or the connection ends. */
  request(method: string, params: unknown, signal: AbortSignal): unknown;
  notification(method: string, params: unknown): void;
}

/** The limit of unanswered requests of the peer. Further ones are refused (Overloaded). */
const MAX_PENDING = 1024;

/**
 * The connection to a JSON-RPC 2.0 peer. Every request gets exactly one response, unless it is cancelled or the
 * connection ends. Synchronous answers keep the order of their requests.
 */
export class Connection {
  readonly #incoming = new Map<Id, AbortController>();
  #disposed = false;

  /** `onFault` gets all errors of the handler that are neither RpcError nor Failure. */
  constructor(
    private readonly transport: Pick<Transport, "send">,
    private readonly handler: Handler,
    private readonly onFault?: (error: unknown, method: string) => void,
  ) {}

  /** `text` is a message or a batch. */
  receive(text: string): void {
    const parsed = parse(text);
    if (!Array.isArray(parsed)) return this.#dispatch(parsed, (response) => this.#send(response));
    const answers = parsed.map(
      (message) => new Promise<string | undefined>((resolve) => this.#dispatch(message, resolve)),
    );
    void Promise.all(answers).then((responses) => {
      const texts = responses.filter((response) => response !== undefined);
      if (texts.length > 0) this.#send(`[${texts.join(",")}]`);
    });
  }

  notify(method: string, params?: unknown): void {
    this.#send(notification(method, params));
  }

  /** Aborts a request without a response. */
  cancel(id: Id): void {
    this.#incoming.get(id)?.abort();
  }

  /** The peer is gone. Aborts all its requests. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const call of this.#incoming.values()) call.abort();
    this.#incoming.clear();
  }

  /** Calls `respond` with undefined if the message gets no answer. */
  #dispatch(message: Incoming, respond: (text: string | undefined) => void): void {
    switch (message.kind) {
      case "request":
        return this.#answer(message.id, message.method, message.params, respond);
      case "invalid":
        return respond(failure(message.id, message.error));
      case "notification":
        try {
          this.handler.notification(message.method, message.params);
        } catch (error) {
          this.onFault?.(error, message.method);
        }
        return respond(undefined);
      case "response":
        // We never send requests.
        respond(undefined);
    }
  }

  #answer(
    id: Id,
    method: string,
    params: unknown,
    respond: (text: string | undefined) => void,
  ): void {
    if (this.#incoming.has(id)) {
      const error = new RpcError(ErrorCode.InvalidRequest, `Request id ${id} is still under way`);
      return respond(failure(id, error));
    }
    if (this.#incoming.size >= MAX_PENDING) {
      const error = new RpcError(
        ErrorCode.Overloaded,
        `Too many requests under way (${MAX_PENDING}): try again when some are answered`,
      );
      return respond(failure(id, error));
    }
    const call = new AbortController();
    this.#incoming.set(id, call);
    const finish = (text: () => string) => {
      if (this.#incoming.get(id) === call) this.#incoming.delete(id);
      respond(call.signal.aborted ? undefined : text());
    };
    const fail = (error: unknown) => finish(() => failure(id, this.#asRpcError(error, method)));
    try {
      const result = this.handler.request(method, params, call.signal);
      if (!(result instanceof Promise)) return finish(() => success(id, result));
      result.then((value) => finish(() => success(id, value)), fail);
    } catch (error) {
      fail(error);
    }
  }

  /** The peer sees failures, but not the texts of internal errors. */
  #asRpcError(error: unknown, method: string): RpcError {
    const known = rpcErrorOf(error);
    if (known) return known;
    this.onFault?.(error, method);
    return new RpcError(ErrorCode.InternalError, `Internal error in ${method}`);
  }

  #send(text: string | undefined): void {
    if (text !== undefined && !this.#disposed) this.transport.send(text);
  }
}
