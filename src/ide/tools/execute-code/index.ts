import * as v from "valibot";
import type { EditorPort } from "../../../editor/port";
import { message } from "../../../lib/errors";
import { own } from "../../../lib/own";
import { onPath } from "../../../lib/programs";
import { failed, type ToolResult, texts } from "../../../mcp/protocol";
import { defineTool, type Tool } from "../../../mcp/tool";
import type { ExecuteCodeOptions } from "./options";
import type { RunResult } from "./run";

/** Of code that names none, as the example of the specification. */
const USUAL_LANGUAGE = "python";

/**
 * Spec 4.13, which leaves it to us whether to have this tool: of all tools its model sees only this one
 * and getDiagnostics. Only there when the user switched it on; runs outside Neovim, in the workspace.
 */
export function executeCode(editor: EditorPort, options: ExecuteCodeOptions): Tool<"executeCode"> {
  const languages = Object.keys(options.languages).sort();
  const [first = USUAL_LANGUAGE] = languages;
  return defineTool({
    name: "executeCode",
    description: `Run code on the user's machine, in the workspace folder, and return its output. Languages: ${languages.join(", ")}`,
    input: v.object({
      code: v.pipe(v.string(), v.description("The program to run")),
      language: v.optional(
        v.pipe(v.picklist(languages), v.description("Language of the code")),
        languages.includes(USUAL_LANGUAGE) ? USUAL_LANGUAGE : first,
      ),
    }),
    annotations: { readOnlyHint: false, destructiveHint: true },
    async call({ code, language }, { signal }) {
      const command = own(options.languages, language);
      if (!command) return failed(`No command is configured for ${language}.`);
      const cwd = editor.state.folders[0];
      if (!cwd) return failed("There is no workspace folder to run in.");
      const [name = "", ...args] = command;
      // A path is the user's own choice; a name is looked up, never in the workspace.
      const program = name.includes("/") ? { path: name } : onPath(name);
      if (program.path === undefined) return failed(`The command for ${language}: ${program.why}.`);
      // Loaded only here: few users allow it, and every start would wait for it.
      const { runCode } = await import("./run");
      try {
        return report(await runCode(code, { command: [program.path, ...args], cwd, signal }));
      } catch (error) {
        return failed(`${command[0]} cannot be started: ${message(error)}`);
      }
    },
  });
}

/** stdout first, then stderr and how it ended, each only if there is something to say. */
function report(result: RunResult): ToolResult {
  const blocks = [result.stdout];
  if (result.stderr !== "") blocks.push(`stderr:\n${result.stderr}`);
  const problem = problemOf(result);
  if (!problem) return texts(...blocks);
  return { ...texts(...blocks, problem), isError: true };
}

function problemOf({ end, exitCode }: RunResult): string | undefined {
  if (end === "timed out") return "Stopped after 30 s, with everything in its process group.";
  if (end === "cancelled") return "Cancelled.";
  if (exitCode === 0) return undefined;
  return exitCode === undefined ? "Ended by a signal." : `Exit code ${exitCode}.`;
}
