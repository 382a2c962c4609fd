/**
 * The outcome of a promise, as a function that returns or throws it: `expect(await outcomeOf(…)).toThrow(…)`.
 * Bun's `expect(…).rejects` waits by running the event loop, inside the callback that it was reached from.
 * If that is a message of a WebSocket, what arrives in this time overwrites the messages behind it, and
 * the client closes the connection: "RSV2 and RSV3 must be clear" (github.com/oven-sh/bun/issues/33261).
 */
export async function outcomeOf<T>(promise: PromiseLike<T>): Promise<() => T> {
  try {
    const value = await promise;
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
