/**
 * Matches control characters, characters that change the direction of text, and invisible ones, some of which are
 * letters (U+3164). Does not match the variation selectors of emojis, and joiners only after ASCII or another joiner.
 * Lua marks the same characters in buffers (lua/claude-code/editor/changes/hidden.lua).
 */
const HIDDEN =
  /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u{fe00}-\u{fe0f}\u{200c}\u{200d}]]|(?<![[^\0-\x7f]--[\u{200c}\u{200d}]])[\u{200c}\u{200d}]/gv;
/** U+2800, an empty Braille cell, looks blank but is not white space in Unicode. */
const BLANKS = /[\s\u2800]+/g;

/** Replaces hidden characters with their codes, such as `<202e>`. Line ends and tabs stay. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    if (character === "\n" || character === "\t") return character;
    return `<${(character.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}>`;
  });
}

/** The first `max` UTF-16 units of a text, without half a character at the end. */
export function beginning(text: string, max: number): string {
  const isSplit = text.length > max && (text.charCodeAt(max - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isSplit ? max - 1 : max);
}

/** The same, with an ellipsis if the text was cut. */
export function cutText(text: string, max: number): string {
  return text.length > max ? `${beginning(text, max)}…` : text;
}

/** Visible text for one line of the screen, of at most `max` UTF-16 units. */
export function visibleLine(text: string, max = Number.POSITIVE_INFINITY): string {
  const line = visible(beginning(text, 4 * max).replace(BLANKS, " ")).trim();
  return line.length > max || text.length > 4 * max ? `${beginning(line, max - 1)}…` : line;
}

/** As `visible`, but also replaces line ends and tabs, which names of files may contain. */
export function visibleName(text: string): string {
  return visible(text).replaceAll("\n", "<0a>").replaceAll("\t", "<09>");
}

/** "3 files", "1 file". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** True if a name can be shown and used in a prompt unchanged. */
export function isPlain(name: string): boolean {
  return visibleName(name) === name;
}
