import { describe } from "./check-editor";
import type { Editor, EditorReport } from "./editors";
import { type Finding, note } from "./finding";

type Source = NonNullable<EditorReport["state_sources"]>[number];

const NAMES: Record<Source, string> = {
  terminal: "terminal",
  registry: "registry",
  connection: "hooks",
  hook: "hooks",
};

/**
 * How one Neovim knows what its sessions do: by what the CLI reports to its terminal, by the CLI's own
 * `sessions/PID.json`, or by hooks alone, which say nothing of an Esc or a question.
 */
export function checkStates({ report }: Editor): Finding | undefined {
  // Lua's empty table is an object.
  const sources = Array.isArray(report?.state_sources) ? report.state_sources : [];
  if (!report || sources.length === 0) return undefined;
  const names = [...new Set(sources.map((source) => NAMES[source]))].join(", ");
  const what = `${describe(report)} knows the states of its sessions by: ${names}`;
  return note(names === "hooks" ? `${what}. A turn that you stop counts as working` : what);
}
