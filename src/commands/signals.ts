/** Resolves, with its name, at the first signal that asks us to end. */
export function signalled(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
      process.on(signal, () => resolve(signal));
  });
}
