/**
 * Calls `attempt` every 10 ms until it neither throws nor returns `false`; rejects after `ms` with
 * the last failure. For what happens soon and reports nothing.
 */
export async function eventually<T>(
  what: string,
  attempt: () => T | Promise<T>,
  ms = 15_000,
): Promise<Exclude<T, false>> {
  const end = performance.now() + ms;
  let last: unknown = new Error("never true");
  do {
    try {
      const value = await attempt();
      if (value !== false) return value as Exclude<T, false>;
    } catch (error) {
      last = error;
    }
    await Bun.sleep(10);
  } while (performance.now() < end);
  throw new Error(`${what}: not within ${ms} ms (${last instanceof Error ? last.message : last})`);
}
