import { existsSync } from "node:fs";
import { join } from "node:path";
import { readLocks } from "../ide/lock-file";
import { writePrivateFile } from "../lib/atomic-write";
import { type Environment, isBelow, realPath, removeFile, stateFolder } from "../lib/paths";
import { readPrivateFile } from "../lib/private-folder";

/** Where hooks and MCP servers that run beside a relay reach it: in a folder that only their user may enter. */
export function relaySocket(port: number): string {
  return join(stateFolder(), "relays", `${port}.sock`);
}

function aloneFile(socket: string): string {
  return socket.replace(/sock$/, "alone");
}

/** Hooks record what changes in these folders, since no other machine has them. */
export function noteAlone(port: number, folders: readonly string[]): void {
  writePrivateFile(aloneFile(relaySocket(port)), folders.map((one) => realPath(one)).join("\n"));
}

export function isAlone(socket: string, folder: string): boolean {
  const folders = readPrivateFile(aloneFile(socket))?.split("\n") ?? [];
  return folders.some((one) => one !== "" && isBelow(realPath(folder), one));
}

/** The relay has ended. */
export function removeSocket(port: number): void {
  for (const path of [relaySocket(port), aloneFile(relaySocket(port))]) removeFile(path);
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
