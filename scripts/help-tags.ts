import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** `*tag*` between blanks or the ends of a line, as Neovim's |:helptags| finds them. */
const TAG = /(?<=^|[ \t])\*([^*\s|]+)\*(?=\s|$)/gm;

/** The file `tags` for a folder of help pages: what `:helptags` would write there. */
export function helpTags(folder: string): string {
  const lines = readdirSync(folder)
    .filter((file) => file.endsWith(".txt"))
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), "utf8");
      return [...text.matchAll(TAG)].map(([, tag = ""]) => {
        return `${tag}\t${file}\t/*${tag.replaceAll(/[\\/]/g, "\\$&")}*\n`;
      });
    });
  // By bytes, as Neovim's binary search in the file wants it.
  return lines.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).join("");
}
