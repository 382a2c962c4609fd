import { isBelow, realPath } from "../lib/paths";
import type { LanguageFile, LanguagePlaces } from "./answer";
import type { ProjectFiles } from "./project-files";
import { indexOf, type SourceLines } from "./source-lines";

/** A line in which a symbol is used. */
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

/** Servers' answers put together, file by file; the same place from two servers counts once. */
export function usesOf(
  places: LanguagePlaces,
  project: ProjectFiles,
  source: SourceLines,
  isWithin: (name: string) => boolean = () => true,
): Uses {
  const files = new Map<number, UsesOfFile>();
  const lines = new Map<string, UseLine>();
  const seen = new Set<string>();
  const own = asList(places.files).map((file) => isOwn(file, project));
  const uses: Uses = { files: [], count: 0, outside: 0, private: places.private };
  for (const place of asList(places.places)) {
    const file = asList(places.files)[place.file - 1];
    if (!file) continue;
    const isOutside = !own[place.file - 1];
    const line = place.unsaved ?? (isOutside ? "" : source.at(file.path, place.line));
    const column = indexOf(line, place.character, place.encoding);
    const key = `${file.path}\0${place.line}\0${place.unsaved ?? ""}\0${column}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (isOutside) {
      uses.outside++;
      continue;
    }
    const name = project.nameOf(file.path);
    if (!isWithin(name)) continue;
    let entry = files.get(place.file);
    if (!entry) {
      entry = {
        path: file.path,
        name,
        unsaved: file.unsaved ?? false,
        unmapped: file.unmapped ?? false,
        lines: [],
        count: 0,
      };
      files.set(place.file, entry);
    }
    uses.count++;
    entry.count++;
    const of = `${place.file}\0${place.line}\0${place.unsaved ?? ""}`;
    const known = lines.get(of);
    if (known) {
      known.columns.push(column);
      continue;
    }
    const isUnsaved = place.unsaved !== undefined;
    const found = { line: place.line, isUnsaved, columns: [column], text: line };
    lines.set(of, found);
    entry.lines.push(found);
  }
  uses.files = [...files.values()].sort(byOrder);
  for (const file of uses.files) file.lines.sort((a, b) => a.line - b.line);
  return uses;
}

/** Lua sends an empty list as an empty table. */
export function asList<T>(value: T[] | object | undefined): T[] {
  return Array.isArray(value) ? value : [];
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
