import { killNow, ownChildren } from "./process";

/** The program's last output arrives a moment after its end. */
const DRAIN_MS = 500;

export interface GroupOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
  stdin?: Uint8Array;
  /** In ms. */
  timeout: number;
  /** The limit of each stream, in bytes. */
  maxBuffer?: number;
  /** Ends it. */
  signal?: AbortSignal;
}

interface GroupResult {
  stdout: string;
  stderr: string;
  /** Undefined when the run was ended by a signal. */
  exitCode: number | undefined;
}

/**
 * Runs a program in a session and a process group of its own. The whole group is killed at a limit, when `signal`
 * aborts, when the program ends, and with the executable. A process that leaves the group (a daemon) stays: it has the
 * user's rights, as the program has. Rejects when the program cannot be started.
 */
export async function runInGroup(
  command: readonly string[],
  { env = process.env, stdin, ...options }: GroupOptions,
): Promise<GroupResult> {
  const hasGroups = process.platform !== "win32";
  const child = Bun.spawn([...command], {
    ...options,
    env,
    detached: hasGroups,
    stdin: stdin ?? "ignore",
    stdout: "pipe",
    stderr: "pipe",
    killSignal: "SIGKILL",
  });
  const all = hasGroups ? -child.pid : child.pid;
  ownChildren.add(all);
  const outputs = [child.stdout, child.stderr].map(collect);
  await child.exited;
  killNow(all);
  ownChildren.delete(all);
  // A daemon may hold the pipes open.
  await Promise.race([Promise.all(outputs.map(({ ended }) => ended)), Bun.sleep(DRAIN_MS)]);
  const [stdout = "", stderr = ""] = outputs.map(({ take }) => take());
  return { stdout, stderr, exitCode: child.exitCode ?? undefined };
}

/** Gathers a stream. `take` gives what there is, and ends it. */
function collect(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  const read = async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read())
      chunks.push(next.value);
  };
  const take = () => {
    void reader.cancel();
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(chunks));
  };
  return { ended: read(), take };
}
