import * as v from "valibot";
import { texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import type { Diffs } from "../diffs/diffs";

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
