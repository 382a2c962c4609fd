/** The permission modes in which the CLI sends edits to the editor (2.1.330). */
const SHOWING_DIFFS = ["default", "plan", "manual"];

export function showsDiffs(mode: string | undefined): boolean {
  return mode === undefined || SHOWING_DIFFS.includes(mode);
}

/** The permission mode that a command line asks for; "bypassPermissions" goes before all. */
export function permissionModeIn(args: readonly string[]): string | undefined {
  if (args.includes("--dangerously-skip-permissions")) return "bypassPermissions";
  const at = args.findLastIndex((word) => /^--permission-mode(=|$)/.test(word));
  return at < 0 ? undefined : (args[at]?.split("=")[1] ?? args[at + 1]);
}
