import { realPath } from "../lib/paths";
import type { Delta, Diagnostic, EditorBuffer, FilePath } from "./model";

interface FileDiagnostics {
  readonly buf: number;
  readonly path: string;
  readonly items: readonly Diagnostic[];
}

/** Neovim's state as last reported. Only `apply` changes it. */
export class EditorState {
  #buffers = new Map<number, EditorBuffer>();
  #diagnostics = new Map<number, FileDiagnostics>();
  /** Real paths; the current working directory is the first. */
  folders: readonly string[] = [];
  /** Buffer number of the current window; 0 before anything is known. */
  current = 0;
  /** Files on whose last written text a report of a language server is pending. */
  pending: ReadonlySet<string> = new Set();

  apply(delta: Delta): void {
    if (delta.full) {
      this.#buffers.clear();
      this.#diagnostics.clear();
    }
    for (const buffer of delta.buffers ?? []) this.#buffers.set(buffer.buf, buffer);
    for (const buf of delta.removed ?? []) {
      this.#buffers.delete(buf);
      this.#diagnostics.delete(buf);
    }
    for (const file of delta.diagnostics ?? []) {
      if (file.items.length > 0) this.#diagnostics.set(file.buf, file);
      else this.#diagnostics.delete(file.buf);
    }
    if (delta.folders) this.folders = delta.folders;
    if (delta.current !== undefined) this.current = delta.current;
    if (delta.pending) this.pending = new Set(delta.pending);
  }

  /** In the order of their numbers, which is the order of `:ls`. */
  get buffers(): EditorBuffer[] {
    return [...this.#buffers.values()].sort((a, b) => a.buf - b.buf);
  }

  /** Files with at least one diagnostic, in the order of their buffers' numbers. */
  get diagnostics(): FileDiagnostics[] {
    return [...this.#diagnostics.values()].sort((a, b) => a.buf - b.buf);
  }

  diagnosticsOf(buf: number): readonly Diagnostic[] {
    return this.#diagnostics.get(buf)?.items ?? [];
  }
}

/** The buffer that shows the file at `path`: of equal name, else of equal real path. */
export function bufferAt(state: EditorState, path: FilePath): EditorBuffer | undefined {
  const { buffers } = state;
  const named = (name: string) => buffers.find((buffer) => buffer.path === name);
  const real = realPath(path);
  return (
    named(path) ??
    named(real) ??
    buffers.find((buffer) => buffer.path !== undefined && realPath(buffer.path) === real)
  );
}

type FileBuffer = EditorBuffer & { path: string };

/** The files that a user has open: what `:ls` lists, without unnamed and special buffers. */
export function openFiles(state: Pick<EditorState, "buffers">): FileBuffer[] {
  return state.buffers.filter(
    (buffer): buffer is FileBuffer => buffer.listed && buffer.path !== undefined,
  );
}

/** Those with a text; others are only named (`:args`, `:badd`, a restored session). */
export function loadedFiles(state: EditorState): FileBuffer[] {
  return openFiles(state).filter(({ loaded }) => loaded);
}

/**
 * The names of LSP's severities 1 to 4, as each reader spells them. Not in `model.ts`: a hook must not load schemas.
 */
export const SEVERITY_NAMES = {
  /** In a line as compilers write it. */
  compiler: ["error", "warning", "information", "hint"],
  /** Spec 02, 4.6, as VS Code's API. */
  vscode: ["Error", "Warning", "Information", "Hint"],
  /** Spec 04, section 2.3, as `vim.diagnostic.severity`. */
  vim: ["ERROR", "WARN", "INFO", "HINT"],
} as const;
