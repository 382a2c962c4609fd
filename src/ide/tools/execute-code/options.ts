import * as v from "valibot";

/** The user's option `execute_code`. */
export const ExecuteCodeOptions = v.object({
  enabled: v.boolean(),
  /** Program and arguments for each language; the code goes to its stdin. */
  languages: v.record(v.string(), v.pipe(v.array(v.string()), v.minLength(1))),
});

export type ExecuteCodeOptions = v.InferOutput<typeof ExecuteCodeOptions>;
