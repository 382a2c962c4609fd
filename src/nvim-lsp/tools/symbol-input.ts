import * as v from "valibot";

const LONGEST = 1_000;

export const SymbolName = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1),
  v.maxLength(LONGEST),
  v.description("The name; Parser.parse for one of several"),
);

export const SymbolPath = v.pipe(v.string(), v.description("A file in which the name occurs"));

export const SymbolLine = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.description("Its line there, from 1"),
);

/** Claude Code otherwise hides tools behind a search (measured with 2.1.330). */
export const ALWAYS_LOADED = { "anthropic/alwaysLoad": true };
