import { existsSync } from "node:fs";
import { readLocks } from "../ide/lock-file";
import { linesOf } from "../lib/lines";
import { print } from "../lib/output";
import { type Environment, isBelow, realPath, stateFolder } from "../lib/paths";
import { join } from "../lib/platform";
import { UnixSocket } from "../lib/unix-socket";
import type { Opening } from "./helpers";
import { LIMITS } from "./wire";

const CONNECT_MS = 2_000;

/** The variables of a CLI that a hook needs on Neovim's machine. */
const VARIABLES = [
  "CLAUDE_PROJECT_DIR",
  "CLAUDE_CODE_NVIM_SESSION",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_ENTRYPOINT",
  "AI_AGENT",
] as const;

/** Hooks and MCP servers beside a relay connect to it here, in a folder that only their user may enter. */
export function relaySocket(port: number): string {
  return join(stateFolder(), "relays", `${port}.sock`);
}

/**
 * The socket of the relay that a CLI with this environment and folder uses. Undefined if there is no relay, or the
 * CLI's Neovim is on this machine.
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

/** Runs a hook on Neovim's machine, and prints its answer. Rejects if the relay is gone. */
export async function hookByRelay(socket: string, args: string[], input: string): Promise<void> {
  const relay = await connect(socket, { kind: "hook", args, input });
  for await (const line of linesOf(relay, LIMITS.lineBytes)) print(`${line}\n`);
}

/** Connects stdin and stdout to an MCP server on Neovim's machine, until one of them ends. */
export async function mcpByRelay(socket: string): Promise<void> {
  const relay = await connect(socket, { kind: "mcp", args: [] });
  const pass = async () => {
    for await (const bytes of Bun.stdin.stream()) relay.write(bytes);
    relay.destroy();
  };
  void pass();
  for await (const line of linesOf(relay, LIMITS.lineBytes)) print(`${line}\n`);
}

/** The relay reads the `kind` in the first line, and passes the line on. */
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
