import type { Client } from "../../mcp/client";

/** The clients that have finished their handshake and take notifications. */
export class Subscribers {
  readonly #clients = new Set<Client>();

  add(client: Client): void {
    this.#clients.add(client);
  }

  remove(client: Client): void {
    this.#clients.delete(client);
  }

  has(client: Client): boolean {
    return this.#clients.has(client);
  }

  [Symbol.iterator](): Iterator<Client> {
    return this.#clients.values();
  }

  /** Sends one notification to every client. */
  notify(method: string, params: unknown): void {
    for (const client of this.#clients) client.notify(method, params);
  }

  /** The client that sent something last; of two at the same time the newer one. */
  lastActive(wanted: (client: Client) => boolean): Client | undefined {
    let last: Client | undefined;
    for (const client of this.#clients) {
      if (wanted(client) && client.lastActive >= (last?.lastActive ?? 0)) last = client;
    }
    return last;
  }
}
