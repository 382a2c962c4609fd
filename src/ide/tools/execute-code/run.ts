import { spawn } from "node:child_process";
import { ProcessTree } from "./process-tree";

export interface RunOptions {
  /** Program and arguments; the code goes to its stdin. */
  command: readonly string[];
  cwd: string;
  timeoutMs: number;
  /** Per stream, in bytes; what comes behind is dropped, and said so. */
  maxOutputBytes: number;
  signal: AbortSignal;
}

export interface RunResult {
  stdout: string;
  stderr: string;
  /** Undefined when the run was ended by a signal. */
  exitCode: number | undefined;
  end: "exited" | "timed out" | "cancelled";
}

/**
 * Runs `code` out of process. Whatever it started is dead when this resolves, also when it did not
 * overrun. Rejects when the program cannot be started.
 */
export async function runCode(code: string, options: RunOptions): Promise<RunResult> {
  const [program = "", ...args] = options.command;
  const tree = new ProcessTree();
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...process.env, ...tree.variables },
    // A process group of its own, which can be ended as a whole.
    detached: process.platform !== "win32",
    stdio: ["pipe", "pipe", "pipe"],
  });
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  if (child.pid) tree.begin(child.pid);
  const stdout = collect(child.stdout, options.maxOutputBytes);
  const stderr = collect(child.stderr, options.maxOutputBytes);
  let end: RunResult["end"] = "exited";
  const kill = (why: RunResult["end"]) => {
    end = why;
    tree.kill();
  };
  const timer = setTimeout(() => kill("timed out"), options.timeoutMs);
  const cancel = () => kill("cancelled");
  options.signal.addEventListener("abort", cancel, { once: true });
  child.stdin.on("error", () => {});
  child.stdin.end(code);
  try {
    const exitCode = await exited;
    await tree.end();
    return { stdout: stdout(), stderr: stderr(), exitCode: exitCode ?? undefined, end };
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", cancel);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

/** Gathers a stream up to `most` bytes; the function returned gives what there is. */
function collect(stream: NodeJS.ReadableStream, most: number): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  let dropped = 0;
  stream.on("data", (chunk: Buffer) => {
    const kept = chunk.subarray(0, Math.max(0, most - size));
    size += kept.length;
    dropped += chunk.length - kept.length;
    if (kept.length > 0) chunks.push(kept);
  });
  return () => {
    // A character cut in two at the limit is dropped, not shown as rubbish.
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const text = decoder.decode(Buffer.concat(chunks), { stream: dropped > 0 });
    return dropped > 0 ? `${text}\n[${dropped} more bytes dropped]` : text;
  };
}
