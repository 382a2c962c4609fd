/** Stops the listening that it was returned for. Calling it again does nothing. */
export type Unsubscribe = () => void;

/** One kind of event with typed listeners, called in the order in which they came. */
export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();

  on(listener: (value: T) => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  emit(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
}
