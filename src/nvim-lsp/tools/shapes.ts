import { isAbsolute, relative } from "node:path";
import type { Diagnostic } from "../../editor/model";
import { SEVERITY_NAMES } from "../../editor/severity";
import type { FileProblems, Problems } from "../neovim/problems";

/** One diagnostic in the shape of spec 04, section 2.3; line and column 1-based. */
export function listed(item: Diagnostic): object {
  return {
    line: item.lnum + 1,
    column: item.col + 1,
    severity: SEVERITY_NAMES.vim[item.severity - 1],
    message: item.message,
    source: item.source ?? "lsp",
  };
}

/** `{ path: [diagnostic, …] }`, files without any left out. */
export function byFile({ files, folders }: Problems): Record<string, object[]> {
  const entries = files
    .filter(({ items }) => items.length > 0)
    .map((file) => [nameOf(file, folders), file.items.map(listed)] as const);
  return Object.fromEntries(entries);
}

/**
 * A file's path, relative to Neovim's working folder (spec 04 has `fnamemodify(…, ":.")`); absolute
 * outside, as two folders may have files of the same name.
 */
export function nameOf(file: Pick<FileProblems, "path" | "real">, [cwd]: string[]): string {
  if (cwd === undefined) return file.path;
  for (const path of [file.real, file.path]) {
    const name = relative(cwd, path);
    if (name !== "" && !name.startsWith("..") && !isAbsolute(name)) return name;
  }
  return file.path;
}
