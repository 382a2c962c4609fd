import type { EditorPort } from "../../editor/port";
import { fileUri } from "../../lib/file-uri";
import type { Subscribers } from "./subscribers";

/** A language server reports on many files at once, and Neovim in many small steps. */
const FOLD_MS = 100;

/** `diagnostics_changed` (spec 03) with the files whose diagnostics changed. */
export function notifyDiagnostics(editor: EditorPort, subscribers: Subscribers): void {
  const changed = new Set<string>();
  let timer: Timer | undefined;
  const notify = () => {
    timer = undefined;
    subscribers.notify("diagnostics_changed", { uris: [...changed].map(fileUri) });
    changed.clear();
  };
  editor.onDelta.on(({ diagnostics = [] }) => {
    for (const { path } of diagnostics) changed.add(path);
    if (timer || changed.size === 0) return;
    timer = setTimeout(notify, FOLD_MS);
  });
}
