import { existsSync } from "node:fs";
import { join } from "node:path";
import { readLocks } from "../ide/lock-file";
import { type Environment, isBelow, realPath, stateFolder } from "../lib/paths";

/** Where hooks and MCP servers that run beside a relay reach it: in a folder that only their user may enter. */
export function relaySocket(port: number): string {
  return join(stateFolder(), "relays", `${port}.sock`);
}

/**
 * The socket of the relay that a CLI with this environment and folder is connected to; undefined where its
 * Neovim is on this machine, or there is none.
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
