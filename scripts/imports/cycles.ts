/** A file that uses another. Paths are relative to the repository. */
export interface Import {
  from: string;
  to: string;
  /** 1-based line in `from`. */
  line: number;
  /** Only in TypeScript: `import()`, which loads at the call. */
  lazy?: boolean;
}

/** A shortest cycle, `[a, b, a]`, for each group of files that reach each other. */
export function cycles(imports: readonly Import[]): string[][] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    targets.set(from, (targets.get(from) ?? new Set()).add(to));
  }
  const found: string[][] = [];
  const known = new Set<string>();
  for (const start of [...targets.keys()].sort()) {
    if (known.has(start)) continue;
    const circle = pathBack(start, targets);
    if (!circle) continue;
    found.push(circle);
    for (const file of circle) known.add(file);
  }
  return found;
}

/** The shortest way from a file back to itself, breadth first. */
function pathBack(start: string, targets: ReadonlyMap<string, Set<string>>) {
  const before = new Map<string, string>();
  const queue = [start];
  for (const file of queue) {
    for (const next of targets.get(file) ?? []) {
      if (next === start) return [...trace(file, before).reverse(), start];
      if (before.has(next)) continue;
      before.set(next, file);
      queue.push(next);
    }
  }
  return undefined;
}

function trace(file: string, before: ReadonlyMap<string, string>): string[] {
  const previous = before.get(file);
  return previous === undefined ? [file] : [file, ...trace(previous, before)];
}
