/**
 * Checks the names of LuaLS classes. `bun scripts/check-classes.ts` prints each class or alias that two places declare,
 * and then exits 1. The language server would merge the two, and check neither.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";

const ROOT = dirname(import.meta.dir);
const DECLARED = /^\s*---@(?:class|alias|enum)\s+(?:\([\w, ]+\)\s*)?([\w.-]+)/gm;

const places = new Map<string, string[]>();
for (const path of [...new Glob("{lua,plugin}/**/*.lua").scanSync({ cwd: ROOT })].sort()) {
  const text = readFileSync(join(ROOT, path), "utf8");
  for (const { 1: name = "", index } of text.matchAll(DECLARED)) {
    const line = text.slice(0, index).split("\n").length;
    places.set(name, [...(places.get(name) ?? []), `${path}:${line}`]);
  }
}
const doubles = [...places].filter(([, found]) => found.length > 1);
for (const [name, found] of doubles) console.error(`${name}: declared at ${found.join(", ")}`);
process.exit(doubles.length > 0 ? 1 : 0);
