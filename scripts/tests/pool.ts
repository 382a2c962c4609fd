import { availableParallelism } from "node:os";
import { Processors } from "./processors";

/** So many run whatever the load is. */
const LEAST = availableParallelism();
/** Most tests wait for an editor, a server or a terminal. More at once have no more to gain. */
const MOST = 3 * LEAST;
/** One more may start while less of the processors' time is in use than this part. */
const BUSY = 0.9;
/** The load is that of the last so many ms: by then the one that started last takes part in it. */
const LOOK_MS = 700;

/** Calls `run` for each item, in their order, some at once. The results come as they are ready. */
export async function runAll<Item, Result>(
  items: Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const queue = [...items];
  const results: Result[] = [];
  const running = new Set<Promise<void>>();
  const start = (item: Item) => {
    const one = run(item).then((result) => {
      results.push(result);
      running.delete(one);
    });
    running.add(one);
  };
  const processors = new Processors();
  const look = () => Bun.sleep(LOOK_MS).then(() => "look");
  for (let idle = false, looked = look(); queue.length > 0 || running.size > 0; ) {
    while (queue.length > 0 && (running.size < LEAST || (idle && running.size < MOST))) {
      start(queue.shift() as Item);
      idle = false;
    }
    if ((await Promise.race([looked, ...running])) !== "look") continue;
    idle = processors.busy() < BUSY;
    looked = look();
  }
  return results;
}
