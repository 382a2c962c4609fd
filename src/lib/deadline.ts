/** Thrown when something did not answer in time. */
export class DeadlineError extends Error {
  override readonly name = "DeadlineError";
}

/**
 * Settles as `promise` does, or rejects with a DeadlineError after `ms` milliseconds.
 * The promise itself goes on; a late result is dropped.
 */
export function withDeadline<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  if (!Number.isFinite(ms)) return promise;
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new DeadlineError(`${what} did not answer within ${ms} ms`)),
      ms,
    );
    void promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
