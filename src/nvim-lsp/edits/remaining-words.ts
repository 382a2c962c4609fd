import { occurrencesOf } from "../../language/occurrences";
import type { ProjectFiles } from "../../language/project-files";
import { shownPath } from "../../lib/paths";

const MOST_FILES = 12;

/** Where a name still stands in the project after a rename, counted: one line, or none. */
export async function remainingWords(
  name: string,
  project: ProjectFiles,
  root: string,
): Promise<string[]> {
  const { list, isCut } = await occurrencesOf(name, project);
  if (list.length === 0) return [`\`${name}\` no longer occurs in the project.`];
  const contexts = new Map<string, number>();
  const files = new Map<string, number>();
  for (const { path, context } of list) {
    contexts.set(context, (contexts.get(context) ?? 0) + 1);
    files.set(path, (files.get(path) ?? 0) + 1);
  }
  const kinds = [...contexts].map(([kind, count]) => `${kind} ${count}`).join(", ");
  const names = [...files]
    .slice(0, MOST_FILES)
    .map(([path, count]) => `${shownPath(path, root)} ${count}`);
  const more = files.size - names.length;
  const rest = more > 0 || isCut ? ` and ${isCut ? "more" : `${more} more`} files` : "";
  return [`\`${name}\` still occurs, by text alone (${kinds}): ${names.join(", ")}${rest}`];
}
