import { expect } from "bun:test";
import { pause } from "#test";

/** Asks `actual` again and again until it equals `wanted`; fails with the difference when late. */
export async function eventually<T>(
  actual: () => Promise<T>,
  wanted: NoInfer<T>,
  timeoutMs = 15_000,
): Promise<void> {
  const start = Date.now();
  for (;;) {
    const value = await actual();
    if (Bun.deepEquals(value, wanted)) return;
    const waited = Date.now() - start;
    if (waited > timeoutMs) expect<unknown>(value).toEqual(wanted);
    await Bun.sleep(pause(waited, 30, 100));
  }
}
