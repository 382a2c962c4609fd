import { isBelow } from "../lib/paths";
import type { LanguagePlace, LanguagePlaces } from "./answer";
import { enclosing } from "./enclosing";
import type { ProjectFiles } from "./project-files";
import { code, indexOf, type SourceLines } from "./source-lines";

/** A line in which a symbol is used. */
export interface UseLine {
  /** From 1, as on disk. */
  line: number;
  /** Only the buffer has it, behind that line. */
  isUnsaved: boolean;
  /** Where on the line, as indices. */
  columns: number[];
  code: string;
  /** The declaration that the line is in. */
  within: string | undefined;
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
  const own = new Set(project.list() ?? []);
  const files = new Map<number, UsesOfFile>();
  const seen = new Set<string>();
  const uses: Uses = { files: [], count: 0, outside: 0, private: places.private };
  for (const place of asList(places.places)) {
    const file = asList(places.files)[place.file - 1];
    if (!file) continue;
    const line = place.unsaved ?? source.at(file.path, place.line);
    const column = indexOf(line, place.character, place.encoding);
    const key = `${file.path}\0${place.line}\0${place.unsaved ?? ""}\0${column}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (!isOwn(file.path, file.in_workspace, own, project)) {
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
    addLine(entry, place, line, column, source);
  }
  uses.files = [...files.values()].sort(byOrder);
  for (const file of uses.files) file.lines.sort((a, b) => a.line - b.line);
  return uses;
}

/** Lua sends an empty list as an empty table. */
export function asList<T>(value: T[] | object | undefined): T[] {
  return Array.isArray(value) ? value : [];
}

function isOwn(
  path: string,
  inWorkspace: boolean,
  own: ReadonlySet<string>,
  project: ProjectFiles,
): boolean {
  if (own.has(path)) return true;
  return inWorkspace && own.size === 0 && isBelow(path, project.root);
}

function addLine(
  file: UsesOfFile,
  place: LanguagePlace,
  text: string,
  column: number,
  source: SourceLines,
): void {
  const isUnsaved = place.unsaved !== undefined;
  const known = file.lines.find((other) => other.line === place.line && !isUnsaved);
  if (known && !known.isUnsaved) {
    known.columns.push(column);
    return;
  }
  const within = enclosing(source.of(file.path), place.line - 1);
  file.lines.push({ line: place.line, isUnsaved, columns: [column], code: code(text), within });
}

const TEST = /(^|\/)(tests?|spec|__tests__)\/|[._-](test|spec)\.|(^|\/)test_|_test\./;

/** Tests last. */
function byOrder(a: UsesOfFile, b: UsesOfFile): number {
  const tests = Number(TEST.test(a.name)) - Number(TEST.test(b.name));
  return tests !== 0 ? tests : a.name < b.name ? -1 : 1;
}
