import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../test/support/toolchain";

/** The Lua code under a heading of the help's recipes, block by block, exactly as users copy it. */
export function recipe(heading: string): string[] {
  const help = readFileSync(join(ROOT, "doc/claude-code.txt"), "utf8");
  const section = help.split("*claude-code-recipes*")[1]?.split(`\n${heading} ~\n`)[1];
  // The next heading, or the end of the help's section.
  const text = section?.split(/\n\S.* ~\n|\n={20}/)[0] ?? "";
  const blocks = [...text.matchAll(/>lua\n(.*?)\n</gs)].map((match) => match[1] as string);
  if (blocks.length === 0) throw new Error(`the help has no recipe for ${heading}`);
  return blocks;
}
