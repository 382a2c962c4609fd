import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import type { Import } from "./cycles";
import { type Literal, luaLiterals } from "./lua-literals";

const REQUIRED = /(?:\brequire\s*\(?|\bpcall\(\s*require\s*,|\bloaded\s*\[)\s*$/;
/** Matches a string of Vim script: `v:lua.require'claude-code'.statusline()`. */
const IN_VIM_SCRIPT = /\brequire\s*\(?\s*['"](claude-code[\w.]*)['"]/g;

/**
 * The requires between Lua files, also in functions and by `package.loaded`. For a composed name, `"claude-code." ..
 * name`, every literal of the file that completes the name of a module counts; or every file of the folder if no
 * literal does.
 */
export function luaImports(root: string): Import[] {
  const files = [...new Glob("{lua,plugin}/**/*.lua").scanSync({ cwd: root })].sort();
  return files.flatMap((from) => {
    const literals = luaLiterals(readFileSync(join(root, from), "utf8"));
    return literals.flatMap((literal) =>
      modulesOf(literal, literals, root)
        .map((name) => ({ from, to: fileOf(root, name) ?? name, line: literal.line }))
        .filter(({ to }) => to !== from),
    );
  });
}

function modulesOf(literal: Literal, all: readonly Literal[], root: string): string[] {
  const { text, before, after } = literal;
  if (!REQUIRED.test(before)) {
    return [...text.matchAll(IN_VIM_SCRIPT)].map(([, name = ""]) => name);
  }
  if (/^claude-code(\.\w+)*$/.test(text)) return [text];
  if (!text.startsWith("claude-code.") || !/^\s*\.\./.test(after)) return [];
  const named = all
    .filter((other) => /^\w+(\.\w+)*$/.test(other.text))
    .map((other) => text + other.text)
    .filter((name) => fileOf(root, name));
  return named.length > 0 ? named : modulesIn(root, text);
}

function modulesIn(root: string, prefix: string): string[] {
  const cwd = join(root, "lua", prefix.replaceAll(".", "/"));
  return ["*.lua", "*/init.lua"]
    .flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd })])
    .filter((file) => file !== "init.lua")
    .map((file) => prefix + file.replace(/(\/init)?\.lua$/, ""))
    .sort();
}

function fileOf(root: string, name: string): string | undefined {
  const path = `lua/${name.replaceAll(".", "/")}`;
  return [`${path}.lua`, `${path}/init.lua`].find((file) => existsSync(join(root, file)));
}
