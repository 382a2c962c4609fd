import { isAbsolute } from "node:path";
import * as v from "valibot";
import type { EditorPort, Params } from "../../editor/methods";
import { refuseControlCharacters, refuseLong, resolvePath } from "../../editor/path";
import { texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import type { Diffs, Rejections } from "../diffs";

/** Spec 4.11. Claude Code calls it at every prompt, so only the calling client's own diffs close. */
export function closeAllDiffTabs(diffs: Diffs): Tool {
  return defineTool({
    name: "closeAllDiffTabs",
    description: "Close the diffs that this client opened; each counts as rejected",
    input: v.object({}),
    async call(_input, { client }) {
      return texts(`closed ${await diffs.closeOf(client.id)} diff tabs`);
    },
  });
}

const Input = v.object({ tab_name: v.string() });

/**
 * Spec 4.12. Closes the client's diff of that name, else the buffer of that name (for no client that
 * runs elsewhere), and is content if there is none: Claude Code sends it twice for one diff.
 */
export function closeTab(editor: EditorPort, diffs: Diffs, rejections: Rejections): Tool {
  return defineTool({
    name: "close_tab",
    input: Input,
    async call({ tab_name }, { client }) {
      const closed = await diffs.closeNamed(client.id, tab_name);
      if (closed === 0 && !client.remote && !diffs.isDiffName(tab_name)) {
        await editor.call("tab_close", tabNamed(tab_name, editor.state.folders[0]));
      }
      rejections.tabClosed(client);
      return texts("TAB_CLOSED");
    },
  });
}

/** A path, relative ones taken from the workspace, or a file's last name as it is. */
function tabNamed(name: string, root: string | undefined): Params<"tab_close"> {
  refuseLong(name);
  refuseControlCharacters(name);
  const isPath = isAbsolute(name) || (name.includes("/") && root !== undefined);
  return isPath ? { path: resolvePath(name, root) } : { name };
}
