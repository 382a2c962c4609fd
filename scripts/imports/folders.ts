import { dirname } from "node:path";
import type { Import } from "./cycles";

/** Two folders whose files import each other; `forth` and `back` count the pairs of files. */
export interface FolderPair {
  folders: [string, string];
  forth: number;
  back: number;
}

/** Every pair of folders that need each other. A folder below another one is a folder of its own. */
export function foldersBothWays(imports: readonly Import[]): FolderPair[] {
  const used = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const key = `${dirname(from)} ${dirname(to)}`;
    used.set(key, (used.get(key) ?? new Set()).add(`${from} ${to}`));
  }
  const pairs: FolderPair[] = [];
  for (const [key, forth] of used) {
    const [one = "", other = ""] = key.split(" ");
    const back = used.get(`${other} ${one}`);
    if (one < other && back)
      pairs.push({ folders: [one, other], forth: forth.size, back: back.size });
  }
  return pairs.sort((a, b) => (a.folders[0] < b.folders[0] ? -1 : 1));
}
