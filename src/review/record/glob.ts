/**
 * A glob on paths, as lua/claude-code/editor/privacy/glob.lua has them: `*` and `?` within one part,
 * `[a-z]`, `[!a-z]`, `{a,b}`, and `**` for any number of whole parts.
 */
export type Glob = readonly (readonly (RegExp | "**")[])[];

export function compileGlob(glob: string): Glob {
  return spellings(glob).map((spelling) =>
    spelling.split("/").map((part) => (part === "**" ? part : translate(part))),
  );
}

/** `path`: with `/` between its parts. */
export function matchesGlob(glob: Glob, path: string): boolean {
  const parts = path.split("/");
  return glob.some((patterns) => matchFrom(patterns, parts, 0, 0));
}

function matchFrom(
  patterns: readonly (RegExp | "**")[],
  parts: readonly string[],
  p: number,
  i: number,
): boolean {
  const pattern = patterns[p];
  if (pattern === undefined) return i >= parts.length;
  if (pattern !== "**") {
    return (
      i < parts.length && pattern.test(parts[i] ?? "") && matchFrom(patterns, parts, p + 1, i + 1)
    );
  }
  for (let skip = i; skip <= parts.length; skip++) {
    if (matchFrom(patterns, parts, p + 1, skip)) return true;
  }
  return false;
}

/** Every spelling of a glob with braces. A brace that never closes stands for itself. */
function spellings(text: string): string[] {
  const from = text.indexOf("{");
  const found = from < 0 ? undefined : choices(text, from);
  if (!found) return [text];
  const [before, after] = [text.slice(0, from), text.slice(found.close + 1)];
  return found.list.flatMap((choice) => spellings(before + choice + after));
}

function choices(text: string, from: number): { list: string[]; close: number } | undefined {
  const list: string[] = [];
  for (let i = from, depth = 0, start = from + 1; i < text.length; i++) {
    const char = text[i];
    if (char === "{") depth += 1;
    else if ((char === "," || char === "}") && depth === 1) {
      list.push(text.slice(start, i));
      start = i + 1;
      if (char === "}") return { list, close: i };
    } else if (char === "}") depth -= 1;
  }
  return undefined;
}

function translate(part: string): RegExp {
  const source = part.replaceAll(
    /\[([!^]?)([^\]]+)\]|\*|\?|[\\^$.|+()[\]{}]/g,
    (found, negated: string, body: string | undefined) => {
      if (body !== undefined)
        return `[${negated ? "^" : ""}${body.replaceAll(/[\\\]^[]/g, "\\$&")}]`;
      if (found === "*") return ".*";
      return found === "?" ? "." : `\\${found}`;
    },
  );
  try {
    return new RegExp(`^${source}$`, "su");
  } catch {
    // A range like [z-a]: it matches nothing, as in Lua.
    return /(?!)/;
  }
}
