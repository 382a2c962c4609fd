import type {
  LanguagePlace,
  LanguagePlaces,
  OutlineAnswer,
  ServerState,
  SymbolAnswer,
} from "../editor/language";
import { below } from "../lib/below";
import { attempt } from "../lib/errors";
import { realPath } from "../lib/paths";
import { relative } from "../lib/platform";
import { counted, cutText } from "../lib/visible";
import type { ProjectFiles } from "./project-files";
import type { Relation } from "./servers";

/** Characters of an answer: about 2,000 tokens. */
const MAX_CHARACTERS = 8_000;
const MAX_SOURCE = 4 * 1024 * 1024;
const MAX_CODE = 160;
const MAX_DETAIL = 100;
const MAX_DOCS = 600;
const MAX_SIGNATURE = 1_200;
const MAX_CANDIDATES = 30;
const MAX_OTHERS = 10;

/** Converts the answers of language servers to text for Claude. */
export class LanguageText {
  readonly #files = new Map<string, readonly string[]>();

  constructor(private readonly project: ProjectFiles) {}

  /** The answer of `find_symbol`: the definition, its code and its documentation. */
  symbol(answer: SymbolAnswer): string {
    if (answer.are_candidates) return this.#candidates(answer);
    const { name, hover, definitions, states } = answer;
    const [first, ...others] = definitions.places;
    const more = others.length - MAX_OTHERS;
    // Overloads, and prototypes.
    const also = others.slice(0, MAX_OTHERS).map((place) => this.#location(place, definitions));
    const tail = more > 0 ? ` and ${more} more` : "";
    return [
      first
        ? `${this.#location(first, definitions)} ${name}: ${this.#code(first, definitions)}`
        : `${name} is defined in a private file`,
      ...(also.length > 0 ? [`  also ${also.join(", ")}${tail}`] : []),
      ...(hover ? describe(hover) : []),
      stateLine(states),
    ].join("\n");
  }

  /**
   * The answer of `find_references`, within a folder or file relative to the project's top, with the code of at most
   * `limit` lines.
   */
  references(
    answer: SymbolAnswer,
    { relation, within, limit }: { relation: Relation; within?: string | undefined; limit: number },
  ) {
    if (answer.are_candidates) return { text: this.#candidates(answer), isError: false };
    const { definitions, uses, states } = answer;
    const { files, places, private: hidden } = uses ?? { files: [], places: [], private: 0 };
    const busy = describeBusy(states);
    if (places.length + hidden === 0 && busy !== "") {
      const next = "Nothing was found yet, which proves nothing. Ask again in 10 s, or use Grep.";
      return { text: `Not ready: ${busy}. ${next}`, isError: true };
    }
    const folder = within?.replace(/^\.\//, "").replace(/\/+$/, "") ?? "";
    const isInside = (name: string) =>
      folder === "" || name === folder || name.startsWith(`${folder}/`);
    const own = places.filter(({ file }) => {
      const { is_own, path } = files[file - 1] ?? {};
      return is_own && isInside(this.project.nameOf(path as string));
    });
    const outside = places.filter(({ file }) => !files[file - 1]?.is_own).length;
    const [first] = definitions.places;
    const where = first ? ` (${this.#location(first, definitions)})` : "";
    const count = counted(own.length, relation === "references" ? "use" : "implementation");
    const inFiles = new Set(own.map(({ file }) => file)).size;
    const lines = [
      `${answer.name}${where}: ${count}${inFiles > 0 ? ` in ${counted(inFiles, "file")}` : ""}`,
      ...this.#uses(own, files, limit),
      ...(outside > 0 ? [`${outside} more in dependencies, or outside of the project`] : []),
      ...(hidden > 0 ? [`${hidden} more in private files`] : []),
      stateLine(states),
    ];
    return { text: lines.join("\n"), isError: false };
  }

  /** The answer of `outline`: the declarations in a file, indented, with their lines. */
  outline({ path, unsaved, symbols, states }: OutlineAnswer, depth: number): string {
    const lines = [heading(this.project.nameOf(path), unsaved)];
    let characters = 0;
    let cut = 0;
    for (const { name, kind, detail, depth: own, first_line, last_line } of symbols) {
      if (own >= depth) continue;
      const at = last_line > first_line ? `${first_line}-${last_line}` : String(first_line);
      // In clangd, a struct has the detail "struct".
      const more = detail && detail !== kind ? ` ${code(detail).slice(0, MAX_DETAIL)}` : "";
      const line = `${"  ".repeat(own + 1)}${at} ${kind} ${name}${more}`;
      characters += line.length + 1;
      if (characters > MAX_CHARACTERS) cut++;
      else lines.push(line);
    }
    if (cut > 0) lines.push(`… ${cut} more lines (ask with a smaller \`depth\`)`);
    return [...lines, stateLine(states)].join("\n");
  }

  /** Several symbols have the name: Claude chooses one by its path and line. */
  #candidates({ name, definitions, states }: SymbolAnswer): string {
    const { places } = definitions;
    const shown = places.slice(0, MAX_CANDIDATES);
    const more = places.length - shown.length;
    return [
      `${places.length} symbols are called ${name}. For one of them ask with \`path\` and \`line\`:`,
      ...shown.map(
        (place) => `  ${this.#location(place, definitions)}: ${this.#code(place, definitions)}`,
      ),
      ...(more > 0 ? [`  … ${more} more`] : []),
      stateLine(states),
    ].join("\n");
  }

  /** Files with their lines, in the form of ripgrep. Counts the uses that it leaves out. */
  #uses(places: readonly LanguagePlace[], files: LanguagePlaces["files"], limit: number): string[] {
    const named = [...Map.groupBy(places, ({ file }) => file)].map(([file, own]) => {
      const { path = "", unsaved } = files[file - 1] ?? {};
      const byLine = [...Map.groupBy(own, ({ line }) => line)].sort(([a], [b]) => a - b);
      return { name: this.project.nameOf(path), unsaved, count: own.length, byLine };
    });
    named.sort((a, b) => (a.name < b.name ? -1 : 1));
    const result: string[] = [];
    const rest: string[] = [];
    let characters = 0;
    let shown = 0;
    for (const { name, unsaved, count, byLine } of named) {
      const lines = byLine.slice(0, Math.max(limit - shown, 0)).map(([line, same]) => {
        const text = this.#code(same[0] as LanguagePlace, { files });
        return `  ${line} ${text}${same.length > 1 ? ` (${same.length}×)` : ""}`;
      });
      const length = lines.join("\n").length + name.length;
      if (lines.length === 0 || characters + length > MAX_CHARACTERS) {
        rest.push(`${name} ${count}`);
        continue;
      }
      const left = byLine.slice(lines.length).map(([line]) => line);
      result.push(heading(name, unsaved), ...lines);
      if (left.length > 0) result.push(cutText(`  … also on ${left.join(", ")}`, MAX_CODE));
      characters += length;
      shown += lines.length;
    }
    if (rest.length === 0) return result;
    const names = cutText(rest.join(", "), MAX_DOCS);
    return [
      ...result,
      `… more in ${counted(rest.length, "file")} (narrow with \`within\`): ${names}`,
    ];
  }

  /** `src/parser.ts:41`. */
  #location({ file, line }: LanguagePlace, { files }: Pick<LanguagePlaces, "files">): string {
    return `${this.project.nameOf(files[file - 1]?.path ?? "?")}:${line}`;
  }

