import * as v from "valibot";
import type { EditorPort } from "../../editor/port";
import { message } from "../../lib/errors";
import { own } from "../../lib/json";
import { type GroupResult, runInGroup } from "../../lib/process-group";
import { onPath } from "../../lib/programs";
import { failed, type ToolResult, texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";

/** The user's option `execute_code`. */
export const ExecuteCodeOptions = v.object({
  enabled: v.boolean(),
  /** Program and arguments for each language; the code goes to its stdin. */
  languages: v.record(v.string(), v.pipe(v.array(v.string()), v.minLength(1))),
});

export type ExecuteCodeOptions = v.InferOutput<typeof ExecuteCodeOptions>;

/** The language of code that names none, as the example of the specification. */
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
      try {
        return report(await runCode(code, { command: [program.path, ...args], cwd, signal }));
      } catch (error) {
        return failed(`${command[0]} cannot be started: ${message(error)}`);
      }
    },
  });
}

/** stdout first, then stderr and how it ended, each only if there is something to say. */
function report({ stdout, stderr, exitCode }: GroupResult): ToolResult {
  const blocks = [stdout, ...(stderr === "" ? [] : [`stderr:\n${stderr}`])];
  if (exitCode === 0) return texts(...blocks);
  const problem = exitCode === undefined ? STOPPED : `Exit code ${exitCode}.`;
  return { ...texts(...blocks, problem), isError: true };
}

const LIMITS = {
  timeoutMs: 30_000,
  /** The limit of each stream. */
  outputBytes: 1024 * 1024,
} as const;
const STOPPED =
  "Ended by a signal: after 30 s, or 1 MB of output, it is stopped, with everything in its process group.";

export interface Run {
  /** Program and arguments; the code goes to its stdin. */
  command: readonly string[];
  cwd: string;
  signal: AbortSignal;
}

/** Runs `code` out of process. Rejects when the program cannot be started. */
export function runCode(
  code: string,
  { command, cwd, signal }: Run,
  limits: { readonly [name in keyof typeof LIMITS]: number } = LIMITS,
): Promise<GroupResult> {
  const { timeoutMs: timeout, outputBytes: maxBuffer } = limits;
  return runInGroup(command, { cwd, stdin: Buffer.from(code), timeout, maxBuffer, signal });
}
