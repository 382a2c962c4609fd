import * as v from "valibot";
import type { Cursor } from "../editor/model";
import { fileUri } from "../lib/file-uri";
import { defineMethod } from "./method";

/** Spec 05: lines 1-based, columns 0-based in characters, `position` a 1-based character offset. */
export const position = defineMethod({
  name: "editor/position",
  description: "Where the cursor is: line, column, offset, buffer and its length",
  input: v.object({}),
  answer: async (editor) => describeCursor(await editor.cursor()),
});

/** Also the parameters of `editor/position_changed`. */
export function describeCursor(cursor: Cursor): object {
  const { line, column, position: offset, name, path, total_lines } = cursor;
  return {
    line,
    column,
    position: offset,
    buffer: name,
    uri: path === undefined ? null : fileUri(path),
    total_lines,
  };
}
