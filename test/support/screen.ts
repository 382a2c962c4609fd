import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "../../src/lib/platform";
import { eventually } from "./eventually";
import type { TestNeovim } from "./neovim";

/** How long a screen may take to match its reference. */
const MATCH_TIMEOUT_MS = 5_000;
/** A new reference is taken once nothing was drawn for this time. */
const STILL_MS = 600;
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

interface Cell {
  text: string;
  /** Neovim's number of a highlight; 0 is the default. */
  highlight: number;
}

type Attributes = Record<string, number | boolean>;
type Redraw = [event: string, ...calls: unknown[][]];

/** Neovim's screen: its own UI protocol (`:help ui-linegrid`), kept as a grid of cells. */
export class Screen {
  #cells: Cell[][] = [];
  #cursor = "";
  #changed = performance.now();
  readonly #looks = new Map<number, string>();

  private constructor(private readonly neovim: TestNeovim) {}

  static async attach(neovim: TestNeovim, columns: number, rows: number): Promise<Screen> {
    const screen = new Screen(neovim);
    neovim.api.on("notification", (method: string, events: unknown[]) => {
      if (method === "redraw") for (const event of events) screen.#draw(event as Redraw);
    });
    await neovim.request("nvim_ui_attach", [columns, rows, { rgb: true, ext_hlstate: true }]);
    return screen;
  }

  /** Returns when Neovim has drawn everything again. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.neovim.request("nvim_ui_try_resize", [columns, rows]);
    await eventually(`a screen of ${columns} columns`, () => this.#cells[0]?.length === columns);
  }

  /**
   * Waits until the screen matches `file`. Throws an error with the differences if it does not.
   * UPDATE_SCREENS=1 writes the file instead, once the screen no longer changes.
   */
  async matches(file: string): Promise<void> {
    if (process.env.UPDATE_SCREENS) return this.#save(file);
    if (!existsSync(file)) throw new Error(`No ${file}: UPDATE_SCREENS=1 scripts/test writes it`);
    const wanted = readFileSync(file, "utf8");
    const end = performance.now() + MATCH_TIMEOUT_MS;
    while (this.toString() !== wanted) {
      if (performance.now() > end) {
        const advice = "If that is intended: UPDATE_SCREENS=1 scripts/test --fast test/screens";
        throw new Error(`${file} differs:\n${difference(wanted, this.toString())}\n${advice}`);
      }
      await Bun.sleep(10);
    }
  }

  async #save(file: string): Promise<void> {
    while (performance.now() - this.#changed < STILL_MS) await Bun.sleep(20);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, this.toString());
  }

  /** The text, a letter for each cell's highlight, and the meanings of the letters. */
  toString(): string {
    const letters = new Map<string, string>([["", "."]]);
    const letterOf = ({ highlight }: Cell) => {
      const look = this.#looks.get(highlight) ?? "";
      if (!letters.has(look)) letters.set(look, LETTERS[letters.size - 1] ?? "?");
      return letters.get(look) as string;
    };
    const looks = this.#cells.map((row) => shortened(row.map(letterOf).join("")));
    const texts = this.#cells.map((row) => row.map(({ text }) => text).join(""));
    const legend = [...letters].slice(1).map(([look, letter]) => `${letter}  ${look}`);
    const ruler = `--|${"---------|".repeat((this.#cells[0]?.length ?? 0) / 10)}`;
    const parts = [ruler, ...numbered(texts), this.#cursor, ruler, ...numbered(looks), ...legend];
    return `${parts.map((line) => line.trimEnd()).join("\n")}\n`;
  }

  #draw([event, ...calls]: Redraw): void {
    this.#changed = performance.now();
    for (const call of calls) {
      if (event === "grid_resize") this.#clear(call[1] as number, call[2] as number);
      if (event === "grid_clear") this.#clear(this.#cells[0]?.length ?? 0, this.#cells.length);
      if (event === "grid_line") this.#line(call as never);
      if (event === "grid_scroll") this.#scroll(call as never);
      if (event === "grid_cursor_goto")
        this.#cursor = `cursor at row ${Number(call[1]) + 1}, column ${Number(call[2]) + 1}`;
      if (event === "default_colors_set")
        this.#looks.set(
          0,
          `Normal${colours({ foreground: call[0], background: call[1] } as never)}`,
        );
      if (event === "hl_attr_define")
        this.#looks.set(call[0] as number, lookOf(call[1] as Attributes, call[3] as never));
    }
  }

  #clear(columns: number, rows: number): void {
    this.#cells = Array.from({ length: rows }, () =>
      Array.from({ length: columns }, () => ({ text: " ", highlight: 0 })),
    );
  }

  #line([, row, start, cells]: [number, number, number, [string, number?, number?][]]): void {
    let column = start;
    let last = 0;
    for (const [text, highlight = last, repeat = 1] of cells) {
      last = highlight;
      for (let i = 0; i < repeat; i++) (this.#cells[row] as Cell[])[column++] = { text, highlight };
    }
  }

  #scroll([, top, bottom, left, right, by]: [number, number, number, number, number, number]) {
    const old = this.#cells.map((row) => [...row]);
    for (let row = top; row < bottom; row++) {
      const from = row + by;
      if (from < top || from >= bottom) continue;
      for (let column = left; column < right; column++)
        (this.#cells[row] as Cell[])[column] = old[from]?.[column] as Cell;
    }
  }
}

/** Names of the groups that a highlight is made of, and how it looks. */
function lookOf(attributes: Attributes, parts: { hi_name?: string; ui_name?: string }[]): string {
  const names = parts.map(({ hi_name, ui_name }) => hi_name || ui_name).filter(Boolean);
  const flags = Object.keys(attributes).filter((key) => attributes[key] === true);
  return `${names.join("+")}${colours(attributes)}${flags.map((flag) => ` ${flag}`).join("")}`;
}

function colours({ foreground, background, special }: Attributes): string {
  const hex = (color: number | boolean | undefined) =>
    typeof color === "number" && color >= 0 ? `#${color.toString(16).padStart(6, "0")}` : "";
  return [
    hex(foreground) && ` ${hex(foreground)}`,
    hex(background) && ` on ${hex(background)}`,
    hex(special) && ` special ${hex(special)}`,
  ].join("");
}

/** The last letter represents all rows that follow it. */
function shortened(letters: string): string {
  return letters.replace(/(.)\1+$/, "$1");
}

function numbered(rows: string[]): string[] {
  return rows.map((row, i) => `${String(i + 1).padStart(2, "0")}|${row}`);
}

function difference(wanted: string, found: string): string {
  const [old, now] = [wanted.split("\n"), found.split("\n")];
  const lines: string[] = [];
  for (let i = 0; i < Math.max(old.length, now.length); i++) {
    if (old[i] === now[i]) continue;
    lines.push(`- ${old[i] ?? ""}`, `+ ${now[i] ?? ""}`);
  }
  return lines.join("\n");
}
