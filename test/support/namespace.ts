import { $ } from "bun";

/**
 * A network namespace that holds nothing but loopback, for everything that runs the genuine CLI:
 * whatever the CLI would like to tell the world, there is no world to tell it to.
 * The CLI, Neovim, our executable, the stand-in API and the test itself must share one namespace,
 * so a test file runs itself again inside: see `insideNamespace`.
 */
const MARK = "CLAUDE_CODE_NVIM_TEST_NAMESPACE";
const ENTER = ["unshare", "--map-root-user", "--net", "--"];
const LOOPBACK_UP = 'ip link set lo up && exec "$@"';

/** Is this process inside already, or on a system that has no namespaces to offer? */
export function insideNamespace(): boolean {
  return process.env[MARK] !== undefined;
}

/** Runs `bun test FILE` inside the namespace and throws unless it passed. Output goes to ours. */
export async function testInsideNamespace(file: string, timeoutMs: number): Promise<void> {
  const possible = await namespacePossible();
  const prefix = possible ? [...ENTER, "sh", "-c", LOOPBACK_UP, "sh"] : [];
  const child = Bun.spawn([...prefix, process.execPath, "test", file], {
    env: { ...process.env, [MARK]: possible ? "loopback" : "none" },
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    timeout: timeoutMs,
  });
  const code = await child.exited;
  if (code !== 0) {
    const how = child.signalCode ? `was ended by ${child.signalCode} (limit ${timeoutMs} ms)` : "";
    throw new Error(`bun test ${file} ${how || `failed with exit code ${code}`}; see above.`);
  }
}

async function namespacePossible(): Promise<boolean> {
  const attempt = await $`${ENTER} sh -c ${"ip link set lo up"}`.quiet().nothrow();
  if (attempt.exitCode === 0) return true;
  console.warn(
    [
      "",
      "!!! NO LOOPBACK-ONLY NETWORK NAMESPACE: the genuine CLI runs on this machine's own network.",
      `!!! unshare and ip said: ${attempt.stderr.toString().trim() || "nothing"}`,
      "!!! It still has a made-up key and a loopback API address. To have the namespace, install",
      "!!! util-linux and iproute2 and allow unprivileged user namespaces.",
      "",
    ].join("\n"),
  );
  return false;
}
