import { chmodSync } from "node:fs";
import { modFolder, modSocket } from "../ide/lock-file";
import { message } from "../lib/errors";
import type { Log } from "../lib/log";
import { namesIn, removeFile } from "../lib/paths";
import { IS_WINDOWS, join, native } from "../lib/platform";
import { makePrivateFolder } from "../lib/private-folder";
import { isAlive } from "../lib/process";
import { isSame, TOKEN_HEADER } from "../lib/token";

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** The server closes a connection on which nothing has happened for this time: more than a mod waits. */
const IDLE_SECONDS = 40;

export interface ModResponse {
  status: number;
  body?: string;
}

export interface ModServer {
  /** Why no mod can connect: a path that is too long, or a Windows without such sockets. */
  readonly problem?: string;
  stop(): void;
}

/**
 * Serves mods that show the token, at a socket that only this user can reach. Each process has a socket of its own,
 * since Bun removes the path as the server stops.
 */
export function serveMods(
  token: string,
  log: Log,
  receive: (path: string, body: string, signal: AbortSignal) => Promise<ModResponse>,
): ModServer {
  const respond = async (request: Request): Promise<Response> => {
    if (!isSame(request.headers.get(TOKEN_HEADER) ?? "", token)) {
      log.warn("Refused a mod: a missing or wrong token");
      return new Response(null, { status: 401 });
    }
    const { pathname } = new URL(request.url);
    const { status, body } = await receive(pathname, await request.text(), request.signal);
    return new Response(body ?? null, { status });
  };
  const socket = modSocket();
  try {
    makePrivateFolder(modFolder());
    for (const name of namesIn(modFolder())) {
      const pid = Number.parseInt(name, 10);
      const path = join(modFolder(), name);
      if (path === modSocket(pid) && (path === socket || !isAlive(pid))) removeFile(path);
    }
    // Bun has it for a socket, too, but not in the types (1.4.5).
    const idle: object = { idleTimeout: IDLE_SECONDS };
    const server = Bun.serve({
      ...idle,
      unix: native(socket),
      maxRequestBodySize: MAX_MESSAGE_BYTES,
      fetch: respond,
      error: () => new Response(null, { status: 500 }),
    });
    if (!IS_WINDOWS) chmodSync(socket, 0o600);
    return { stop: () => void server.stop(true) };
  } catch (error) {
    const problem = `no mod can connect: ${message(error)}`;
    log.warn(problem);
    return { problem, stop() {} };
  }
}
