import type { Diagnostic } from "../editor/model";
import { SEVERITY_NAMES } from "../editor/state";
import { shownPath } from "../lib/paths";
import { visibleLine } from "../lib/visible";

const MAX_CHARACTERS = 200;

/** Formats a problem as compilers do, in one line: `src/a.ts:3:7 error: … [code] (source)`. */
export function problemLine(path: string, item: Diagnostic, root: string): string {
  const place = `${shownPath(path, root)}:${item.lnum + 1}:${item.col + 1}`;
  const code = item.code ? ` [${firstLine(String(item.code))}]` : "";
  const source = item.source ? ` (${firstLine(item.source)})` : "";
  return `${place} ${SEVERITY_NAMES.compiler[item.severity - 1]}: ${firstLine(item.message)}${code}${source}`;
}

/** A message may quote source code, with long lines and any characters. */
function firstLine(message: string): string {
  const line = message.trim().split("\n", 1)[0] ?? "";
  return visibleLine(line, MAX_CHARACTERS);
}
