/** The value below which the share `q` (0 to 1) of the samples lies. */
export function quantile(samples: readonly number[], q: number): number {
  if (samples.length === 0) throw new Error("no samples");
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] as number;
}

export const median = (samples: readonly number[]) => quantile(samples, 0.5);

/** How long each of `count` runs of `work` takes, one after the other, in ms. */
export async function timings(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await work();
    samples.push(performance.now() - start);
  }
  return samples;
}
