import * as v from "valibot";
import type { EditorPort } from "../../editor/port";
import { message } from "../../lib/errors";
import { own } from "../../lib/json";
import { killNow, ownChildren } from "../../lib/process";
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

const LIMITS = {
  timeoutMs: 30_000,
  /** Of each stream; what comes behind is dropped, and said so. */
  outputBytes: 1024 * 1024,
} as const;

/** What the program has written arrives a moment after its end. */
const DRAIN_MS = 500;

export interface Run {
  /** Program and arguments; the code goes to its stdin. */
  command: readonly string[];
  cwd: string;
  signal: AbortSignal;
}

interface RunResult {
  stdout: string;
  stderr: string;
  /** Undefined when the run was ended by a signal. */
  exitCode: number | undefined;
  end: "exited" | "timed out" | "cancelled";
}

/**
 * Runs `code` out of process, in a session and a process group of its own. The whole group is killed at the
 * time-out, when `signal` aborts, when the program ends, and with the executable. What leaves the group (a
 * daemon) stays: it has the user's rights, as the program has. Rejects when the program cannot be started.
 */
export async function runCode(
  code: string,
  { command, cwd, signal }: Run,
  limits: { readonly [name in keyof typeof LIMITS]: number } = LIMITS,
): Promise<RunResult> {
  const hasGroups = process.platform !== "win32";
  const child = Bun.spawn([...command], {
    cwd,
    env: process.env,
    detached: hasGroups,
    stdin: Buffer.from(code),
    stdout: "pipe",
    stderr: "pipe",
  });
  const all = hasGroups ? -child.pid : child.pid;
  ownChildren.add(all);
  const stdout = collect(child.stdout, limits.outputBytes);
  const stderr = collect(child.stderr, limits.outputBytes);
  let end: RunResult["end"] = "exited";
  const stop = (why: RunResult["end"]) => {
    end = why;
    killNow(all);
  };
  const timer = setTimeout(() => stop("timed out"), limits.timeoutMs);
  const cancel = () => stop("cancelled");
  signal.addEventListener("abort", cancel, { once: true });
  await child.exited;
  clearTimeout(timer);
  signal.removeEventListener("abort", cancel);
  killNow(all);
  ownChildren.delete(all);
  // A daemon may hold the pipes open.
  await Promise.race([Promise.all([stdout.ended, stderr.ended]), Bun.sleep(DRAIN_MS)]);
  const exitCode = child.exitCode ?? undefined;
  return { stdout: stdout.take(), stderr: stderr.take(), exitCode, end };
}

/** Gathers a stream up to `most` bytes. `take` gives what there is, and ends it. */
function collect(stream: ReadableStream<Uint8Array>, most: number) {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let dropped = 0;
  const read = async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const kept = next.value.subarray(0, most - size);
      size += kept.length;
      dropped += next.value.length - kept.length;
      if (kept.length > 0) chunks.push(kept);
    }
  };
  const take = () => {
    void reader.cancel();
    // A character cut in two at the limit is dropped, not shown as rubbish.
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const text = decoder.decode(Buffer.concat(chunks), { stream: dropped > 0 });
    return dropped > 0 ? `${text}\n[${dropped} more bytes dropped]` : text;
  };
  return { ended: read(), take };
}
