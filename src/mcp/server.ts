import type { Transport } from "../jsonrpc/transport";
import type { Client, Remote } from "./client";
import { ConnectedClient } from "./connected-client";
import type { ServerDefinition, ServerEvents } from "./definition";
import type { Tool } from "./tool";

/** Serves any number of clients, each with its own connection and pending work. */
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

  /** Serves one more client, until the transport closes. */
  connect(transport: Transport, remote?: Remote): void {
    const id = this.#nextId++;
    const { definition, events } = this;
    const peer = new ConnectedClient(id, transport, definition, this.#tools, events, remote);
    transport.onMessage = (text) => peer.receive(text);
    transport.onClose = () => {
      peer.dispose();
      this.#peers.delete(peer);
      this.events.onDisconnect?.(peer.client);
    };
    this.#peers.add(peer);
    this.events.onConnect?.(peer.client);
  }
}
