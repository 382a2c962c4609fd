import * as v from "valibot";

/** Throws Failure with a sentence for the user, and anything else for a defect. */
export type Answer = (params: unknown) => unknown;

/** The requests of one area that Neovim may make, by their names: `takes` has the parameters' type. */
export interface Answers {
  readonly requests: Readonly<Record<string, Answer>>;
  /** Neovim has taken the answer. */
  answered?(name: string): void;
}

/** Answers what `schema` accepts; anything else is not in the contract (ValiError). */
export function takes<S extends v.GenericSchema, R>(
  schema: S,
  answer: (params: v.InferOutput<S>) => R,
): (params: unknown) => R {
  return (params) => answer(v.parse(schema, params));
}
