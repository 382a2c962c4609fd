import { basename } from "node:path";
import { ProjectFiles } from "../language/project-files";
import { Privacy } from "../review/record/privacy";

export interface PromptItem {
  text: string;
  detail?: string;
}

const MOST_ITEMS = 60;
/** So many are looked at for those that are not private. */
const MOST_LOOKS = 10 * MOST_ITEMS;

/** Files of the project around a folder, as a prompt mentions them: `@src/a.ts`. Private ones are left out. */
export class MentionedFiles {
  readonly #projects = new Map<string, ProjectFiles>();

  /** Those that fit what was typed, the best first. */
  async find(folder: string, typed: string): Promise<PromptItem[]> {
    const project = this.#projects.get(folder) ?? new ProjectFiles(folder, true);
    this.#projects.set(folder, project);
    const files = await project.listSoon();
    if (!files) return [{ text: `@${typed}`, detail: "this project has too many files" }];
    const wanted = typed.toLowerCase();
    const found: { path: string; name: string; rank: number }[] = [];
    for (const path of files) {
      const name = project.nameOf(path);
      // The CLI (2.1.330) ends a mention at a blank.
      const rank = /\s/.test(name) ? undefined : rankOf(name.toLowerCase(), wanted);
      if (rank !== undefined) found.push({ path, name, rank });
    }
    found.sort((a, b) => a.rank - b.rank || a.name.length - b.name.length);
    const privacy = new Privacy();
    return found
      .slice(0, MOST_LOOKS)
      .filter(({ path }) => !privacy.isPrivate(path))
      .slice(0, MOST_ITEMS)
      .map(({ name }) => ({ text: `@${name}` }));
  }
}

/** Lower is better; undefined where the letters do not follow each other in the name. */
function rankOf(name: string, typed: string): number | undefined {
  if (basename(name).startsWith(typed)) return 0;
  if (name.startsWith(typed)) return 1;
  if (name.includes(typed)) return 2;
  let at = -1;
  for (const letter of typed) {
    at = name.indexOf(letter, at + 1);
    if (at < 0) return undefined;
  }
  return 3;
}
