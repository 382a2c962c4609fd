/** The value under a name that comes from outside; never what every object inherits (`constructor`). */
export function own<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
