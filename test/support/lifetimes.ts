import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";

type Made = Disposable | AsyncDisposable;

/** Makes an object that all tests of the block around the call share. */
export const perBlock = <T extends Made>(make: () => T | Promise<T>): T =>
  during(make, beforeAll, afterAll);

/** Makes an object for each test of the block around the call. */
export const perTest = <T extends Made>(make: () => T | Promise<T>): T =>
  during(make, beforeEach, afterEach);

/** Represents the object while it exists. */
function during<T extends Made>(
  make: () => T | Promise<T>,
  before: typeof beforeAll,
  after: typeof afterAll,
): T {
  let made: T | undefined;
  before(async () => {
    made = await make();
  });
  after(async () => {
    const last = made;
    made = undefined;
    if (last && Symbol.asyncDispose in last) await last[Symbol.asyncDispose]();
    else if (last) (last as Disposable)[Symbol.dispose]();
  });
  return new Proxy({} as T, {
    get: (_none, key) => {
      const value = Reflect.get(made as T, key);
      return typeof value === "function" ? value.bind(made) : value;
    },
    set: (_none, key, value) => Reflect.set(made as T, key, value),
  });
}

/** Restores these variables of this process after each test of the block around the call. */
export function restoresEnv(...names: string[]): void {
  const before = names.map((name) => [name, process.env[name]] as const);
  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
}
