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
  | "two-editors-match"
  | "version-differs";

/** Something that is fine, or worth knowing, in a sentence for a person. */
export interface Fact {
  level: "ok" | "note";
  what: string;
}

/** Something that is wrong, and what to do about it: a command, or a key to press. */
export interface Fault {
  level: "error" | "warning";
  cause: Cause;
  what: string;
  remedy: string;
}

export type Finding = Fact | Fault;

export function isFault(finding: Finding): finding is Fault {
  return finding.level === "error" || finding.level === "warning";
}

export function ok(what: string): Fact {
  return { level: "ok", what };
}

export function note(what: string): Fact {
  return { level: "note", what };
}

/** Something does not work. */
export function error(cause: Cause, what: string, remedy: string): Fault {
  return { level: "error", cause, what, remedy };
}

/** Something works less well than it could. */
export function warning(cause: Cause, what: string, remedy: string): Fault {
  return { level: "warning", cause, what, remedy };
}
