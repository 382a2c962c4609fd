import * as v from "valibot";
import { texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import type { NeovimProblems } from "../neovim/problems";
import { byFile } from "./shapes";

/** Spec 04, section 2.2: what the Stop hook asks Claude to call. */
export function getSessionDiagnostics(problems: NeovimProblems): Tool {
  return defineTool({
    name: "get_session_diagnostics",
    description: "Get diagnostics only for files edited in the current Claude session",
    input: v.object({}),
    annotations: { readOnlyHint: true },
    // Claude Code otherwise hides tools behind a search (measured with 2.1.330).
    meta: { "anthropic/alwaysLoad": true },
    async call() {
      const found = await problems.ofSession();
      const list = JSON.stringify(byFile(found));
      // No problems known is not the same as no problems.
      return found.unknown ? texts(list, found.unknown) : texts(list);
    },
  });
}
