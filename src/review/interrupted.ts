import { sessionStatus } from "../claude/session-status";
import type { Project } from "./state/project";

/**
 * Records the end of turns that ended by Esc, for which the CLI runs no hook (measured with 2.1.330):
 * it says that it is idle, since a time after all that was recorded of the turn. Returns whether there
 * was one; what its last command changed is then to be compared. Throws the system's error.
 */
export function endInterrupted(project: Project): boolean {
  let found = false;
  for (const [session, last] of [...project.sessions.working]) {
    const state = sessionStatus(session);
    if (state?.status !== "idle" || state.since <= last) continue;
    const prompt = project.sessions.lastTurn(session)?.prompt;
    project.append({ type: "stop", session, ...(prompt !== undefined && { prompt }) });
    found = true;
  }
  return found;
}