  /** Reads only the project's files. */
  #code({ file, line, text }: LanguagePlace, { files }: Pick<LanguagePlaces, "files">): string {
    const { path = "", is_own } = files[file - 1] ?? {};
    if (text !== undefined || !is_own) return code(text ?? "");
    const known = this.#files.get(path) ?? this.#read(path).split(/\r\n|\n|\r/);
    this.#files.set(path, known);
    return code(known[line - 1] ?? "");
  }

  #read(path: string): string {
    const { root } = this.project;
    const name = relative(root, realPath(path));
    const found = attempt(() => below(root, name, (place) => place.read(MAX_SOURCE)));
    return `${found?.bytes ?? ""}`;
  }
}

/** Removes indentation and cuts the line: a generated file may have lines of megabytes. */
function code(line: string): string {
  return cutText(line.trim().replaceAll(/\s+/g, " "), MAX_CODE);
}

function heading(name: string, unsaved: boolean | undefined): string {
  return unsaved ? `${name} (unsaved in Neovim; lines as there)` : name;
}

/** The end of every answer: the servers that answered, and those that may know more later. */
function stateLine(states: readonly ServerState[]): string {
  const names = states.map(({ name }) => name).join(", ");
  const busy = describeBusy(states);
  const doubt = busy === "" ? "" : `may be incomplete: ${busy}; `;
  return `${doubt}as ${names} ${states.length > 1 ? "report" : "reports"}; the text may match elsewhere`;
}

const WORDS: Record<ServerState["state"], string> = {
  idle: "is idle",
  starting: "is starting",
  indexing: "is indexing",
  failing: "reports an error",
  ended: "has ended",
  hangs: "does not answer",
};

/** The servers that are not idle. */
function describeBusy(states: readonly ServerState[]): string {
  const busy = states.filter(({ state }) => state !== "idle");
  const described = busy.map(({ name, state, title }) => {
    const line = title?.split("\n", 1)[0]?.slice(0, 200);
    return `${name} ${WORDS[state]}${state === "failing" && line ? `: ${line}` : ""}`;
  });
  return described.join("; ");
}

/** Matches a paragraph that is only a link: gopls links to pkg.go.dev. */
const LINK = /^\[[^\]]*\]\([^)]*\)$/;

/** The signature and the first paragraph of a hover text. */
function describe(markdown: string): string[] {
  const text = markdown.replaceAll("\r", "");
  const block = signatureBlock(text);
  const signature = block?.[1]?.trim().slice(0, MAX_SIGNATURE);
  const rest = (block ? text.slice(block.index + block[0].length) : text).replaceAll(
    /```[\s\S]*?```/g,
    "",
  );
  const paragraph = rest
    .split(/\n\s*\n/)
    .map((part) => part.replaceAll(/^\s*-{3,}\s*$/gm, "").trim())
    .find((part) => part !== "" && !LINK.test(part));
  const docs = paragraph && cutText(paragraph.replaceAll(/\s*\n\s*/g, " "), MAX_DOCS);
  return [...(signature ? [signature.replaceAll(/^/gm, "  ")] : []), ...(docs ? [docs] : [])];
}

/** The last of the blocks of code at the beginning, or the first one: rust-analyzer puts the module in a block before. */
function signatureBlock(text: string): RegExpExecArray | null {
  const leading = /\s*```[^\n]*\n([\s\S]*?)\n?```/y;
  let last: RegExpExecArray | null = null;
  for (let found = leading.exec(text); found; found = leading.exec(text)) last = found;
  return last ?? /```[^\n]*\n([\s\S]*?)\n?```/.exec(text);
}
