import type { EditorPort } from "../../editor/port";
import { loadedFiles } from "../../editor/state";
import { fileUri } from "../../lib/file-uri";
import type { Subscribers } from "./subscribers";

/** A language server reports on many files at once, and a session opens many: each is one change. */
const FOLD_MS = 100;

/** `diagnostics_changed` (spec 03) with the files whose diagnostics changed. */
export function notifyDiagnostics(editor: EditorPort, subscribers: Subscribers): void {
  const changed = new Set<string>();
  const notify = folded(() => {
    subscribers.notify("diagnostics_changed", { uris: [...changed].map((path) => fileUri(path)) });
    changed.clear();
  });
  editor.onDelta.on(({ diagnostics = [] }) => {
    for (const { path } of diagnostics) changed.add(path);
    if (changed.size > 0) notify();
  });
}

/** MCP's notification that other files are open. */
export function notifyResources(editor: EditorPort, subscribers: Subscribers): void {
  let sent = "";
  const compare = folded(() => {
    const now = JSON.stringify(loadedFiles(editor.state).map(({ path }) => path));
    if (now === sent) return;
    sent = now;
    subscribers.notify("notifications/resources/list_changed", undefined);
  });
  editor.onDelta.on(({ full, buffers, removed }) => {
    if (full || buffers || removed) compare();
  });
}

/** Does it once for a burst of calls. */
function folded(action: () => void): () => void {
  let timer: Timer | undefined;
  return () => {
    if (timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      action();
    }, FOLD_MS);
  };
}
