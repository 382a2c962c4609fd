/** No attempt may give `boolean | undefined`, as `list.at(-1)?.endsWith(…)` does: undefined would end the wait. */
type Limit<T> = unknown extends T
  ? [ms?: number]
  : true | undefined extends T
    ? [never]
    : [ms?: number];

/**
 * Calls `attempt` again and again until it neither throws nor returns `false`; rejects after `ms` with
 * the last failure. For what happens soon and reports nothing.
 */
export async function eventually<T>(
  what: string,
  attempt: () => T | Promise<T>,
  ...[ms = 40_000]: Limit<T>
): Promise<Exclude<T, false>> {
  const start = performance.now();
  let last: unknown = new Error("never true");
  do {
    try {
      const value = await attempt();
      if (value !== false) return value as Exclude<T, false>;
    } catch (error) {
      last = error;
    }
    await Bun.sleep(pause(performance.now() - start));
  } while (performance.now() - start < ms);
  throw new Error(`${what}: not within ${ms} ms (${last instanceof Error ? last.message : last})`);
}

/**
 * The ms before the next attempt, `waited` ms after the first: more and more, since each attempt takes
 * processor time from what it waits for.
 */
export function pause(waited: number, least = 10, most = 50): number {
  return Math.min(Math.max(waited / 20, least), most);
}
