/** Control characters, those that turn the direction of text, and invisible ones. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text with codes in the place of what nobody would see: `<202e>`. Line ends and tabs stay. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    if (character === "\n" || character === "\t") return character;
    return `<${(character.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}>`;
  });
}

/** The same for one line of the screen. */
export function visibleLine(text: string, most: number): string {
  const line = visible(text.slice(0, 4 * most).replace(/\s+/g, " ")).trim();
  return line.length > most || text.length > 4 * most ? `${line.slice(0, most - 1)}…` : line;
}
