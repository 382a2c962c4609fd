import * as v from "valibot";
import { Connection, type Handler } from "../jsonrpc/connection";
import { ErrorCode, RpcError, type Transport } from "../jsonrpc/message";
import { message } from "../lib/errors";
import { own } from "../lib/json";
import {
  type Client,
  failed,
  type ImplementationInfo,
  negotiateVersion,
  type Remote,
  type Resource,
  type ResourceContents,
  type ToolResult,
} from "./protocol";
import { type Tool, validate } from "./tool";

/** Serves any number of clients, each with a connection of its own. */
export class McpServer {
  readonly #tools: Map<string, Tool>;
  readonly #peers = new Set<ConnectedClient>();
  #nextId = 1;

  constructor(
    private readonly definition: ServerDefinition,
    private readonly events: ServerEvents = {},
  ) {
    this.#tools = new Map(definition.tools.map((tool) => [tool.name, tool]));
  }

  get clients(): Client[] {
    return [...this.#peers].map((peer) => peer.client);
  }

  /** Serves a client until its transport closes. */
  connect(transport: Transport, remote?: Remote): void {
    const id = this.#nextId++;
    const { definition, events } = this;
    const peer = new ConnectedClient(id, transport, definition, this.#tools, events, remote);
    transport.onMessage = (text) => peer.receive(text);
    transport.onClose = () => {
      this.#peers.delete(peer);
      // The listener ends all requests that wait for the user, before `dispose` aborts each call.
      this.events.onDisconnect?.(peer.client);
      this.events.onChange?.();
      peer.dispose();
    };
    this.#peers.add(peer);
    this.events.onChange?.();
  }
}

const InitializeParams = v.object({
  protocolVersion: v.string(),
  clientInfo: v.optional(v.object({ name: v.string(), version: v.string() })),
});
const CallParams = v.object({
  name: v.string(),
  arguments: v.optional(v.unknown()),
  /** Only calls of the model have the id (measured with 2.1.330). */
  _meta: v.fallback(
    v.optional(v.object({ "claudecode/toolUseId": v.optional(v.string()) })),
    undefined,
  ),
});
const ReadParams = v.object({ uri: v.string() });
const CancelledParams = v.object({ requestId: v.union([v.string(), v.number()]) });
const IdeConnectedParams = v.object({ pid: v.optional(v.pipe(v.number(), v.integer())) });

class ConnectedClient implements Handler {
  readonly client: Client;
  readonly #connection: Connection;

  constructor(
    id: number,
    transport: Transport,
    private readonly definition: ServerDefinition,
    private readonly tools: Map<string, Tool>,
    private readonly events: ServerEvents,
    remote?: Remote,
  ) {
    this.#connection = new Connection(transport, this, events.onFault);
    this.client = {
      id,
      remote,
      info: undefined,
      pid: undefined,
      lastActive: performance.now(),
      notify: (method, params) => this.#connection.notify(method, params),
    };
  }

  receive(text: string): void {
    this.client.lastActive = performance.now();
    this.#connection.receive(text);
  }

  dispose(): void {
    this.#connection.dispose();
  }

  request(method: string, params: unknown, signal: AbortSignal): unknown {
    const { resources } = this.definition;
    switch (method) {
      case "initialize":
        return this.#initialize(params);
      case "ping":
        return {};
      case "tools/list":
        this.events.onToolsListed?.(this.client);
        return { tools: this.definition.tools.map((tool) => tool.describe()) };
      case "tools/call":
        return this.#callTool(params, signal);
      case "resources/list":
      case "resources/templates/list":
      case "resources/read":
        if (resources) return this.#resource(method, params, resources);
    }
    const extension = own(this.definition.methods ?? {}, method);
    if (extension) return extension(params, this.client);
    throw new RpcError(ErrorCode.MethodNotFound, `Method not found: ${method}`);
  }

  /** Ignores unknown notifications, as MCP requires. */
  notification(method: string, params: unknown): void {
    switch (method) {
      case "notifications/cancelled": {
        const cancelled = v.safeParse(CancelledParams, params);
        if (cancelled.success) this.#connection.cancel(cancelled.output.requestId);
        return;
      }
      case "notifications/initialized":
        return this.events.onInitialized?.(this.client);
      case "ide_connected": {
        const connected = v.safeParse(IdeConnectedParams, params ?? {});
        if (connected.success) this.client.pid = connected.output.pid;
        this.events.onChange?.();
        this.events.onIdeConnected?.(this.client);
      }
    }
  }

  #initialize(params: unknown): unknown {
    const { protocolVersion, clientInfo } = validate(InitializeParams, params, "initialize");
    this.client.info = clientInfo;
    this.events.onChange?.();
    return {
      protocolVersion: negotiateVersion(protocolVersion),
      capabilities: {
        tools: { listChanged: true },
        ...(this.definition.resources && { resources: { listChanged: true } }),
      },
      serverInfo: this.definition.info,
      instructions: this.definition.instructions,
    };
  }

  async #callTool(params: unknown, signal: AbortSignal): Promise<ToolResult> {
    const { name, arguments: input, _meta: meta } = validate(CallParams, params, "tools/call");
    const tool = this.tools.get(name);
    if (!tool) throw new RpcError(ErrorCode.InvalidParams, `Unknown tool: ${name}`);
    const { client } = this;
    try {
      return await tool.call(input, { client, use: meta?.["claudecode/toolUseId"], signal });
    } catch (error) {
      if (error instanceof RpcError) throw error;
      this.events.onFault?.(error, name);
      return failed(message(error));
    } finally {
      this.events.onToolCalled?.(name, client);
    }
  }

  async #resource(method: string, params: unknown, resources: Resources): Promise<object> {
    if (method === "resources/templates/list") return { resourceTemplates: [] };
    if (method === "resources/list") return { resources: await resources.list(this.client) };
    const { uri } = validate(ReadParams, params, "resources/read");
    return { contents: [await resources.read(uri, this.client)] };
  }
}

/** A JSON-RPC method outside of MCP (`editor/*`). It must validate `params`. */
export type Method = (params: unknown, client: Client) => unknown;

export interface Resources {
  list(client: Client): Resource[] | Promise<Resource[]>;
  /** Throws RpcError ResourceNotFound, with the uri in its message. */
  read(uri: string, client: Client): ResourceContents | Promise<ResourceContents>;
}

interface ServerDefinition {
  info: ImplementationInfo;
  instructions: string;
  tools: readonly Tool[];
  resources?: Resources;
  methods?: Readonly<Record<string, Method>>;
}

interface ServerEvents {
  /** A client has connected, been identified by `initialize` or `ide_connected`, or disconnected. */
  onChange?(): void;
  onDisconnect?(client: Client): void;
  /** The client has sent `notifications/initialized`, and takes notifications now. */
  onInitialized?(client: Client): void;
  /** The client has sent `ide_connected`. Only the CLI does that, right after `initialized`. */
  onIdeConnected?(client: Client): void;
  /** The client has requested the list of tools. */
  onToolsListed?(client: Client): void;
  /** A tool has answered. */
  onToolCalled?(name: string, client: Client): void;
  /** An internal error, for the log. */
  onFault?(error: unknown, method: string): void;
}
