import { expect } from "bun:test";

/** Asks `actual` again and again until it equals `wanted`; fails with the difference when late. */
export async function eventually<T>(
  actual: () => Promise<T>,
  wanted: NoInfer<T>,
  timeoutMs = 15_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await actual();
    if (Bun.deepEquals(value, wanted)) return;
    if (Date.now() > deadline) expect<unknown>(value).toEqual(wanted);
    await Bun.sleep(30);
  }
}
