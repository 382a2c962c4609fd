import { EXECUTABLE } from "./toolchain";

export interface HookResult {
  code: number;
  stdout: string;
  stderr: string;
  /** What was printed, as Claude Code reads it; undefined if nothing was. */
  output: unknown;
}

export interface HookOptions {
  event: string;
  /** The JSON for stdin, or text that is none. */
  input: object | string;
  cwd: string;
  env: Record<string, string>;
  args?: string[];
  /** The input comes so late. */
  inputMs?: number;
}

function late(text: string, ms: number): ReadableStream {
  return new ReadableStream({
    async start(stream) {
      await Bun.sleep(ms);
      stream.enqueue(new TextEncoder().encode(text));
      stream.close();
    },
  });
}

/** Runs one hook as Claude Code does: JSON on stdin, in the project's folder. */
export async function runHook(options: HookOptions): Promise<HookResult> {
  const { input } = options;
  const text = typeof input === "string" ? input : JSON.stringify(input);
  const child = Bun.spawn([EXECUTABLE, "hook", options.event, ...(options.args ?? [])], {
    cwd: options.cwd,
    env: options.env,
    stdin: options.inputMs ? late(text, options.inputMs) : new Blob([text]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr, output: stdout === "" ? undefined : JSON.parse(stdout) };
}
