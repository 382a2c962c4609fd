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
  return glob.some((patterns) => matches(patterns, parts));
}

/** Behind a `**` that was passed, no earlier one has to take more: the time is that of all pairs at most. */
function matches(patterns: readonly (RegExp | "**")[], parts: readonly string[]): boolean {
  let [p, i, anyParts, from] = [0, 0, -1, 0];
  while (i < parts.length) {
    const pattern = patterns[p];
    if (pattern === "**") {
      [anyParts, from] = [p, i];
      p++;
    } else if (pattern?.test(parts[i] ?? "")) {
      p++;
      i++;
    } else if (anyParts >= 0) {
      p = anyParts + 1;
      from++;
      i = from;
    } else return false;
  }
  return patterns.slice(p).every((pattern) => pattern === "**");
}

/** Every spelling of a glob with braces. A brace that never closes stands for itself. */
function spellings(text: string): string[] {
  const found = firstChoices(text);
  if (!found) return [text];
  return found.list.flatMap((choice) => spellings(found.before + choice + found.after));
}

function firstChoices(text: string) {
  const from = text.indexOf("{");
  const found = from < 0 ? undefined : choices(text, from);
  return (
    found && { list: found.list, before: text.slice(0, from), after: text.slice(found.close + 1) }
  );
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

/**
 * Each `*` takes as little as it can, and nothing else afterwards, which `(?=(…))\1` says: a regular
 * expression that tries all ways takes years for forty of them.
 */
function translate(part: string): RegExp {
  const [first = "", ...others] = escaped(part).split(STAR);
  const last = others.pop();
  const between = others.map((text, index) => `(?=(.*?${text}))(?:\\${index + 1})`).join("");
  const rest = last === undefined ? "" : `.*${last}`;
  try {
    return new RegExp(`^${first}${between}${rest}$`, "su");
  } catch {
    // A range like [z-a]: it matches nothing, as in Lua.
    return /(?!)/;
  }
}

/** No path holds it. */
const STAR = "\0";

function escaped(text: string): string {
  return text.replaceAll(
    /\[([!^]?)([^\]]+)\]|\*|\?|[\\^$.|+()[\]{}]/g,
    (found, negated: string, body: string | undefined) => {
      if (body !== undefined)
        return `[${negated ? "^" : ""}${body.replaceAll(/[\\\]^[]/g, "\\$&")}]`;
      if (found === "*") return STAR;
      return found === "?" ? "." : `\\${found}`;
    },
  );
}
