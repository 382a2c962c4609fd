/**
 * The genuine CLI finds no network but loopback: whatever it would send to the world stays here. It
 * shares that network with the tests, Neovim, the executable and the stand-in for the model.
 */

/** What test/support/namespace.ts asks for. */
const VARIABLE = "CLAUDE_CODE_NVIM_TEST_NETWORK";
const NAMESPACE = ["unshare", "--map-root-user", "--net", "--", "sh", "-c"];
const LOOPBACK = 'ip link set lo up && exec "$@"';

/** What comes before the command that runs a file, and the variables for it. */
export type Network = (file: string) => { command: string[]; env: Record<string, string> };

/** Says it if some of `files` would need a network of their own, and there cannot be one. */
export function network(files: string[]): Network {
  const none = { command: [], env: {} };
  const genuine = (file: string) => file.startsWith("test/genuine/");
  if (!files.some(genuine)) return () => none;
  const inside = [...NAMESPACE, LOOPBACK, "sh"];
  const obstacle = failureOf([...inside, "true"]);
  if (obstacle === undefined) {
    const own = { command: inside, env: { [VARIABLE]: "loopback" } };
    return (file) => (genuine(file) ? own : none);
  }
  console.log(`\
!!! NO LOOPBACK-ONLY NETWORK NAMESPACE: the genuine CLI runs on this machine's own network,
!!! with a made-up key and a loopback API address: ${obstacle}
!!! For the namespace, install util-linux and iproute2 and allow unprivileged user namespaces.`);
  return (file) => (genuine(file) ? { command: [], env: { [VARIABLE]: "own" } } : none);
}

function failureOf(command: string[]): string | undefined {
  try {
    const { exitCode, stderr } = Bun.spawnSync(command, { stderr: "pipe" });
    return exitCode === 0 ? undefined : stderr.toString().trim();
  } catch (error) {
    return String(error);
  }
}
