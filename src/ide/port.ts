/** The ports of spec 01: a random one of 10000 to 65535, both included. */
const PORT_RANGE = { first: 10_000, last: 65_535 } as const;

const ATTEMPTS = 50;

/** An executable that has just been stopped may still hold the port that we take over. */
const HANDOVER_MS = 1_000;
const HANDOVER_STEP_MS = 20;

/**
 * Calls `bind` with random ports until one is free, so that no port can be taken between a probe
 * and its use. A wanted port is tried first, for a while where it `mayBeHeld` by one that ends. Rejects with the last error when no attempt
 * succeeded, or at once when the error is not that the port is taken.
 */
export async function bindPort<T>(
  bind: (port: number) => T,
  options: {
    wanted?: number | undefined;
    mayBeHeld?: boolean | undefined;
    range?: { first: number; last: number } | undefined;
  } = {},
): Promise<T> {
  const { wanted, mayBeHeld = false, range = PORT_RANGE } = options;
  let taken: unknown = new Error("no port was tried");
  const handedOver = performance.now() + (mayBeHeld ? HANDOVER_MS : 0);
  const ports = function* () {
    if (wanted !== undefined) {
      do yield wanted;
      while (performance.now() < handedOver);
    }
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) yield draw(range);
  };
  for (const port of ports()) {
    try {
      return bind(port);
    } catch (error) {
      if (!isTaken(error)) throw error;
      taken = error;
    }
    if (port === wanted) await Bun.sleep(HANDOVER_STEP_MS);
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
