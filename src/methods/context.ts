import * as v from "valibot";
import { defineMethod } from "./method";

/** More would be the whole file: that is what resources are for. */
const MOST_LINES = 1_000;

const lines = (what: string) =>
  v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(MOST_LINES),
      v.description(`Lines ${what} the cursor`),
    ),
    5,
  );

/** Spec 05: the text around the cursor, without line ends at either side, and where that is. */
export const context = defineMethod({
  name: "editor/context",
  description: "The lines around the cursor, the enclosing function and the file type",
  input: v.object({ lines_before: lines("before"), lines_after: lines("after") }),
  async answer(editor, { lines_before, lines_after }) {
    const { line, column, before, after, text, function_name, filetype } = await editor.context(
      lines_before,
      lines_after,
    );
    return {
      current_line: line,
      current_column: column,
      context_before: before,
      context_after: after,
      current_line_text: text,
      function_name: function_name ?? null,
      file_type: filetype === "" ? "text" : filetype,
    };
  },
});
