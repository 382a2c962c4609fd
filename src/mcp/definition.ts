import type { Client } from "./client";
import type { ImplementationInfo, Resource, ResourceContents } from "./protocol";
import type { Tool } from "./tool";

/** A JSON-RPC method outside MCP (the `editor/*` family). `params` is not validated yet. */
export type Method = (params: unknown, client: Client) => unknown;

export interface Resources {
  list(client: Client): Resource[] | Promise<Resource[]>;
  /** Throws RpcError ResourceNotFound, with the uri in its message. */
  read(uri: string, client: Client): ResourceContents | Promise<ResourceContents>;
}

/** All that one of our servers offers, whatever the transport. */
export interface ServerDefinition {
  info: ImplementationInfo;
  instructions: string;
  tools: readonly Tool[];
  resources?: Resources;
  methods?: Readonly<Record<string, Method>>;
}

/** What the server reports to the program around it. All are optional. */
export interface ServerEvents {
  /** A connection is there; its name is not known yet. */
  onConnect?(client: Client): void;
  /** `initialize` or `ide_connected` named the client. */
  onIdentify?(client: Client): void;
  onDisconnect?(client: Client): void;
  /** `notifications/initialized` arrived: the client takes notifications. */
  onInitialized?(client: Client): void;
  /** `ide_connected` arrived, which the CLI alone sends, right after `initialized`. */
  onIdeConnected?(client: Client): void;
  /** The client has been given the list of tools. */
  onToolsListed?(client: Client): void;
  /** After a tool answered. */
  onToolCalled?(name: string, client: Client): void;
  /** An internal error, for the log. */
  onFault?(error: unknown, method: string): void;
}
