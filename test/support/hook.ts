import { type Ended, run } from "./process";
import { EXECUTABLE } from "./toolchain";

export interface HookResult extends Ended {
  /** The printed JSON; undefined if nothing was printed. */
  output: unknown;
}

export interface HookOptions {
  event: string;
  /** The JSON for stdin, or text that is not JSON. */
  input: object | string;
  cwd: string;
  env: Record<string, string>;
  /** The delay of the input, in ms. */
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
  const { cwd, event, inputMs } = options;
  // A CLI that Neovim started, which got the plugin as an argument.
  const env = { CLAUDE_PLUGIN_ROOT: "/plugin", ...options.env };
  const stdin = inputMs ? late(text, inputMs) : new Blob([text]);
  const ended = await run([EXECUTABLE, "hook", event], { cwd, env, stdin });
  return { ...ended, output: ended.stdout === "" ? undefined : JSON.parse(ended.stdout) };
}
