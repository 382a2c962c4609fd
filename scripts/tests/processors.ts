import { cpus } from "node:os";

/** How busy the machine's processors are, whoever keeps them busy. */
export class Processors {
  #last = times();

  /** The busy part of their time, from 0 to 1, since the last call or the beginning. */
  busy(): number {
    const now = times();
    const all = now.all - this.#last.all;
    const idle = now.idle - this.#last.idle;
    this.#last = now;
    // Where a system does not say, they count as busy.
    return all > 0 ? 1 - idle / all : 1;
  }
}

/** Milliseconds since the machine's start, of all processors together. */
function times(): { idle: number; all: number } {
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
  const each = cpus().map(({ times }) => times);
  return {
    idle: sum(each.map(({ idle }) => idle)),
    all: sum(each.map(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq)),
  };
}
