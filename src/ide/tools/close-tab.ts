import * as v from "valibot";
import { refuseControlCharacters, resolvePath } from "../../editor/path";
import type { EditorPort } from "../../editor/port";
import { texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import type { Diffs } from "../diffs";
import type { Rejections } from "../rejections";

const Input = v.object({ tab_name: v.string() });

/**
 * Spec 4.12. Closes the client's diff of that name, else the buffer of that name, and is content if
 * there is none: Claude Code sends it twice for one diff.
 */
export function closeTab(editor: EditorPort, diffs: Diffs, rejections: Rejections): Tool {
  return defineTool({
    name: "close_tab",
    input: Input,
    async call({ tab_name }, { client }) {
      const closed = await diffs.closeNamed(client.id, tab_name);
      if (closed === 0 && !diffs.isDiffName(tab_name)) {
        await editor.closeTab(fileNamed(tab_name, editor.state.folders[0]));
      }
      rejections.tabClosed(client);
      return texts("TAB_CLOSED");
    },
  });
}

/** A path, relative ones taken from the workspace, or a file's last name as it is. */
function fileNamed(name: string, root: string | undefined): string {
  refuseControlCharacters(name);
  return name.includes("/") && root ? resolvePath(name, root) : name;
}
