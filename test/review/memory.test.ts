import { appendFileSync, readFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { first, outcomeOf } from "#test";
import { journalPath } from "../../src/review/journal/append";
import { ReviewedProject } from "../../src/review/state/reviewed-project";
import { World } from "./state/world";

/* The bytes of a journal that stay in memory after a garbage collection. */

const MB = 1024 * 1024;
const JOURNAL = 8 * MB;
/** For each byte of the journal, which has 128 MB at most. */
const MAX_KEPT = 4;

const change = (i: number) => ({
  ...{ type: "change", session: "s", prompt: "p", tool: "Bash", use: `t${i}`, source: "bash" },
  files: [{ path: `b${i % 500}`, before: { absent: true }, after: { blob: "a".repeat(64) } }],
});
const prompt = (length: number) => (i: number) => ({
  ...{ type: "prompt", session: "s", prompt: `p${i}`, text: "y".repeat(length) },
});
const KINDS: [string, (i: number) => object][] = [
  ["changes", change],
  ["prompts", prompt(500)],
  ["prompts of 1 MB", prompt(MB)],
];

const line = (i: number, record: object) =>
  `${JSON.stringify({ v: 1, at: i, id: `x${i}`, ...record })}\n`;

function journal(record: (i: number) => object): Buffer {
  const lines: string[] = [];
  for (let i = 0, bytes = 0; bytes < JOURNAL; i++) {
    const next = line(i, record(i));
    lines.push(next);
    bytes += next.length;
  }
  return Buffer.from(lines.join(""));
}

function heap(): number {
  Bun.gc(true);
  Bun.gc(true);
  return process.memoryUsage().heapUsed;
}

test.each(first(1, KINDS))(
  "keeps the bound of %s, also in a replaced journal",
  async (_, record) => {
    using world = new World();
    const path = journalPath(world.folder);
    world.record({ type: "end", session: "s" });
    const small = readFileSync(path);
    const project = new ReviewedProject(world.root);
    await project.catchUp();
    const all = journal(record);
    const before = heap();
    for (let round = 0; round < 4; round++) {
      writeFileSync(`${path}.new`, line(-1, { at: round, type: "end", session: "s" }));
      appendFileSync(`${path}.new`, all);
      renameSync(`${path}.new`, path);
      await project.catchUp();
      expect(heap() - before).toBeLessThan(MAX_KEPT * JOURNAL);
    }
    writeFileSync(`${path}.new`, small);
    renameSync(`${path}.new`, path);
    await project.catchUp();
    expect(heap() - before).toBeLessThan(JOURNAL / 4);
    expect(project.sessions.lastTurn("s")).toBeUndefined();
  },
);

test("refuses a journal of more than 128 MB, and leaves it", async () => {
  using world = new World();
  const path = journalPath(world.folder);
  world.record({ type: "end", session: "s" });
  truncateSync(path, 9 * 16 * MB);
  expect(await outcomeOf(new ReviewedProject(world.root).catchUp())).toThrow("move it away");
  expect(Bun.file(path).size).toBe(9 * 16 * MB);
});
