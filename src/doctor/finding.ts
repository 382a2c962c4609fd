/** What can be wrong between Claude Code and Neovim. Each has one diagnosis. */
export type Cause =
  | "auto-connect-off"
  | "cli-missing"
  | "cli-outdated"
  | "config-dir-differs"
  | "diff-tool-terminal"
  | "editor-busy"
  | "editor-restarted"
  | "hooks-broken"
  | "hooks-disabled"
  | "second-language-server"
  | "hooks-half-installed"
  | "lock-exposed"
  | "lock-missing"
  | "lock-stale"
  | "lock-unreadable"
  | "mode-skips-diffs"
  | "no-editor"
  | "no-language-server"
  | "outside-workspace"
  | "plugin-not-loaded"
  | "proxy-catches-loopback"
  | "server-not-running"
  | "server-stopped"
  | "settings-unreadable"
  | "two-editors-match"
  | "version-differs";

/** Something that is fine, or worth knowing, in a sentence for the user. */
export interface Remark {
  level: "ok" | "note";
  what: string;
}

/** Something that is wrong, and what to do about it: a command, or a key to press. */
export interface Problem {
  level: "error" | "warning";
  cause: Cause;
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
export function error(cause: Cause, what: string, remedy: string): Problem {
  return { level: "error", cause, what, remedy };
}

/** Something works less well than it could. */
export function warning(cause: Cause, what: string, remedy: string): Problem {
  return { level: "warning", cause, what, remedy };
}
