import { counted } from "../lib/visible";
import { aliasesWithoutCallers, unfollowedAliases } from "./aliases";
import type { HierarchyItem, SymbolAnswer } from "./answer";
import { remainsLine, remainsOf } from "./reconcile";
import { type Found, type LanguageServers, lastName, type Relation } from "./servers";
import { code, type SourceLines } from "./source-lines";
import { isReady, notReady, stateLine } from "./state-line";
import { candidatesText, locationOf } from "./symbol-text";
import { useList } from "./use-list";
import { placeKey, placesOnDisk, type Uses, usesOf } from "./uses";
import { within } from "./within";

/** Characters of an answer: about 2,000 tokens. */
const MOST_CHARACTERS = 8_000;

export interface ReferencesQuestion {
  relation: Relation;
  within?: string | undefined;
  limit: number;
}

export interface AnswerText {
  text: string;
  isError: boolean;
}

export function referencesText(
  found: Found,
  question: ReferencesQuestion,
  { project }: LanguageServers,
  doubts: readonly string[],
): AnswerText {
  const { answer, source } = found;
  if (answer.candidates) return { text: candidatesText(answer, project, source), isError: false };
  const isWithin = within(question.within);
  const budget = { lines: question.limit, characters: MOST_CHARACTERS };
  const ready = isReady(answer.states, answer.settled);
  if (answer.items) {
    return hierarchyText(found, question, project, ready);
  }
  const definitions = usesOf(answer.definitions, project, source);
  const all = usesOf(answer.uses ?? NO_PLACES, project, source, isWithin);
  const isAboutNames = question.relation === "references";
  const uses = isAboutNames ? without(all, definitions) : all;
  if (all.count + all.outside + all.private === 0 && !ready) {
    return { text: notReady(answer.states, answer.settled), isError: true };
  }
  const lines = [headingOf(answer, question, uses, project), ...useList(uses, budget, source)];
  if (uses.outside > 0) lines.push(`${uses.outside} more in dependencies`);
  if (uses.private > 0) lines.push(`${uses.private} more in private files`);
  if (isAboutNames) {
    lines.push(remainsLine(remainsOf(found.occurrences, [all, definitions], isWithin, project)));
  }
  const name = lastName(answer.name);
  const aliases = isAboutNames ? unfollowedAliases(name, all, project, source) : [];
  lines.push(stateLine(answer.states, answer.settled, [...doubts, ...aliases]));
  return { text: lines.join("\n"), isError: false };
}

const NO_PLACES = { files: [], places: [], private: 0 };

function headingOf(
  answer: SymbolAnswer,
  { relation }: ReferencesQuestion,
  uses: Uses,
  project: LanguageServers["project"],
): string {
  const what =
    relation === "references"
      ? counted(uses.count, "use")
      : counted(uses.count, relation.slice(0, -1));
  const files = uses.count > 0 ? ` in ${counted(uses.files.length, "file")}` : "";
  return `${nameOf(answer, project)}: ${what}${files}`;
}

/** With the place of its definition. */
function nameOf(answer: SymbolAnswer, project: LanguageServers["project"]): string {
  const [first] = answer.definitions.places;
  return first ? `${answer.name} (${locationOf(first, answer, project)})` : answer.name;
}

/** A definition is named first, and no use. */
function without(all: Uses, definitions: Uses): Uses {
  const defined = placesOnDisk(definitions);
  const files = all.files.flatMap((file) => {
    const lines = file.lines.flatMap((use) => {
      const columns = use.columns.filter(
        (column) => use.isUnsaved || !defined.has(placeKey(file.path, use.line, column)),
      );
      return columns.length > 0 ? [{ ...use, columns }] : [];
    });
    const count = lines.reduce((sum, { columns }) => sum + columns.length, 0);
    return count > 0 ? [{ ...file, lines, count }] : [];
  });
  return { ...all, files, count: files.reduce((sum, { count }) => sum + count, 0) };
}

/** Callers and callees with the lines of the calls; types indented by their depth. */
function hierarchyText(
  found: Found,
  question: ReferencesQuestion,
  project: LanguageServers["project"],
  ready: boolean,
): AnswerText {
  const { answer, source } = found;
  const isWithin = within(question.within);
  const items = (answer.items ?? []).flatMap((item) => {
    const text = itemText(item, project, source, isWithin);
    return text === undefined ? [] : [text];
  });
  if (items.length === 0 && !ready) {
    return { text: notReady(answer.states, answer.settled), isError: true };
  }
  const count = counted(items.length, question.relation.slice(0, -1));
  const lines = [`${nameOf(answer, project)}: ${count}`];
  let characters = 0;
  let shown = 0;
  for (const item of items) {
    characters += item.length + 1;
    if (shown >= question.limit || characters > MOST_CHARACTERS) break;
    lines.push(item);
    shown++;
  }
  if (shown < items.length) lines.push(`… ${items.length - shown} more (narrow with \`within\`)`);
  const doubts = question.relation === "callers" ? doubtsOfCallers(found, project) : [];
  lines.push(stateLine(answer.states, answer.settled, doubts));
  return { text: lines.join("\n"), isError: false };
}

function doubtsOfCallers(
  { answer, occurrences, source }: Found,
  project: LanguageServers["project"],
): string[] {
  const items = answer.items ?? [];
  const files = items.flatMap(({ at }) => at.files);
  const listed = new Set(files.map(({ path }) => path));
  return aliasesWithoutCallers(lastName(answer.name), occurrences, listed, project, source);
}

/** Undefined for what is private, or outside of `within`. */
function itemText(
  item: HierarchyItem,
  project: LanguageServers["project"],
  source: SourceLines,
  isWithin: (name: string) => boolean,
): string | undefined {
  const [place] = item.at.places;
  const [file] = item.at.files;
  if (!place || !file || !isWithin(project.nameOf(file.path))) return undefined;
  const where = `${project.nameOf(file.path)}:${place.line}`;
  const calls = item.calls?.places ?? [];
  const indent = "  ".repeat(item.depth);
  const [call] = calls;
  const path = item.calls?.files[0];
  const lines = [...new Set(calls.map(({ line }) => line))].join(", ");
  const shown = call && path?.in_workspace ? `: ${code(source.at(path.path, call.line))}` : "";
  const at = lines === "" ? "" : `, calls on ${lines}${shown}`;
  return `${indent}${where} ${item.kind} ${item.name}${at}`;
}
