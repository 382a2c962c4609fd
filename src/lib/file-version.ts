import { statSync } from "node:fs";
import { statOf } from "./paths";

/** Changes with a file that is written; as Lua has it (`written_version` in documents/disk.lua); "" for no file. */
export function fileVersion(path: string): string {
  // A file may be where a folder was.
  const stats = statOf(path) && statSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats) return "";
  return [stats.mtimeNs / 1_000_000_000n, stats.mtimeNs % 1_000_000_000n, stats.size].join(":");
}
