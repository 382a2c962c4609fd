import { killNow, ownChildren } from "../../../lib/own-children";

export const LIMITS = {
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

export interface RunResult {
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
