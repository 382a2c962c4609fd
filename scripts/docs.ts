/**
 * Writes the help files in doc/ and the types of the options. The pages in scripts/docs/ are filled with the
 * descriptions of options, commands, mappings and tools, and with the values of constants. With `--check` it writes
 * nothing, and exits 1 if a file is outdated. NVIM_0_12 names the Neovim that describes the plugin.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../src/lib/errors";
import { ROOT, readFacts } from "./docs/facts";
import { numbers } from "./docs/numbers";
import { sections } from "./docs/sections";
import { configTypes } from "./docs/types";

const PAGES = join(ROOT, "scripts/docs");

/** The texts of the generated files, by path in the repository. */
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

/** The paths of the generated files that are outdated. */
export function drifted(files: Record<string, string>): string[] {
  const current = (path: string) => attempt(() => readFileSync(join(ROOT, path), "utf8"));
  return Object.keys(files).filter((path) => current(path) !== files[path]);
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
