import { dirname } from "node:path";
import type { Import } from "./cycles";

/** Every pair of folders whose files import each other. A folder below another one is a folder of its own. */
export function foldersBothWays(imports: readonly Import[]): [string, string][] {
  const used = new Set(imports.map(({ from, to }) => `${dirname(from)} ${dirname(to)}`));
  return [...used]
    .map((pair) => pair.split(" ") as [string, string])
    .filter(([one, other]) => one < other && used.has(`${other} ${one}`))
    .sort();
}
