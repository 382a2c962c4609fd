import { existsSync } from "node:fs";
import { join } from "node:path";
import { readLocks } from "../ide/lock-file";
import { linesOf } from "../lib/lines";
import { print } from "../lib/output";
import { type Environment, isBelow, realPath, stateFolder } from "../lib/paths";
import { UnixSocket } from "../lib/unix-socket";
import type { Opening } from "./helpers";
import { LIMITS } from "./wire";

const CONNECT_MS = 2_000;

/** The variables of a CLI that Neovim's side needs. */
const VARIABLES = [
  "CLAUDE_PROJECT_DIR",
  "CLAUDE_CODE_NVIM_SESSION",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_ENTRYPOINT",
] as const;

/** Hooks and MCP servers that run beside a relay reach it here: in a folder that only their user may enter. */
export function relaySocket(port: number): string {
  return join(stateFolder(), "relays", `${port}.sock`);
}

/**
 * The socket of the relay that a CLI with this environment and folder is connected to; undefined without a relay, and
 * if its Neovim is on this machine.
 */
export function findRelay(env: Environment, folder: string): string | undefined {
  if (env.NVIM || !existsSync(join(stateFolder(), "relays"))) return undefined;
  const port = Number(env.CLAUDE_CODE_SSE_PORT);
  const place = realPath(folder);
  const ports = port
    ? [port]
    : readLocks()
        .filter(({ pid, folders }) => !pid && folders.some((one) => isBelow(place, one)))
        .map((lock) => lock.port);
  return ports.map(relaySocket).find(existsSync);
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

/** The relay reads the `kind` of the first line, and passes it on. */
async function connect(
  socket: string,
  given: { kind: "hook" | "mcp"; args: string[]; input?: string },
): Promise<UnixSocket> {
  const relay = await UnixSocket.connect(socket, CONNECT_MS, "the relay");
  const env = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name] || undefined]));
  const opening: Opening = { ...given, cwd: process.cwd(), env };
  relay.write(Buffer.from(`${JSON.stringify(opening)}\n`));
  return relay;
}
