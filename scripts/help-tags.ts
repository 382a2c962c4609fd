import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Matches tags by the rule of Neovim's |:helptags|: `*tag*` between blanks or the ends of a line. */
const TAG = /(?<=^|[ \t])\*([^*\s|]+)\*(?=\s|$)/gm;

/** The text that `:helptags` would write into the file `tags` for a folder of help pages. */
export function helpTags(folder: string): string {
  const lines = readdirSync(folder)
    .filter((file) => file.endsWith(".txt"))
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), "utf8");
      return [...text.matchAll(TAG)].map(([, tag = ""]) => {
        return `${tag}\t${file}\t/*${tag.replaceAll(/[\\/]/g, "\\$&")}*\n`;
      });
    });
  // Sort by bytes, for Neovim's binary search in the file.
  return lines.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).join("");
}
