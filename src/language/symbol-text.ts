import { cutText } from "../lib/visible";
import type { LanguagePlace, SymbolAnswer } from "./answer";
import type { ProjectFiles } from "./project-files";
import { lastName } from "./servers";
import { code, type SourceLines } from "./source-lines";
import { isReady, stateLine } from "./state-line";

const MOST_DOCS = 600;
const MOST_SIGNATURE = 1_200;
const MOST_CANDIDATES = 30;
const MOST_OTHERS = 10;

/** `find_symbol`'s answer: where, what, and its documentation; with `body` the source. */
export function symbolText(
  answer: SymbolAnswer,
  project: ProjectFiles,
  source: SourceLines,
): string {
  if (answer.candidates) return candidatesText(answer, project, source);
  const { hover, declaration, definitions, states, settled } = answer;
  const places = definitions.places;
  const path = [...(declaration?.parents ?? []), answer.name].join(".");
  const end = declaration?.last_line ?? 0;
  const kind = declaration?.kind ? `${declaration.kind} ` : "";
  const [first, ...others] = places;
  const last = first && end > first.line ? `-${end}` : "";
  const lines = first ? [`${locationOf(first, answer, project)}${last} ${kind}${path}`] : [];
  // Overloads, and prototypes.
  if (others.length > 0) {
    const also = others.slice(0, MOST_OTHERS).map((place) => locationOf(place, answer, project));
    const more = others.length - also.length;
    lines.push(`  also ${also.join(", ")}${more > 0 ? ` and ${more} more` : ""}`);
  }
  if (lines.length === 0) lines.push(`${answer.name} is defined in a private file`);
  const described = hover ? describe(hover) : [];
  const state = stateLine(states, isReady(states, settled));
  return [...lines, ...described, ...bodyOf(answer), state].join("\n");
}

/** Several symbols have the name: Claude chooses one by its path and line. */
export function candidatesText(
  answer: SymbolAnswer,
  project: ProjectFiles,
  source: SourceLines,
): string {
  const places = answer.definitions.places;
  const candidates = answer.candidates ?? [];
  const shown = places.slice(0, MOST_CANDIDATES).map((place, index) => {
    const { kind, container } = candidates[index] ?? {};
    const last = lastName(answer.name);
    const name = container ? `${container}.${last}` : last;
    const file = answer.definitions.files[place.file - 1];
    const text = file?.in_workspace ? (place.unsaved ?? source.at(file.path, place.line)) : "";
    const what = [kind, name].filter(Boolean).join(" ");
    return `  ${locationOf(place, answer, project)} ${what}${text && `: ${code(text)}`}`;
  });
  const more = places.length - shown.length;
  return [
    `${places.length} symbols are called ${answer.name}. For one of them ask with \`path\` and \`line\`:`,
    ...shown,
    ...(more > 0 ? [`  … ${more} more`] : []),
    stateLine(answer.states, isReady(answer.states, answer.settled)),
  ].join("\n");
}

/** `src/parser.ts:41`. */
export function locationOf(
  place: LanguagePlace,
  { definitions }: SymbolAnswer,
  project: ProjectFiles,
): string {
  const file = definitions.files[place.file - 1];
  const unsaved = place.unsaved === undefined ? "" : "+unsaved";
  return `${file ? project.nameOf(file.path) : "?"}:${place.line}${unsaved}`;
}

/** A paragraph that is a link alone: gopls leads to pkg.go.dev. */
const LINK = /^\[[^\]]*\]\([^)]*\)$/;

/** The first code is the signature; of the rest, the first paragraph. */
function describe(markdown: string): string[] {
  const text = markdown.replaceAll("\r", "");
  const block = signatureBlock(text);
  const signature = block?.[1]?.trim().slice(0, MOST_SIGNATURE);
  const rest = (block ? text.slice(block.index + block[0].length) : text).replaceAll(
    /```[\s\S]*?```/g,
    "",
  );
  const paragraph = rest
    .split(/\n\s*\n/)
    .map((part) => part.replaceAll(/^\s*-{3,}\s*$/gm, "").trim())
    .find((part) => part !== "" && !LINK.test(part));
  const docs = paragraph && cutText(paragraph.replaceAll(/\s*\n\s*/g, " "), MOST_DOCS);
  return [...(signature ? [signature.replaceAll(/^/gm, "  ")] : []), ...(docs ? [docs] : [])];
}

/** The first block of code; rust-analyzer begins with the module, in a block of its own. */
function signatureBlock(text: string): RegExpExecArray | null {
  const leading = /\s*```[^\n]*\n([\s\S]*?)\n?```/y;
  let last: RegExpExecArray | null = null;
  for (let found = leading.exec(text); found; found = leading.exec(text)) last = found;
  return last ?? /```[^\n]*\n([\s\S]*?)\n?```/.exec(text);
}

function bodyOf({ declaration }: SymbolAnswer): string[] {
  const body = declaration?.body ?? [];
  if (body.length === 0) return [];
  const first = declaration?.first_line ?? 1;
  const lines = body.map((line, index) => `${first + index}\t${cutText(line, 400)}`);
  const more = declaration?.more ?? 0;
  return [...lines, ...(more > 0 ? [`… ${more} more lines`] : [])];
}
