import fc from "fast-check";

type Fields<T> = { [K in keyof T]: fc.Arbitrary<T[K]> };

/** Acts of these names with the same fields; `weight`: how often they come, compared with others. */
export function acts<const Name extends string, T extends object>(
  weight: number,
  names: readonly Name[],
  fields: Fields<T>,
) {
  const arbitrary = fc.record({ do: fc.constantFrom(...names), ...fields });
  return { weight, arbitrary: arbitrary as fc.Arbitrary<{ do: Name } & T> };
}
