import type { RecordedScope } from "../journal/record";
import { ALL, type Change, type Scope } from "../weave/row";

/** What a recorded scope means; all of Claude's changes without one. */
export function scopeOf(recorded: RecordedScope | undefined): Scope {
  if (!recorded) return ALL;
  const { session, prompt, change: id, kept } = recorded;
  return {
    includes: (change: Change) =>
      (id === undefined || change.id === id) &&
      (session === undefined || change.session === session) &&
      (prompt === undefined || change.prompt === prompt),
    ...(kept && { withKept: true }),
  };
}
