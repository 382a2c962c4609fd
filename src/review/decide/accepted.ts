import type { ReviewedProject } from "../state/reviewed-project";
import { linesOf } from "../weave/lines";
import { keep } from "./keep";

/** So long after the user's answer the CLI has written the file, and the hook has run. */
const MOST_MS = 60_000;

interface Accepted {
  /** Relative to the root. */
  path: string;
  text: string;
  at: number;
}

/** Texts that the user accepted in a diff before they were written: Claude's edit counts as kept. */
export class AcceptedTexts {
  #waiting: Accepted[] = [];

  constructor(private readonly project: ReviewedProject) {}

  add(path: string, text: Uint8Array): void {
    this.#waiting.push({ path, text: comparable(linesOf(text)), at: Date.now() });
  }

  /** Keeps those edits that have arrived. */
  keep(now = Date.now()): void {
    this.#waiting = this.#waiting.filter(({ at }) => now - at < MOST_MS);
    for (const accepted of this.#waiting) {
      const edit = this.project.edits.findLast(({ change, path, after }) => {
        if (path !== accepted.path || change.at < accepted.at) return false;
        const lines = this.project.contents.lines(after);
        return lines !== undefined && comparable(lines) === accepted.text;
      });
      if (!edit) continue;
      this.#waiting = this.#waiting.filter((other) => other !== accepted);
      const { id: change } = edit.change;
      keep(this.project, [{ path: edit.path }], { change }, "accepted");
    }
  }
}

/** The CLI restores CRLF where the file had it; in the diff there is none (design, openDiff). */
function comparable(lines: readonly string[]): string {
  return lines.join("").replaceAll("\r\n", "\n");
}
