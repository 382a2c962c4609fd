import type { Occurrence, Occurrences } from "./occurrences";
import type { ProjectFiles } from "./project-files";
import { placeKey, placesOnDisk, type Uses } from "./uses";

/** Where else the word stands: what the servers did not list. */
export interface Remains {
  comments: number;
  strings: number;
  texts: number;
  /** Symbols of the same name, as far as the servers know. */
  code: Occurrence[];
  isCut: boolean;
  files: Map<string, number>;
}

export function remainsOf(
  { list, isCut }: Occurrences,
  known: readonly Uses[],
  isWithin: (name: string) => boolean,
  project: ProjectFiles,
): Remains {
  const uses = new Set(known.flatMap((each) => [...placesOnDisk(each)]));
  const remains: Remains = {
    comments: 0,
    strings: 0,
    texts: 0,
    code: [],
    isCut,
    files: new Map(),
  };
  for (const found of list) {
    const { path, line, column, context } = found;
    const name = project.nameOf(path);
    if (!isWithin(name) || uses.has(placeKey(path, line, column))) continue;
    if (context === "code") remains.code.push(found);
    else if (context === "comment") remains.comments++;
    else if (context === "string") remains.strings++;
    else remains.texts++;
    remains.files.set(name, (remains.files.get(name) ?? 0) + 1);
  }
  return remains;
}

const MOST_FILES = 3;

/** So that no second search is needed. `word`: how the line names it. */
export function remainsLine(
  { comments, strings, texts, code, isCut, files }: Remains,
  word = "the word",
): string {
  const counts = [
    [comments, "in comments"],
    [strings, "in strings"],
    [texts, "in other texts"],
    [code.length, code.length === 1 ? "other symbol" : "other symbols"],
  ] as const;
  const shown = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  if (shown.length === 0) return `${word} stands nowhere else in the project`;
  const most = [...files].sort(([x, a], [y, b]) => b - a || (x < y ? -1 : 1)).slice(0, MOST_FILES);
  const names = most.map(([name, count]) => `${name} ${count}`).join(", ");
  const dots = files.size > most.length ? ", …" : "";
  const cut = isCut ? "; more files were not looked at" : "";
  return `${word} elsewhere: ${shown.join(", ")} (${names}${dots}${cut})`;
}
