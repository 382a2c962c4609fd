import { basename, join } from "node:path";
import * as v from "valibot";
import { claudeFolder } from "../claude/config-dir";
import { gitTop } from "../claude/project";
import { ProjectFiles } from "../language/project-files";
import { namesIn, realPath } from "../lib/paths";
import { readText } from "../lib/read-regular";
import { visibleLine } from "../lib/visible";
import { Privacy } from "../review/record/privacy";

const Typed = v.object({ folder: v.string(), word: v.string() });

/** Answers a Neovim's requests `prompt/…`: what can be named in a prompt. */
export class PromptEndpoint {
  readonly #files = new MentionedFiles();

  answer(method: string, params: unknown): unknown {
    const { folder, word } = v.parse(Typed, params);
    if (method === "files") return this.#files.find(folder, word);
    if (method === "commands") return commandsFor(folder, word);
    throw new Error("there is no such method");
  }
}

/** The CLI's own commands (2.1.330), those that one types into a prompt. */
const BUILT_IN = (
  "add-dir agents btw clear compact config context copy cost doctor effort export goal help hooks ide init " +
  "mcp memory model permissions plan plugin rename resume review rewind security-review skills status " +
  "tasks tui usage"
).split(" ");

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 4;
const MAX_DETAIL = 120;

/** Commands and skills of the user, of the project around a folder, and of the CLI that begin as what was typed. */
function commandsFor(folder: string, typed: string): PromptItem[] {
  const places = [folder, gitTop(folder) ?? folder].map((one) => join(one, ".claude"));
  const items = new Map<string, PromptItem>();
  for (const place of [...new Set([...places, claudeFolder()])]) {
    for (const { name, path } of [...skillsIn(place), ...commandsIn(join(place, "commands"))]) {
      const text = `/${name}`;
      if (!items.has(name) && text.startsWith(typed)) items.set(name, { text, ...detailOf(path) });
    }
  }
  for (const name of BUILT_IN) {
    if (!items.has(name) && `/${name}`.startsWith(typed)) items.set(name, { text: `/${name}` });
  }
  return [...items.values()].sort((a, b) => (a.text < b.text ? -1 : 1));
}

interface Named {
  name: string;
  path: string;
}

function skillsIn(place: string): Named[] {
  const folder = join(place, "skills");
  return namesIn(folder).map((name) => ({ name, path: join(folder, name, "SKILL.md") }));
}

/** A folder below groups commands; it is no part of their names. Links may lead to one again and again. */
function commandsIn(folder: string, depth = 0, seen = new Set<string>()): Named[] {
  const real = realPath(folder);
  if (seen.has(real)) return [];
  seen.add(real);
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    if (name.endsWith(".md")) return [{ name: name.slice(0, -3), path }];
    return depth < MAX_DEPTH ? commandsIn(path, depth + 1, seen) : [];
  });
}

/** The description in its front matter. */
function detailOf(path: string): { detail?: string } {
  const text = readText(path, MAX_BYTES) ?? "";
  const found = /^---\n(?:.*\n)*?description:(.+)\n/.exec(text)?.[1]?.trim();
  return found ? { detail: visibleLine(found.replace(/^(["'])(.*)\1$/, "$2"), MAX_DETAIL) } : {};
}

interface PromptItem {
  text: string;
  detail?: string;
}

const MAX_ITEMS = 60;
/** Looks at so many to find those that are not private. */
const MAX_LOOKS = 10 * MAX_ITEMS;

/** A word is typed letter by letter: a list serves for so long. */
const LISTED_MS = 3_000;

interface Listing {
  project: ProjectFiles;
  files: Promise<readonly string[] | undefined>;
  at: number;
}

/** Files of the project around a folder, by the names that a prompt mentions: `src/a.ts`. Private ones are left out. */
class MentionedFiles {
  readonly #listings = new Map<string, Listing>();

  /** Those that fit what was typed, the best first. */
  async find(folder: string, typed: string): Promise<PromptItem[]> {
    const { project, files: listed } = this.#listing(folder);
    const files = await listed;
    if (!files) return [{ text: typed, detail: "this project has too many files" }];
    const wanted = typed.toLowerCase();
    const found: { path: string; name: string; rank: number }[] = [];
    for (const path of files) {
      const name = project.nameOf(path);
      // The CLI (2.1.330) reads a name in quotes, but none with a quote.
      const rank = name.includes('"') ? undefined : rankOf(name.toLowerCase(), wanted);
      if (rank !== undefined) found.push({ path, name, rank });
    }
    found.sort((a, b) => a.rank - b.rank || a.name.length - b.name.length);
    const privacy = new Privacy();
    return found
      .slice(0, MAX_LOOKS)
      .filter(({ path }) => !privacy.isPrivate(path))
      .slice(0, MAX_ITEMS)
      .map(({ name }) => ({ text: name }));
  }

  #listing(folder: string): Listing {
    const last = this.#listings.get(folder);
    if (last && Date.now() - last.at < LISTED_MS) return last;
    const project = last?.project ?? new ProjectFiles(folder);
    const listing = { project, files: project.list(), at: Date.now() };
    this.#listings.set(folder, listing);
    return listing;
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
