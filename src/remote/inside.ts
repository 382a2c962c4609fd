import { linesOf } from "../lib/lines";
import { print } from "../lib/output";
import { UnixSocket } from "../lib/unix-socket";
import { LIMITS } from "./wire";

const CONNECT_MS = 2_000;

/** What of a CLI's environment Neovim's side needs. */
const VARIABLES = [
  "CLAUDE_PROJECT_DIR",
  "CLAUDE_CODE_NVIM_SESSION",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_ENTRYPOINT",
] as const;

/** The first line of a program beside the relay. */
export interface Opening {
  kind: "hook" | "mcp";
  args: string[];
  cwd: string;
  env: Partial<Record<(typeof VARIABLES)[number], string>>;
  /** A hook's whole stdin. */
  input?: string;
}

/** Runs a hook where Neovim is, and prints its answer. Rejects where the relay is gone. */
export async function hookByRelay(socket: string, args: string[], input: string): Promise<void> {
  const relay = await connect(socket, { kind: "hook", args, input });
  for await (const line of linesOf(relay, LIMITS.lineBytes)) print(`${line}\n`);
}

/** Serves the MCP server that runs where Neovim is, until one of both ends. */
export async function mcpByRelay(socket: string): Promise<void> {
  const relay = await connect(socket, { kind: "mcp", args: [] });
  const pass = async () => {
    for await (const bytes of Bun.stdin.stream()) relay.write(bytes);
    relay.destroy();
  };
  void pass();
  for await (const line of linesOf(relay, LIMITS.lineBytes)) print(`${line}\n`);
}

async function connect(
  socket: string,
  given: Pick<Opening, "kind" | "args" | "input">,
): Promise<UnixSocket> {
  const relay = await UnixSocket.connect(socket, CONNECT_MS, "the relay");
  const env = Object.fromEntries(
    VARIABLES.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  const opening: Opening = { ...given, cwd: process.cwd(), env };
  relay.write(Buffer.from(`${JSON.stringify(opening)}\n`));
  return relay;
}
