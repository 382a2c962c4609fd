import { Failure } from "./errors";

/** Settles as `promise` does, or rejects with Failure "late" after `ms` milliseconds and ignores a later result. */
export function withDeadline<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  if (!Number.isFinite(ms)) return promise;
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Failure(`${what} did not answer within ${ms} ms`, "late")),
      ms,
    );
    void promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
