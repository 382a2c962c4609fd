/**
 * The genuine CLI must not reach the internet. It shares a network that has only loopback with the tests, Neovim, the
 * executable and the stand-in for the model.
 */

/** Requested by test/support/namespace.ts. */
const VARIABLE = "CLAUDE_CODE_NVIM_TEST_NETWORK";
const NAMESPACE = ["unshare", "--map-root-user", "--net", "--", "sh", "-c"];
const LOOPBACK = 'ip link set lo up && exec "$@"';

/** The prefix and the variables of a command that runs in the network. */
export interface Place {
  readonly command: string[];
  readonly env: Record<string, string>;
}

/** The network of this machine. */
export const HERE: Place = { command: [], env: {} };

/** A separate network. Prints a message if the machine does not allow one. */
export function loopback(): Place {
  const inside = [...NAMESPACE, LOOPBACK, "sh"];
  const obstacle = failureOf([...inside, "true"]);
  if (obstacle === undefined) return { command: inside, env: { [VARIABLE]: "loopback" } };
  console.log(`\
!!! NO LOOPBACK-ONLY NETWORK NAMESPACE: the genuine CLI runs on this machine's own network,
!!! with a made-up key and a loopback API address: ${obstacle}
!!! For the namespace, install util-linux and iproute2 and allow unprivileged user namespaces.`);
  return { command: [], env: { [VARIABLE]: "own" } };
}

function failureOf(command: string[]): string | undefined {
  try {
    const { exitCode, stderr } = Bun.spawnSync(command, { stderr: "pipe" });
    return exitCode === 0 ? undefined : stderr.toString().trim();
  } catch (error) {
    return String(error);
  }
}
