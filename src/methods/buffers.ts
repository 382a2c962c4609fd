import { basename } from "node:path";
import * as v from "valibot";
import type { EditorBuffer } from "../editor/model";
import { fileUri } from "../lib/file-uri";
import { defineMethod } from "./method";

/**
 * Spec 05, with Neovim's meaning: `major_mode` is the filetype, `size` counts characters (0 for a
 * buffer that is not loaded), special buffers are those that show no file or are not listed.
 */
export const buffers = defineMethod({
  name: "editor/buffers",
  description:
    "The open buffers: name, file, unsaved changes, size, filetype, which one is current",
  input: v.object({
    include_special: v.optional(
      v.pipe(v.boolean(), v.description("Also unlisted, unnamed and special buffers")),
      false,
    ),
  }),
  async answer(editor, { include_special }) {
    const state = await editor.sync();
    const shown = state.buffers.filter((buffer) => include_special || !isSpecial(buffer));
    const sizes = await editor.bufferSizes(shown.map(({ buf }) => buf));
    const list = shown.map((buffer, index) => ({
      name: buffer.path === undefined ? buffer.name : basename(buffer.path),
      uri: buffer.path === undefined ? null : fileUri(buffer.path),
      modified: buffer.modified,
      size: sizes[index] ?? 0,
      major_mode: buffer.filetype,
      active: buffer.buf === state.current,
    }));
    return { buffers: list, total: list.length };
  },
});

function isSpecial(buffer: EditorBuffer): boolean {
  return !buffer.listed || buffer.path === undefined;
}
