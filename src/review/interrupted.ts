import { sessionStatus } from "../claude/running-sessions";
import type { Project } from "./state/project";

const ENDED = new Set(["idle", "ended"]);

/**
 * Records the end of turns that ended without a hook (measured with 2.1.330): by Esc the CLI says that
 * it is idle, since a time after all that was recorded of the turn; or it was killed. Returns whether there
 * was one; what its last command changed is then to be compared. Throws the system's error.
 */
export function endInterrupted(project: Project): boolean {
  let found = false;
  for (const [session, last] of [...project.sessions.working]) {
    const state = sessionStatus(session);
    if (!state || !ENDED.has(state.status) || state.since <= last) continue;
    const prompt = project.sessions.lastTurn(session)?.prompt;
    project.append({ type: "stop", session, ...(prompt !== undefined && { prompt }) });
    found = true;
  }
  return found;
}
