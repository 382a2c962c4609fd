import { type Dirent, readdirSync } from "node:fs";
import * as v from "valibot";
import { claudeFolder } from "../claude/config-dir";
import { ProjectFiles } from "../language/project-files";
import { attempt } from "../lib/errors";
import { gitTop } from "../lib/git-folder";
import { statOf } from "../lib/paths";
import { basename, join } from "../lib/platform";
import { readRange, withRegular } from "../lib/read-regular";
import { takes } from "../lib/requests";
import { isPlain, visibleLine } from "../lib/visible";
import { Privacy } from "../review/record/privacy";

const Typed = v.object({ folder: v.string(), word: v.string() });

/** Answers Neovim's requests `prompt/…` for completion in a prompt. */
export class PromptEndpoint {
  readonly #listings = new Map<string, Listing>();

  readonly requests = {
    files: takes(Typed, ({ folder, word }) => filesFor(this.#listing(folder), word)),
    commands: takes(Typed, ({ folder, word }) => commandsFor(folder, word)),
  };

  #listing(folder: string): Listing {
    const last = this.#listings.get(folder);
    if (last && Date.now() - last.at < LISTED_MS) return last;
    const project = last?.project ?? new ProjectFiles(folder);
    const listing = { project, files: project.list(), at: Date.now() };
    this.#listings.set(folder, listing);
    return listing;
  }
}

/** The CLI's commands (2.1.330) that users type into a prompt. */
const BUILT_IN = (
  "add-dir agents btw clear compact config context copy cost doctor effort export goal help hooks ide init " +
  "mcp memory model permissions plan plugin rename resume review rewind security-review skills status " +
  "tasks tui usage"
).split(" ");

/** The front matter of a file must end within these bytes. */
const MAX_BYTES = 4 * 1024;
const MAX_DEPTH = 4;
const MAX_DETAIL = 120;
/** A larger folder has thousands of entries. Reading their names alone takes tens of ms. */
const MAX_FOLDER_BYTES = 64 * 1024;
/** The limit of entries in one place. */
const MAX_ENTRIES = 2_000;

/** The commands and skills of the user, the project and the CLI that begin with the typed text. */
function commandsFor(folder: string, typed: string): PromptItem[] {
  const places = [folder, gitTop(folder) ?? folder].map((one) => join(one, ".claude"));
  const items = new Map<string, string>();
  for (const place of [...new Set([...places, claudeFolder()])]) {
    const [skills, commands] = [join(place, "skills"), join(place, "commands")];
    for (const { name, path } of [...skillsIn(skills), ...commandsIn(commands)]) {
      if (!items.has(name) && isPlain(name)) items.set(name, path);
    }
  }
  for (const name of BUILT_IN) if (!items.has(name)) items.set(name, "");
  return [...items]
    .filter(([name]) => `/${name}`.startsWith(typed))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MAX_ITEMS)
    .map(([name, path]) => ({ text: `/${name}`, ...(path !== "" && detailOf(path)) }));
}

interface Named {
  name: string;
  path: string;
}

function skillsIn(folder: string): Named[] {
  const entries = entriesOf(folder).slice(0, MAX_ENTRIES);
  return entries.map(({ name }) => ({ name, path: join(folder, name, "SKILL.md") }));
}

/** A subfolder's name is not part of a command's name. Symlinks to folders could lead anywhere, so we ignore them. */
function commandsIn(folder: string, depth = 0, left = { entries: MAX_ENTRIES }): Named[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (left.entries-- <= 0) return [];
    if (entry.name.endsWith(".md")) return [{ name: entry.name.slice(0, -3), path }];
    return entry.isDirectory() && depth < MAX_DEPTH ? commandsIn(path, depth + 1, left) : [];
  });
}

function entriesOf(folder: string): Dirent[] {
  if ((statOf(folder)?.size ?? 0) > MAX_FOLDER_BYTES) return [];
  return attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

/** The description in the front matter of a file. */
function detailOf(path: string): { detail?: string } {
  const text = attempt(() => withRegular(path, (file) => readRange(file, 0, MAX_BYTES)));
  const found = /^---\n(?:.*\n)*?description:(.+)\n/.exec(`${text ?? ""}`)?.[1]?.trim();
  return found ? { detail: visibleLine(found.replace(/^(["'])(.*)\1$/, "$2"), MAX_DETAIL) } : {};
}

interface PromptItem {
  text: string;
  detail?: string;
}

const MAX_ITEMS = 60;
/** The limit of files that we check for privacy. */
const MAX_LOOKS = 10 * MAX_ITEMS;

/** In ms. We reuse a list of files while the user types a word. */
const LISTED_MS = 3_000;

interface Listing {
  project: ProjectFiles;
  files: Promise<readonly string[] | undefined>;
  at: number;
}

/** The files of the project that match the typed word, best first: `src/a.ts`. Leaves out private files. */
async function filesFor({ project, files: listed }: Listing, typed: string): Promise<PromptItem[]> {
  const files = await listed;
  if (!files) return [{ text: typed, detail: "this project has too many files" }];
  const wanted = typed.toLowerCase();
  const found = files.flatMap((path) => {
    const name = project.nameOf(path);
    // The CLI (2.1.330) reads a name in quotes, but not a name that contains a quote.
    const isNamed = isPlain(name) && !name.includes('"');
    const rank = isNamed ? rankOf(name.toLowerCase(), wanted) : undefined;
    return rank === undefined ? [] : [{ path, name, rank }];
  });
  found.sort((a, b) => a.rank - b.rank || a.name.length - b.name.length);
  const privacy = new Privacy();
  return found
    .slice(0, MAX_LOOKS)
    .filter(({ path }) => !privacy.isPrivate(path))
    .slice(0, MAX_ITEMS)
    .map(({ name }) => ({ text: name }));
}

/** Lower is better. Undefined if the name does not contain the letters in this order. */
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
