/**
 * Control characters, those that turn the direction of text, and invisible ones, of which some are letters (U+3164);
 * not the variation selectors of emojis. Joiners are among them behind a letter of ASCII or one another. Marks in
 * buffers have the same (lua/claude-code/editor/changes/hidden.lua).
 */
const HIDDEN =
  /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u{fe00}-\u{fe0f}\u{200c}\u{200d}]]|(?<![[^\0-\x7f]--[\u{200c}\u{200d}]])[\u{200c}\u{200d}]/gv;
/** U+2800 is an empty Braille cell: it looks blank, but is not white space to Unicode. */
const BLANKS = /[\s\u2800]+/g;

/** Replaces invisible characters by their codes, such as `<202e>`. Line ends and tabs stay. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    if (character === "\n" || character === "\t") return character;
    return `<${(character.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}>`;
  });
}

/** The first characters of a text, without the half of one that the cut would leave. */
export function beginning(text: string, most: number): string {
  const isSplit = text.length > most && (text.charCodeAt(most - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isSplit ? most - 1 : most);
}

/** The same, with a mark where something is missing. */
export function cutText(text: string, most: number): string {
  return text.length > most ? `${beginning(text, most)}…` : text;
}

/** Visible text for one line of the screen, of at most `most` characters. */
export function visibleLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const line = visible(beginning(text, 4 * most).replace(BLANKS, " ")).trim();
  return line.length > most || text.length > 4 * most ? `${beginning(line, most - 1)}…` : line;
}

/** As `visible`, for names of files, which may contain line ends and tabs. */
export function visibleName(text: string): string {
  return visible(text).replaceAll("\n", "<0a>").replaceAll("\t", "<09>");
}

/** "3 files", "1 file". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Whether a name can be shown, and put into a prompt, as it is. */
export function isPlain(name: string): boolean {
  return visibleName(name) === name;
}
