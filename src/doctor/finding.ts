/** `claude-code.Finding` of lua/claude-code/health.lua. */
export interface Finding {
  level: "ok" | "note" | "warning" | "error";
  /** Names the kind of problem. It does not change between versions. */
  cause?: string;
  what: string;
  /** How the user can solve the problem: a command, or a key. */
  remedy?: string;
}

export function isProblem({ level }: Finding): boolean {
  return level === "error" || level === "warning";
}

export const ok = (what: string): Finding => ({ level: "ok", what });

export const note = (what: string): Finding => ({ level: "note", what });

/** Something does not work. */
export function error(cause: string, what: string, remedy: string): Finding {
  return { level: "error", cause, what, remedy };
}

/** Something works less well than it could. */
export function warning(cause: string, what: string, remedy: string): Finding {
  return { level: "warning", cause, what, remedy };
}
