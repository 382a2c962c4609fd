/**
 * A played script: what a user types, and what that user sees then.
 *
 *   await neovim.plays(`
 *     :Claude review!   a:2   bar hunk 1/2   list a:2 a:8 b:4
 *     ]c                a:8   entry 2
 *     ga                b:4   list b:4   says nothing left
 *                       disk a /LINE 8/
 *   `);
 *
 * Two spaces or more separate cells. The first cell has keys (`<CR>` and the like are translated) or, after a
 * colon and without `<CR>`, an Ex command, which fails the test if it fails. `<Ignore>` types nothing. The other
 * cells are what is seen, and a line that begins further to the right has more of them. A row waits until all
 * of its cells hold in the same moment; if they do not, it prints what was seen instead, and the screen.
 *
 *   a:8, a:8:3, a:*, :8   the cursor: file, row, column (from 1)
 *   list a:2 b:4          entries of the quickfix list; `list 2` counts them; `entry 1` is the current one
 *   windows a quickfix    from the top left: the file, or the type of the buffer; `windows 2` counts them
 *   mode n                of nvim_get_mode()
 *   {&modified} 0         any Vim expression, as :echo shows it
 *   bar TEXT              this is in the bar of the window as it is drawn; `bars` of all windows of the tab page
 *   says TEXT             this is in `:messages` since keys were typed
 *   line, lines, texts, disk NAME, screen TEXT   in the cursor's line, the buffer, the texts of the list, a file
 *                         (`absent` without one), the rows of the screen
 *
 * Those of the first group must be equal; TEXT must be part of what is seen. `bar = TEXT` must be all of it,
 * `bar ! TEXT` no part, and `bar /re/` matches. A "|" separates lines, and several spaces count as one.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "../../src/lib/platform";
import { eventually } from "./eventually";
import type { TestNeovim } from "./neovim";

export interface Played {
  /** The folder of files that `disk` names; Neovim's own if left out. */
  folder?: string;
  /** Further words, of one test: each gives what is seen. */
  words?: Record<string, () => string | Promise<string>>;
}

interface Row {
  text: string;
  keys: string;
  cells: Cell[];
}

interface Cell {
  text: string;
  /** With its argument, for `disk` and expressions. */
  word: string;
  holds: (seen: string) => boolean;
}

/** Words of port.lua whose values must be equal. */
const EQUAL = new Set(["list", "entry", "windows", "mode"]);
const PART = new Set(["bar", "bars", "says", "line", "lines", "texts", "screen"]);

/** Plays each row of a script. */
export async function plays(neovim: TestNeovim, script: string, played: Played): Promise<void> {
  for (const row of rowsOf(script, played)) await play(neovim, row, played);
}

async function play(neovim: TestNeovim, row: Row, played: Played): Promise<void> {
  if (row.keys !== "<Ignore>") await neovim.lua("vim.cmd.messages('clear')");
  if (/^:(?!.*<CR>)/i.test(row.keys)) await neovim.request("nvim_command", [row.keys.slice(1)]);
  else if (row.keys !== "<Ignore>") await neovim.type(row.keys);
  await consumed(neovim);
  await eventually(`the row\n${row.text}`, async () => {
    const seen = await look(neovim, row.cells, played);
    const wrong = row.cells.filter(({ word, holds }) => !holds(seen[word] ?? ""));
    if (wrong.length === 0) return;
    const instead = wrong.map(({ text, word }) => `  ${text}   but it is: ${seen[word]}`);
    const screen = await neovim.lua<string>("return require('port').seen({ 'screen' }).screen");
    const rows = screen.split("\n").map((line) => `  |${line.trimEnd()}`);
    throw new Error(["", ...instead, "The screen:", ...rows].join("\n"));
  });
}

/** A Neovim that is busy takes a request before keys that came earlier, but not a second request. */
async function consumed(neovim: TestNeovim): Promise<void> {
  if (!(await neovim.mode()).blocking) await neovim.lua("return 0");
}

/** The visible part of these words. */
async function look(
  neovim: TestNeovim,
  cells: readonly Cell[],
  { folder = neovim.cwd, words = {} }: Played,
): Promise<Record<string, string>> {
  const { mode, blocking } = await neovim.mode();
  if (blocking) throw new Error(`Neovim waits for a key in mode ${mode}`);
  const seen: Record<string, string> = {};
  const asked: string[] = [];
  for (const { word } of cells) {
    if (word.startsWith("disk ")) seen[word] = onDisk(join(folder, word.slice("disk ".length)));
    else if (words[word]) seen[word] = await words[word]();
    else asked.push(word);
  }
  if (asked.length > 0)
    Object.assign(seen, await neovim.lua("return require('port').seen(...)", asked));
  for (const [word, text] of Object.entries(seen)) seen[word] = oneLine(text);
  return seen;
}

function onDisk(path: string): string {
  return existsSync(path) ? readFileSync(path, "latin1") : "absent";
}

/** Titles and scripts of a text: "# title", and below it the rows. For `test.each`. */
export const titledPlays = (text: string) =>
  text
    .split(/^\s*# /m)
    .slice(1)
    .map((one) => one.split(/\n(.*)/s, 2) as [title: string, script: string]);

/** A text in the form that a script uses. */
export function oneLine(text: string): string {
  return text.replaceAll("\n", "|").replaceAll(/\s+/g, " ").trim();
}

function rowsOf(script: string, played: Played): Row[] {
  const rows: Row[] = [];
  const lines = script.split("\n").filter((line) => line.trim() !== "");
  const indentOf = (line: string) => line.length - line.trimStart().length;
  for (const line of lines) {
    const cells = line.trim().split(/ {2,}/);
    let row = rows.at(-1);
    if (!row || indentOf(line) <= indentOf(lines[0] as string)) {
      row = { text: "", keys: cells.shift() as string, cells: [] };
      rows.push(row);
    }
    row.text += `${line}\n`;
    row.cells.push(...cells.map((cell) => parse(cell, played)));
  }
  return rows;
}

function parse(cell: string, { words = {} }: Played): Cell {
  const place = cell.match(/^([^\s:]*):(\d+|\*)(?::(\d+))?$/);
  if (place) {
    const wanted = place.slice(1).map((part) => part || "*");
    const isAt = (seen: string) =>
      seen.split(":").every((part, i) => ["*", part].includes(wanted[i] ?? "*"));
    return { text: cell, word: "place", holds: isAt };
  }
  const [, word = "", how, text = ""] =
    cell.match(/^(\{.+\}|disk \S+|\S+)(?: ([=!])(?= |$))?(?: (.*))?$/) ?? [];
  const isEqual = EQUAL.has(word) || word.startsWith("{");
  if (!isEqual && !PART.has(word) && !words[word] && !word.startsWith("disk "))
    throw new Error(`"${cell}" begins with no word of a played script`);
  return { text: cell, word, holds: expectation(word, isEqual && !how ? "=" : how, text) };
}

function expectation(word: string, how: string | undefined, text: string): Cell["holds"] {
  const regexp = text.match(/^\/(.+)\/$/)?.[1];
  if (regexp) return (seen) => new RegExp(regexp).test(seen) !== (how === "!");
  const isCount = /^\d+$/.test(text) && (word === "list" || word === "windows");
  if (isCount) return (seen) => seen.split(" ").filter(Boolean).length === Number(text);
  const wanted = oneLine(text);
  if (how === "=") return (seen) => seen === wanted;
  return (seen) => seen.includes(wanted) !== (how === "!");
}
