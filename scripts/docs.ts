/**
 * Writes the help files in doc/ from the pages in scripts/docs/, filled in with what the options,
 * commands, mappings and tools say of themselves. `bun scripts/docs.ts --check` writes nothing,
 * and exits 1 if a help file is not what it would write. NVIM_0_12 names the Neovim that is asked.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readFacts } from "./docs/facts";
import { sections } from "./docs/sections";

const PAGES = join(ROOT, "scripts/docs");

/** The help files by their names: what they should hold. */
export function helpFiles(nvim: string): Record<string, string> {
  const parts = sections(readFacts(nvim));
  const names = readdirSync(PAGES).filter((name) => name.endsWith(".txt"));
  return Object.fromEntries(names.map((name) => [name, filledIn(name, parts)]));
}

function filledIn(name: string, parts: Record<string, string>): string {
  const page = readFileSync(join(PAGES, name), "utf8");
  return page.replaceAll(/^\{\{(.+)\}\}$/gm, (_, part: string) => {
    const text = parts[part];
    if (text === undefined) throw new Error(`${name} asks for ${part}, which nothing generates`);
    return text;
  });
}

/** Names of the help files that are not what they should be. */
export function drifted(files: Record<string, string>): string[] {
  return Object.entries(files).flatMap(([name, text]) => {
    try {
      return readFileSync(join(ROOT, "doc", name), "utf8") === text ? [] : [name];
    } catch {
      return [name];
    }
  });
}

if (import.meta.main) {
  const chain = process.env.CLAUDE_CODE_NVIM_TOOLCHAIN ?? join(ROOT, ".toolchain");
  const files = helpFiles(process.env.NVIM_0_12 ?? join(chain, "neovim-0.12/bin/nvim"));
  if (process.argv.includes("--check")) {
    const names = drifted(files);
    for (const name of names) console.error(`doc/${name} has drifted: run bun scripts/docs.ts`);
    process.exit(names.length > 0 ? 1 : 0);
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(ROOT, "doc", name), text);
}
