import { arch, cpus, loadavg, platform, totalmem } from "node:os";
import { FIGURES, type Figure, type Target } from "./figures";
import type { Values } from "./scenario";

export interface Line {
  id: string;
  title: string;
  unit: Figure["unit"];
  floor?: number;
  floorIs?: string;
  values: Record<string, number>;
  /** Our value over the floor. */
  ratio?: number;
  target?: number;
  met?: boolean;
}

export interface Report {
  machine: string;
  load: number;
  neovim: string;
  rounds: number;
  subjects: string[];
  lines: Line[];
}

/** Puts the floors and each subject's values side by side; the first subject is measured by targets. */
export function lines(floors: Values, subjects: Map<string, Values>): Line[] {
  const [first] = [...subjects.values()];
  return FIGURES.filter(({ id }) => [...subjects.values()].some((values) => id in values)).map(
    (figure) => line(figure, floors[figure.id], first?.[figure.id], subjects),
  );
}

function line(
  { id, title, unit, floor: floorIs, target }: Figure,
  floor: number | undefined,
  value: number | undefined,
  subjects: Map<string, Values>,
): Line {
  const values: Record<string, number> = {};
  for (const [name, { [id]: found }] of subjects) if (found !== undefined) values[name] = found;
  const limit = target && limitOf(target, floor);
  return {
    id,
    title,
    unit,
    ...(floor !== undefined && floorIs && { floor, floorIs }),
    values,
    ...(floor && value !== undefined && { ratio: value / floor }),
    ...(limit !== undefined && { target: limit }),
    ...(limit !== undefined && value !== undefined && { met: value <= limit }),
  };
}

function limitOf(target: Target, floor: number | undefined): number | undefined {
  if ("most" in target) return target.most;
  return floor && floor * target.times;
}

export function machineName(): string {
  const { model = "unknown processor" } = cpus()[0] ?? {};
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${model}, ${cpus().length} cores, ${gigabytes} GB, ${platform()} ${arch()}`;
}

export const load = () => loadavg()[0] ?? 0;

/** The report as a Markdown table. */
export function table({ machine, neovim, rounds, subjects, lines, load }: Report): string {
  const others = subjects.slice(1);
  const head = [
    "figure",
    "floor",
    subjects[0] ?? "",
    "÷ floor",
    "target",
    "",
    ...others.flatMap((name) => [name, "÷ ours"]),
  ];
  const rows = lines.map((entry) => {
    const ours = entry.values[subjects[0] ?? ""];
    return [
      entry.title,
      amount(entry.floor, entry.unit),
      amount(ours, entry.unit),
      factor(entry.ratio),
      amount(entry.target, entry.unit),
      entry.met === undefined ? "" : entry.met ? "met" : "MISSED",
      ...others.flatMap((name) => {
        const theirs = entry.values[name];
        const ratio = ours && theirs !== undefined ? theirs / ours : undefined;
        return [amount(theirs, entry.unit), factor(ratio)];
      }),
    ];
  });
  const about = `${machine}; ${neovim}; best of ${rounds} rounds; load ${load.toFixed(1)}`;
  return `${about}\n\n${aligned([head, ...rows])}`;
}

export function aligned(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => Bun.stringWidth(row[column] ?? ""))),
  );
  const text = (row: string[]) =>
    `| ${row
      .map((cell, column) => {
        const pad = " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
        return column === 0 ? cell + pad : pad + cell;
      })
      .join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => "-".repeat(column ? width - 1 : width) + (column ? ":" : "")).join(" | ")} |`;
  const [head = [], ...rest] = rows;
  return [text(head), rule, ...rest.map(text)].join("\n");
}

export function amount(value: number | undefined, unit: Figure["unit"]): string {
  if (value === undefined) return "";
  const digits = value === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

export function factor(value: number | undefined): string {
  return value === undefined ? "" : `${value.toFixed(value >= 10 ? 0 : value >= 1 ? 1 : 2)} ×`;
}
