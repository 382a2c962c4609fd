import { realPath } from "../lib/paths";
import type { Delta, Diagnostic, EditorBuffer, FilePath } from "./model";

interface FileDiagnostics {
  readonly buf: number;
  readonly path: string;
  readonly items: readonly Diagnostic[];
}

/** The state that Neovim has reported. Only `apply` changes it. */
export class EditorState {
  #buffers = new Map<number, EditorBuffer>();
  #diagnostics = new Map<number, FileDiagnostics>();
  /** Real paths; the current working directory is the first. */
  folders: readonly string[] = [];
  /** The buffer of the current window; 0 before Neovim has reported. */
  current = 0;
  /** Files that were written, and on which language servers have not reported since. */
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

  /** Sorted by number, as in `:ls`. */
  get buffers(): EditorBuffer[] {
    return [...this.#buffers.values()].sort((a, b) => a.buf - b.buf);
  }

  /** The files with diagnostics, sorted by buffer number. */
  get diagnostics(): FileDiagnostics[] {
    return [...this.#diagnostics.values()].sort((a, b) => a.buf - b.buf);
  }

  diagnosticsOf(buf: number): readonly Diagnostic[] {
    return this.#diagnostics.get(buf)?.items ?? [];
  }
}

/** The buffer of the file at `path`: by the same name, or else by the same real path. */
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

/** The files that `:ls` lists, without unnamed and special buffers. */
export function openFiles(state: Pick<EditorState, "buffers">): FileBuffer[] {
  return state.buffers.filter(
    (buffer): buffer is FileBuffer => buffer.listed && buffer.path !== undefined,
  );
}

/** The open files that are loaded; others have only a name (`:args`, `:badd`, a restored session). */
export function loadedFiles(state: EditorState): FileBuffer[] {
  return openFiles(state).filter(({ loaded }) => loaded);
}

/** The names of LSP's severities 1 to 4. They are not in `model.ts`, since a hook must not load schemas. */
export const SEVERITY_NAMES = {
  /** For lines in the format of compilers. */
  compiler: ["error", "warning", "information", "hint"],
  /** Spec 02, 4.6: the names of VS Code's API. */
  vscode: ["Error", "Warning", "Information", "Hint"],
  /** Spec 04, section 2.3: the names of `vim.diagnostic.severity`. */
  vim: ["ERROR", "WARN", "INFO", "HINT"],
} as const;
