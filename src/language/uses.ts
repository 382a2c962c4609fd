import { isBelow, realPath } from "../lib/paths";
import type { LanguageFile, LanguagePlace, LanguagePlaces } from "./answer";
import type { ProjectFiles } from "./project-files";
import { indexOf, type SourceLines } from "./source-lines";

export interface UseLine {
  /** From 1, as on disk. */
  line: number;
  /** Only the buffer has it, behind that line. */
  isUnsaved: boolean;
  /** Where on the line, as indices. */
  columns: number[];
  text: string;
}

export interface UsesOfFile {
  path: string;
  name: string;
  /** Its buffer has unsaved changes. */
  unsaved: boolean;
  /** The lines are those of the buffer. */
  unmapped: boolean;
  lines: UseLine[];
  count: number;
}

export interface Uses {
  files: UsesOfFile[];
  count: number;
  /** In files of dependencies, and others outside of the project. */
  outside: number;
  private: number;
}

/** Where a symbol is used on disk: `path`, line and column of each place. */
export function placesOnDisk({ files }: Uses): Set<string> {
  const keys = files.flatMap(({ path, lines }) =>
    lines
      .filter(({ isUnsaved }) => !isUnsaved)
      .flatMap(({ line, columns }) => columns.map((column) => placeKey(path, line, column))),
  );
  return new Set(keys);
}

export function placeKey(path: string, line: number, column: number): string {
  return `${path}\0${line}\0${column}`;
}

/** A place of an answer, with what stands there. */
interface Use {
  place: LanguagePlace;
  file: LanguageFile;
  column: number;
  text: string;
  isOutside: boolean;
}

/** Servers' answers put together, file by file; the same place from two servers counts once. */
export function usesOf(
  places: LanguagePlaces,
  project: ProjectFiles,
  source: SourceLines,
  isWithin: (name: string) => boolean = () => true,
): Uses {
  const all = distinct(placed(places, project, source));
  const inside = all.filter(
    ({ isOutside, file }) => !isOutside && isWithin(project.nameOf(file.path)),
  );
  const files = [...Map.groupBy(inside, ({ place }) => place.file).values()];
  return {
    files: files.map((uses) => usesOfFile(uses, project)).sort(byOrder),
    count: inside.length,
    outside: all.filter(({ isOutside }) => isOutside).length,
    private: places.private,
  };
}

function placed(places: LanguagePlaces, project: ProjectFiles, source: SourceLines): Use[] {
  const { files } = places;
  const areOutside = files.map((file) => !isOwn(file, project));
  return places.places.flatMap((place) => {
    const file = files[place.file - 1];
    if (!file) return [];
    const isOutside = areOutside[place.file - 1] ?? true;
    const text = place.unsaved ?? (isOutside ? "" : source.at(file.path, place.line));
    const column = indexOf(text, place.character, place.encoding);
    return [{ place, file, column, text, isOutside }];
  });
}

function distinct(uses: readonly Use[]): Use[] {
  const byPlace = Map.groupBy(
    uses,
    ({ file, place, column }) => `${file.path}\0${place.line}\0${place.unsaved ?? ""}\0${column}`,
  );
  return [...byPlace.values()].map(([first]) => first as Use);
}

/** Of uses that are all in one file. */
function usesOfFile(uses: readonly Use[], project: ProjectFiles): UsesOfFile {
  const { path, unsaved = false, unmapped = false } = (uses[0] as Use).file;
  const byLine = Map.groupBy(uses, ({ place }) => `${place.line}\0${place.unsaved ?? ""}`);
  const lines = [...byLine.values()].map((same) => {
    const { place, text } = same[0] as Use;
    const columns = same.map(({ column }) => column);
    return { line: place.line, isUnsaved: place.unsaved !== undefined, columns, text };
  });
  lines.sort((a, b) => a.line - b.line);
  return { path, name: project.nameOf(path), unsaved, unmapped, lines, count: uses.length };
}

/** git owns a symlink; the file that it leads to may be anywhere. */
function isOwn({ path, in_workspace }: LanguageFile, project: ProjectFiles): boolean {
  const isOwned = project.owns(path) ?? (in_workspace && isBelow(path, project.root));
  return isOwned && isBelow(realPath(path), project.root);
}

const TEST = /(^|\/)(tests?|spec|__tests__)\/|[._-](test|spec)\.|(^|\/)test_|_test\./;

/** Tests last. */
function byOrder(a: UsesOfFile, b: UsesOfFile): number {
  const tests = Number(TEST.test(a.name)) - Number(TEST.test(b.name));
  return tests !== 0 ? tests : a.name < b.name ? -1 : 1;
}
