/** The ports of spec 01: a random one of 10000 to 65535, both included. */
const PORT_RANGE = { first: 10_000, last: 65_535 } as const;

const ATTEMPTS = 50;

/** An executable that has just been stopped may still hold the port that we take over. */
const HANDOVER_MS = 1_000;
const HANDOVER_STEP_MS = 20;

/**
 * Calls `bind` with random ports until one is free, so that no port can be taken between a probe
 * and its use. A wanted port is tried first, for a while. Rejects with the last error when no attempt
 * succeeded, or at once when the error is not that the port is taken.
 */
export async function bindPort<T>(
  bind: (port: number) => T,
  options: {
    wanted?: number | undefined;
    range?: { first: number; last: number } | undefined;
  } = {},
): Promise<T> {
  const { wanted, range = PORT_RANGE } = options;
  let taken: unknown = new Error("no port was tried");
  const handedOver = performance.now() + HANDOVER_MS;
  for (let attempt = 0; attempt < ATTEMPTS; ) {
    const waits = wanted !== undefined && performance.now() < handedOver;
    try {
      return bind(waits ? wanted : draw(range));
    } catch (error) {
      if (!isTaken(error)) throw error;
      taken = error;
    }
    if (waits) await Bun.sleep(HANDOVER_STEP_MS);
    else attempt++;
  }
  throw taken;
}

function draw({ first, last }: { first: number; last: number }): number {
  return first + Math.floor(Math.random() * (last - first + 1));
}

function isTaken(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  return code === "EADDRINUSE" || code === "EACCES";
}
