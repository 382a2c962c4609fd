import type { Launch } from "./launch";

/** The ports of spec 01: a random one of 10000 to 65535, both included. */
const PORT_RANGE = { first: 10_000, last: 65_535 } as const;

const ATTEMPTS = 50;

/** An executable that has just been stopped may still hold the port that we take over. */
const HANDOVER_MS = 1_000;
const HANDOVER_STEP_MS = 20;

type Wanted = Partial<Launch> & Pick<Launch, "token">;

/**
 * Opens the port that the launch line asks for, and names the token that clients must show. Tries random
 * ports until one is free, so that no port can be taken between a probe and its use; a wanted port comes
 * first, for a while. `listen` opens a port, or throws. Rejects with the last error when no attempt
 * succeeded, or at once when the error is not that the port is taken.
 */
export async function openServerPort<L extends { readonly port: number }>(
  wanted: Wanted,
  listen: (port: number) => L,
): Promise<{ listener: L; token: string }> {
  let taken: unknown;
  for (const port of portsToTry(wanted)) {
    try {
      return { listener: listen(port), token: tokenFor(wanted, port) };
    } catch (error) {
      const code = (error as { code?: unknown } | undefined)?.code;
      if (code !== "EADDRINUSE" && code !== "EACCES") throw error;
      taken = error;
    }
    if (port === wanted.port) await Bun.sleep(HANDOVER_STEP_MS);
  }
  throw taken;
}

/** To another program that has the port of before by now, clients send the token of before. */
function tokenFor({ port: wanted, token, nextToken }: Wanted, port: number): string {
  return wanted && port !== wanted ? (nextToken ?? crypto.randomUUID()) : token;
}

function* portsToTry({ port, portRange = PORT_RANGE }: Wanted): Generator<number> {
  const handedOver = performance.now() + HANDOVER_MS;
  while (port != null && performance.now() < handedOver) yield port;
  const { first, last } = portRange;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++)
    yield first + Math.floor(Math.random() * (last - first + 1));
}
