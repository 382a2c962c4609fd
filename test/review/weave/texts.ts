import { hunksOf } from "../../../src/review/weave/hunks";
import { type Lines, linesOf } from "../../../src/review/weave/lines";
import { ALL, type Change, type Scope } from "../../../src/review/weave/row";
import type { Weave } from "../../../src/review/weave/weave";

/** `a b` is a file of two lines. */
export function lines(words: string): Lines {
  const text = words === "" ? "" : `${words.replaceAll(" ", "\n")}\n`;
  return linesOf(Buffer.from(text));
}

export function text(found: Lines): string {
  return found.join("").trimEnd().replaceAll("\n", " ");
}

export function change(name: string, at: number): Change {
  return { id: `${name}${at}`, session: name, tool: "Edit", at };
}

export function session(name: string): Scope {
  return { includes: (made) => made.session === name };
}

/** `b > B` is a row replaced. */
export function hunks(weave: Weave, scope: Scope = ALL): string[] {
  return hunksOf(weave, scope).map(
    ({ oldLines, newLines }) => `${text(oldLines)} > ${text(newLines)}`,
  );
}
