import { FIGURES, type Figure } from "./figures";
import type { Values } from "./scenario";

/** The figures as a Markdown table, with the floors and the values of each subject. The first must meet the targets. */
export function table(floors: Values, subjects: Map<string, Values>): string {
  const [[name, ours], ...others] = [...subjects] as [[string, Values], ...[string, Values][]];
  const theirs = others.flatMap(([other]) => [other, "÷ ours"]);
  const head = ["figure", "floor", name, "÷ floor", "target", "", ...theirs];
  const measured = FIGURES.filter(({ id }) => [...subjects.values()].some((all) => id in all));
  const rows = measured.map((figure) => {
    const { id, title, unit } = figure;
    const [floor, value] = [floors[id], ours[id]];
    const limit = limitOf(figure, floor);
    const isMet = limit === undefined || value === undefined ? undefined : value <= limit;
    return [
      ...[title, amount(floor, unit), amount(value, unit), ratio(value, floor)],
      ...[amount(limit, unit), isMet === undefined ? "" : isMet ? "met" : "MISSED"],
      ...others.flatMap(([, all]) => [amount(all[id], unit), ratio(all[id], value)]),
    ];
  });
  return aligned([head, ...rows]);
}

function limitOf({ target }: Figure, floor: number | undefined): number | undefined {
  if (!target || "most" in target) return target?.most;
  return floor && ("more" in target ? floor + target.more : floor * target.times);
}

export function aligned(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => Bun.stringWidth(row[column] ?? ""))),
  );
  const text = (row: string[]) => {
    const cells = row.map((cell, column) => {
      const pad = " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
      return column === 0 ? cell + pad : pad + cell;
    });
    return `| ${cells.join(" | ")} |`;
  };
  const rule = widths.map(
    (width, column) => "-".repeat(column ? width - 1 : width) + (column ? ":" : ""),
  );
  const [head = [], ...rest] = rows;
  return [text(head), `| ${rule.join(" | ")} |`, ...rest.map(text)].join("\n");
}

export function amount(value: number | undefined, unit: Figure["unit"]): string {
  if (value === undefined) return "";
  const digits = value === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

export function ratio(value: number | undefined, of: number | undefined): string {
  if (value === undefined || !of) return "";
  const times = value / of;
  return `${times.toFixed(times >= 10 ? 0 : times >= 1 ? 1 : 2)} ×`;
}
