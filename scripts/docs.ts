/**
 * Writes the help files in doc/ from the pages in scripts/docs/, filled in with what the options,
 * commands, mappings and tools say of themselves and with the numbers of constants, and the types of the options.
 * With `--check` nothing is written, and the exit code is 1 if a file is not what would be written. NVIM_0_12 names
 * the Neovim that is asked.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readFacts } from "./docs/facts";
import { numbers } from "./docs/numbers";
import { sections } from "./docs/sections";
import { configTypes } from "./docs/types";

const PAGES = join(ROOT, "scripts/docs");

/** The generated files by their paths in the repository: what they should hold. */
export function generatedFiles(nvim: string): Record<string, string> {
  const facts = readFacts(nvim);
  const parts = { ...sections(facts), ...numbers() };
  const pages = readdirSync(PAGES).filter((name) => name.endsWith(".txt"));
  return {
    ...Object.fromEntries(pages.map((name) => [`doc/${name}`, filledIn(name, parts)])),
    "lua/claude-code/config/types.lua": configTypes(facts),
  };
}

function filledIn(name: string, parts: Record<string, string>): string {
  const page = readFileSync(join(PAGES, name), "utf8");
  return page.replaceAll(/\{\{(.+?)\}\}/g, (_, part: string) => {
    const text = parts[part];
    if (text === undefined) throw new Error(`${name} asks for ${part}, which nothing generates`);
    return text;
  });
}

/** Paths of the generated files that are not what they should be. */
export function drifted(files: Record<string, string>): string[] {
  return Object.entries(files).flatMap(([path, text]) => {
    try {
      return readFileSync(join(ROOT, path), "utf8") === text ? [] : [path];
    } catch {
      return [path];
    }
  });
}

if (import.meta.main) {
  const chain = process.env.CLAUDE_CODE_NVIM_TOOLCHAIN ?? join(ROOT, ".toolchain");
  const files = generatedFiles(process.env.NVIM_0_12 ?? join(chain, "neovim-0.12/bin/nvim"));
  if (process.argv.includes("--check")) {
    const paths = drifted(files);
    for (const path of paths) console.error(`${path} has drifted: run \`bun run docs\``);
    process.exit(paths.length > 0 ? 1 : 0);
  }
  for (const [path, text] of Object.entries(files)) writeFileSync(join(ROOT, path), text);
}
