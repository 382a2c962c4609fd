import { loadedFiles } from "../../editor/buffers";
import type { Delta } from "../../editor/model";
import type { EditorPort } from "../../editor/port";
import type { Subscribers } from "./subscribers";

/** Opening a session of many files is one change, not many. */
const FOLD_MS = 100;

/** MCP's notification that other files are open, once for a burst of changes. */
export function notifyResources(editor: EditorPort, subscribers: Subscribers): void {
  let sent = "";
  let timer: Timer | undefined;
  const compare = () => {
    timer = undefined;
    const now = JSON.stringify(loadedFiles(editor.state).map(({ path }) => path));
    if (now === sent) return;
    sent = now;
    subscribers.notify("notifications/resources/list_changed", undefined);
  };
  editor.onDelta.on(({ full, buffers, removed }: Delta) => {
    if (timer || !(full || buffers || removed)) return;
    timer = setTimeout(compare, FOLD_MS);
  });
}
