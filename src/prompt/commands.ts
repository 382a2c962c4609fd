import { join } from "node:path";
import { claudeFolder } from "../claude/config-dir";
import { gitTop } from "../claude/project";
import { namesIn, realPath } from "../lib/paths";
import { readText } from "../lib/read-regular";
import { visibleLine } from "../lib/visible";
import type { PromptItem } from "./files";

/** Of the CLI (2.1.330) itself, those that one types into a prompt. */
const BUILT_IN = (
  "add-dir agents btw clear compact config context copy cost doctor effort export goal help hooks ide init " +
  "mcp memory model permissions plan plugin rename resume review rewind security-review skills status " +
  "tasks tui usage"
).split(" ");

const MOST_BYTES = 64 * 1024;
const MOST_DEPTH = 4;
const MOST_DETAIL = 120;

/** Commands and skills of the user, of the project around a folder, and of the CLI that begin as what was typed. */
export function commandsFor(folder: string, typed: string): PromptItem[] {
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
    return depth < MOST_DEPTH ? commandsIn(path, depth + 1, seen) : [];
  });
}

/** What its front matter says of it. */
function detailOf(path: string): { detail?: string } {
  const text = readText(path, MOST_BYTES) ?? "";
  const found = /^---\n(?:.*\n)*?description:(.+)\n/.exec(text)?.[1]?.trim();
  return found ? { detail: visibleLine(found.replace(/^(["'])(.*)\1$/, "$2"), MOST_DETAIL) } : {};
}
