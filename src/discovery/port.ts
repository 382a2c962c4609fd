/** The ports of spec 01: a random one of 10000 to 65535, both included. */
export const PORT_RANGE = { first: 10_000, last: 65_535 } as const;

const ATTEMPTS = 50;

/**
 * Calls `bind` with random ports until one is free, so that no port can be taken between a probe
 * and its use. A wanted port is tried first. Throws the last error when no attempt succeeded, or at
 * once when the error is not that the port is taken.
 */
export function bindPort<T>(
  bind: (port: number) => T,
  options: {
    wanted?: number | undefined;
    range?: { first: number; last: number } | undefined;
  } = {},
): T {
  const { wanted, range = PORT_RANGE } = options;
  let taken: unknown = new Error("no port was tried");
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = attempt === 0 && wanted ? wanted : draw(range);
    try {
      return bind(port);
    } catch (error) {
      if (!isTaken(error)) throw error;
      taken = error;
    }
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
