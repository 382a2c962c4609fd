import { isRunning, sessionStatus } from "../../claude/running-sessions";
import type { JournalRecord, NewRecord } from "../journal/record";
import { type Sessions, SILENT_MS, type Unended } from "./sessions";

interface Journal {
  sessions: Sessions;
  append(record: NewRecord): JournalRecord;
}

/**
 * Records the end of turns that ended without a hook (measured with 2.1.330): by Esc the CLI says that
 * it is idle, since a time after all that was recorded of the turn; or it was killed. Returns whether there
 * was one; what its last command changed is then to be compared. Throws the system's error.
 */
export function endInterrupted(journal: Journal): boolean {
  const { sessions } = journal;
  let found = false;
  for (const turn of sessions.unended) {
    const at = endOf(turn);
    if (at === undefined) continue;
    const { session } = turn;
    const prompt = sessions.lastTurn(session)?.prompt;
    journal.append({ type: "stop", session, ...(prompt !== undefined && { prompt }), at });
    found = true;
  }
  return found;
}

/** Undefined while it may go on. When a CLI was killed nobody knows: some time after its last record. */
function endOf({ session, last, isBackground, cli }: Unended): number | undefined {
  const state = sessionStatus(session);
  const isKilled = cli ? !isRunning(cli) : state?.status === "ended";
  if (isKilled) return Math.min(Date.now(), last + SILENT_MS);
  const isIdle = state?.status === "idle" && state.since > last && !isBackground;
  return isIdle ? state.since : undefined;
}
