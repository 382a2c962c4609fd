import { statSync } from "node:fs";

/**
 * Why this address may not be talked to, or undefined if it may: it must be a socket of this user
 * (a named pipe on Windows). Never TCP, where anybody of this machine may listen.
 */
export function objection(address: string): string | undefined {
  if (process.platform === "win32") {
    return address.startsWith("\\\\.\\pipe\\") ? undefined : "it is no named pipe";
  }
  if (!address.startsWith("/")) return "it is no absolute path of a socket";
  const stats = statSync(address, { throwIfNoEntry: false, bigint: false });
  if (!stats) return "there is no such socket";
  if (!stats.isSocket()) return "it is no socket";
  if (stats.uid !== process.getuid?.()) return "the socket belongs to another user";
  return undefined;
}
