import type { Occurrences } from "./occurrences";
import type { ProjectFiles } from "./project-files";
import type { SourceLines } from "./source-lines";
import { placeKey, placesOnDisk, type Uses } from "./uses";

/**
 * Names under which a symbol is imported, where no use of them is listed: `total as sum` in
 * `use shape::{total as sum}`. rust-analyzer does not follow them (1.85); others do.
 */
export function unfollowedAliases(
  name: string,
  uses: Uses,
  project: ProjectFiles,
  source: SourceLines,
): string[] {
  const known = placesOnDisk(uses);
  return uses.files.flatMap(({ path, lines }) =>
    lines.flatMap(({ line }) => {
      const alias = aliasIn(source.at(path, line), name);
      const isFollowed = (at: number, column: number) => known.has(placeKey(path, at, column));
      if (alias === undefined || !isUnlisted(alias, line, source.of(path), isFollowed)) return [];
      return [`uses as ${alias} in ${project.nameOf(path)} are not listed`];
    }),
  );
}

/**
 * The same for callers, of which a server lists whole functions: files that import the symbol under
 * another name, and in which no caller is listed.
 */
export function aliasesWithoutCallers(
  name: string,
  { list }: Occurrences,
  listed: ReadonlySet<string>,
  project: ProjectFiles,
  source: SourceLines,
): string[] {
  const doubts = list.flatMap(({ path, line, context }) => {
    if (context !== "code" || listed.has(path)) return [];
    const alias = aliasIn(source.at(path, line), name);
    return alias === undefined
      ? []
      : [`calls as ${alias} in ${project.nameOf(path)} may not be listed`];
  });
  return [...new Set(doubts)];
}

function aliasIn(text: string, name: string): string | undefined {
  if (!text.includes(" as ")) return undefined;
  const [, before, alias] = /([\p{L}\p{N}_$]+)\s+as\s+([\p{L}_$][\p{L}\p{N}_$]*)/u.exec(text) ?? [];
  return before === name && alias !== name && alias !== "_" ? alias : undefined;
}

function isUnlisted(
  alias: string,
  declared: number,
  lines: readonly string[],
  isFollowed: (line: number, column: number) => boolean,
): boolean {
  const word = new RegExp(
    `(?<![\\p{L}\\p{N}_$])${alias.replaceAll("$", "\\$")}(?![\\p{L}\\p{N}_$])`,
    "gu",
  );
  let found = false;
  for (const [index, text] of lines.entries()) {
    if (index + 1 === declared) continue;
    for (const { index: column } of text.matchAll(word)) {
      if (isFollowed(index + 1, column)) return false;
      found = true;
    }
  }
  return found;
}
