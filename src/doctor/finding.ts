/** Something that is fine, or worth knowing, in a sentence for the user. */
export interface Remark {
  level: "ok" | "note";
  what: string;
}

/** Something that is wrong, and what to do about it: a command, or a key to press. */
export interface Problem {
  level: "error" | "warning";
  /** What is wrong, in a word that stays: each has one diagnosis. */
  cause: string;
  what: string;
  remedy: string;
}

export type Finding = Remark | Problem;

export function isProblem(finding: Finding): finding is Problem {
  return finding.level === "error" || finding.level === "warning";
}

export function ok(what: string): Remark {
  return { level: "ok", what };
}

export function note(what: string): Remark {
  return { level: "note", what };
}

/** Something does not work. */
export function error(cause: string, what: string, remedy: string): Problem {
  return { level: "error", cause, what, remedy };
}

/** Something works less well than it could. */
export function warning(cause: string, what: string, remedy: string): Problem {
  return { level: "warning", cause, what, remedy };
}
