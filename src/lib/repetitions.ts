const MINUTE_MS = 60_000;
/** Different causes remembered at once; all further ones count as one. */
const MOST_CAUSES = 100;
const OTHER = "other causes";

/** Counts what happens again within a minute, by its cause. */
export class Repetitions {
  readonly #counts = new Map<string, number>();
  #timer: Timer | undefined;

  /** `report` is called after the minute for each cause that came again, with how often. */
  constructor(
    private readonly ms = MINUTE_MS,
    private readonly report: (cause: string, count: number) => void,
  ) {}

  /** Whether it is the first of its cause in this minute; otherwise it is counted. */
  isFirst(cause: string): boolean {
    const isKnown = this.#counts.has(cause) || this.#counts.size < MOST_CAUSES;
    const key = isKnown ? cause : OTHER;
    const count = this.#counts.get(key);
    this.#counts.set(key, count === undefined ? 0 : count + 1);
    this.#timer ??= this.#start();
    return count === undefined;
  }

  #start(): Timer {
    const timer = setTimeout(() => this.#end(), this.ms);
    timer.unref();
    return timer;
  }

  #end(): void {
    this.#timer = undefined;
    const counts = [...this.#counts];
    this.#counts.clear();
    for (const [cause, count] of counts) if (count > 0) this.report(cause, count);
  }
}
