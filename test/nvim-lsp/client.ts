import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { EXECUTABLE } from "#test";

export interface Answer {
  content: { type: string; text: string }[];
  isError?: boolean;
}

/** The stdio server with the official client, in a project's folder. */
export async function connect(cwd: string, env: Record<string, string>): Promise<Client> {
  const client = new Client({ name: "oracle", version: "1.0.0" });
  const transport = new StdioClientTransport({ command: EXECUTABLE, args: ["mcp"], cwd, env });
  await client.connect(transport as never);
  return client;
}

export async function call(client: Client, name: string, args: object = {}): Promise<Answer> {
  return (await client.callTool({ name, arguments: { ...args } })) as Answer;
}

export async function json(client: Client, name: string, args: object = {}): Promise<unknown> {
  const { content, isError } = await call(client, name, args);
  if (isError) throw new Error(content[0]?.text);
  return JSON.parse(content[0]?.text ?? "");
}
