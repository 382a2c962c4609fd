import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Environment, namesIn, statOf } from "../lib/paths";

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

/**
 * Where Neovims listen unless they were given an address: `stdpath("run")/nvim.PID.N`, which is in
 * $XDG_RUNTIME_DIR, or else in a folder of each Neovim below `nvim.USER` in the temporary one.
 */
export function usualSockets(env: Environment): string[] {
  if (process.platform === "win32") return [];
  // Bun does not know the user's name where $USER is not set.
  const shared = inside(env.TMPDIR || tmpdir()).filter((path) => /^nvim\./.test(basename(path)));
  return [env.XDG_RUNTIME_DIR ?? [], shared.flatMap(inside)]
    .flat()
    .flatMap((folder) => inside(folder))
    .filter((path) => /\.\d+\.\d+$/.test(path) && !whyUnsafe(path));
}

function inside(folder: string): string[] {
  return namesIn(folder).map((name) => join(folder, name));
}
