import { realPath } from "../lib/paths";
import type { EditorBuffer, FilePath } from "./model";
import type { EditorState } from "./state";

/** The buffer that shows the file at `path`: of equal name, else of equal real path. */
export function bufferAt(state: EditorState, path: FilePath): EditorBuffer | undefined {
  const named = state.bufferAt(path);
  if (named) return named;
  const real = realPath(path);
  return (
    state.bufferAt(real) ??
    state.buffers.find((buffer) => buffer.path !== undefined && realPath(buffer.path) === real)
  );
}

export type FileBuffer = EditorBuffer & { path: string };

/** The files that a user has open: what `:ls` lists, without unnamed and special buffers. */
export function openFiles(state: EditorState): FileBuffer[] {
  return state.buffers.filter(
    (buffer): buffer is FileBuffer => buffer.listed && buffer.path !== undefined,
  );
}

/** Those with a text; others are only named (`:args`, `:badd`, a restored session). */
export function loadedFiles(state: EditorState): FileBuffer[] {
  return openFiles(state).filter(({ loaded }) => loaded);
}
