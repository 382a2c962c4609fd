import { statOf } from "../lib/paths";

/**
 * Why no connection may be made to this address, or undefined if it is safe: it must be a socket of this user
 * (a named pipe on Windows). Never TCP, where anybody of this machine may listen.
 */
export function whyUnsafe(address: string): string | undefined {
  if (process.platform === "win32") {
    return address.startsWith("\\\\.\\pipe\\") ? undefined : "it is not a named pipe";
  }
  if (!address.startsWith("/")) return "it is not an absolute path of a socket";
  const stats = statOf(address);
  if (!stats) return "there is no such socket";
  if (!stats.isSocket()) return "it is not a socket";
  if (stats.uid !== process.getuid?.()) return "the socket belongs to another user";
  return undefined;
}
