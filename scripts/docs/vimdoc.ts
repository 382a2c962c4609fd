/** The width of a line in a help file, in cells. */
export const WIDTH = 78;
const TAB = 8;

/** A line with tags at the right margin, after tabs. */
export function heading(text: string, ...tags: string[]): string {
  const right = tags.map((tag) => `*${tag}*`).join(" ");
  const tabs = Math.floor((WIDTH - right.length) / TAB) - Math.floor(text.length / TAB);
  return tabs >= 1 ? text + "\t".repeat(tabs) + right : `${pad(right)}\n${text}`;
}

function pad(right: string): string {
  return "\t".repeat(Math.max(0, Math.floor((WIDTH - right.length) / TAB))) + right;
}

/** Fills text to the width. Indented lines and lists keep their line breaks. */
export function fill(text: string, indent = 0): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) =>
      /^(\s|- )/m.test(paragraph) ? shift(paragraph, indent) : wrap(paragraph, indent),
    )
    .join("\n\n");
}

export function wrap(paragraph: string, indent: number, width = WIDTH): string {
  const lines: string[] = [];
  let line = "";
  for (const word of words(paragraph)) {
    if (line && indent + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  return shift([...lines, line].join("\n"), indent);
}

/** A `code span` must stay on one line. */
function words(text: string): string[] {
  return text.match(/(?:`[^`]*`|[^\s`])+/g) ?? [];
}

export function shift(text: string, indent: number): string {
  return text
    .split("\n")
    .map((line) => (line.trim() ? " ".repeat(indent) + line : ""))
    .join("\n");
}
