/** The style of cells. Colours are `#rrggbb`. */
export interface Style {
  fg?: string;
  bg?: string;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  reverse?: boolean;
  strike?: boolean;
}

/** Adjacent cells of a row with the same style. */
export interface Run {
  text: string;
  /** The first cell, from 0. */
  column: number;
  width: number;
  style: Style;
}

/** The first 16 colours of a terminal. */
const PALETTE = [
  ...["#1c1f26", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4"],
  ...["#5c6370", "#ef7a85", "#a8d389", "#f0d08b", "#71bfff", "#d688ed", "#66c6d2", "#ffffff"],
];

/** Rows of text with SGR sequences, as `tmux capture-pane -e` prints them. */
export function parseScreen(text: string): Run[][] {
  let style: Style = {};
  return text.split("\n").map((line) => {
    const runs: Run[] = [];
    let column = 0;
    // A piece has the codes of a sequence, `m`, and the text up to the next sequence.
    for (const [index, part] of line.split("\u001b[").entries()) {
      const end = index === 0 ? -1 : part.indexOf("m");
      if (index > 0) style = restyled(style, part.slice(0, end));
      const chars = part.slice(end + 1);
      if (!chars) continue;
      const width = Bun.stringWidth(chars);
      runs.push({ text: chars, column, width, style });
      column += width;
    }
    return runs;
  });
}

function restyled(style: Style, codes: string): Style {
  const next = { ...style };
  const numbers = codes.split(/[;:]/).map(Number);
  for (let i = 0; i < numbers.length; i++) {
    const code = numbers[i] ?? 0;
    if (code === 38 || code === 48) {
      const [color, used] = extendedColor(numbers.slice(i + 1));
      next[code === 38 ? "fg" : "bg"] = color;
      i += used;
    } else {
      apply(next, code);
    }
  }
  return next;
}

function apply(style: Style, code: number): void {
  if (code === 0) for (const key of Object.keys(style)) delete style[key as keyof Style];
  else if (code === 1) style.bold = true;
  else if (code === 2) style.dim = true;
  else if (code === 3) style.italic = true;
  else if (code === 4) style.underline = true;
  else if (code === 7) style.reverse = true;
  else if (code === 9) style.strike = true;
  else if (code === 22) {
    delete style.bold;
    delete style.dim;
  } else if (code === 23) delete style.italic;
  else if (code === 24) delete style.underline;
  else if (code === 27) delete style.reverse;
  else if (code === 29) delete style.strike;
  else if (code === 39) delete style.fg;
  else if (code === 49) delete style.bg;
  else if (code >= 30 && code <= 37) style.fg = color256(code - 30);
  else if (code >= 40 && code <= 47) style.bg = color256(code - 40);
  else if (code >= 90 && code <= 97) style.fg = color256(code - 82);
  else if (code >= 100 && code <= 107) style.bg = color256(code - 92);
}

/** The colour after 38 or 48, and the number of its codes. */
function extendedColor(rest: number[]): [string, number] {
  if (rest[0] === 5) return [color256(rest[1] ?? 0), 2];
  return [hex(rest[1] ?? 0, rest[2] ?? 0, rest[3] ?? 0), 4];
}

function color256(index: number): string {
  if (index < 16) return PALETTE[index] as string;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return hex(grey, grey, grey);
  }
  const steps = [0, 95, 135, 175, 215, 255];
  const cube = index - 16;
  const part = (divisor: number) => steps[Math.floor(cube / divisor) % 6] ?? 0;
  return hex(part(36), part(6), part(1));
}

function hex(...parts: number[]): string {
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
