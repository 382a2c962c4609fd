import type { Run, Style } from "./screen";

/** The size of a cell, and of the frame around the screen, in pixels. */
const CELL = { width: 8.4, height: 18 };
const MARGIN = 14;
const BAR = 34;
const FONT_SIZE = 14;
const FONTS = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const BACKGROUND = "#14161b";
const FOREGROUND = "#e0e2ea";

/** The time of each screen of a moving picture, in seconds. */
const SECONDS = 3;

/**
 * A window that shows the screens, one after the other. `title` describes them for a screen reader. Users who prefer
 * reduced motion see only the first screen.
 */
export function svg(screens: Run[][][], columns: number, title: string): string {
  const width = Math.round(columns * CELL.width + 2 * MARGIN);
  const height = (screens[0]?.length ?? 0) * CELL.height + BAR + MARGIN;
  const frames = screens.map((rows, at) => {
    const cells = rows.flatMap((runs, row) => runs.map((run) => draw(run, row)));
    const text = cells.filter(Boolean).join("\n");
    return screens.length === 1 ? text : `<g class="f" style="--at:${at}">\n${text}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" rx="9" fill="${BACKGROUND}"/>
<circle cx="20" cy="17" r="6" fill="#ff5f57"/><circle cx="40" cy="17" r="6" fill="#febc2e"/><circle cx="60" cy="17" r="6" fill="#28c840"/>
${screens.length === 1 ? "" : motion(screens.length)}<g font-family="${FONTS}" font-size="${FONT_SIZE}" fill="${FOREGROUND}" xml:space="preserve">
${frames.join("\n")}
</g>
</svg>
`;
}

function motion(count: number): string {
  const whole = count * SECONDS;
  const share = round(100 / count);
  return `<style>
@keyframes f { 0% { visibility: visible } ${share}% { visibility: hidden } }
.f { visibility: hidden; animation: f ${whole}s step-end calc(var(--at) * ${SECONDS}s) infinite }
@media (prefers-reduced-motion: reduce) { .f { animation: none } .f[style="--at:0"] { visibility: visible } }
</style>
`;
}

/** Keeps text in its cells, whatever the reader's font. */
function draw({ text, column, width, style }: Run, row: number): string {
  const x = round(MARGIN + column * CELL.width);
  const y = BAR + row * CELL.height;
  const { fg, bg } = colors(style);
  const length = round(width * CELL.width);
  const shown = text.trim();
  const indent = text.length - text.trimStart().length;
  const fill = bg
    ? `<rect x="${x}" y="${y}" width="${length}" height="${CELL.height}" fill="${bg}"/>`
    : "";
  if (shown === "") return fill;
  const looks = [
    fg && `fill="${fg}"`,
    style.bold && 'font-weight="bold"',
    style.italic && 'font-style="italic"',
    style.dim && 'opacity="0.65"',
    style.underline && 'text-decoration="underline"',
    style.strike && 'text-decoration="line-through"',
  ].filter(Boolean);
  const start = round(x + indent * CELL.width);
  const span = round(Bun.stringWidth(shown) * CELL.width);
  const place = `x="${start}" y="${y + 13.5}" textLength="${span}" lengthAdjust="spacingAndGlyphs"`;
  return `${fill}<text ${[place, ...looks].join(" ")}>${escaped(shown)}</text>`;
}

function colors(style: Style): { fg: string | undefined; bg: string | undefined } {
  if (!style.reverse) return { fg: style.fg, bg: style.bg };
  return { fg: style.bg ?? BACKGROUND, bg: style.fg ?? FOREGROUND };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
