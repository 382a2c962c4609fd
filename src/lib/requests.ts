import * as v from "valibot";

/** Throws Failure with a sentence for the user. Any other error is a defect. */
export type Answer = (params: unknown) => unknown;

/** The requests of one area that Neovim may make, by name. */
export interface Answers {
  readonly requests: Readonly<Record<string, Answer>>;
  /** Called when Neovim has received the answer. */
  answered?(name: string): void;
}

/** Checks the parameters. Throws ValiError if they violate the contract. */
export function takes<S extends v.GenericSchema, R>(
  schema: S,
  answer: (params: v.InferOutput<S>) => R,
): (params: unknown) => R {
  return (params) => answer(v.parse(schema, params));
}
