import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { journalPath } from "../src/review/journal/append";
import type { World } from "../test/review/state/world";
import { ROOT } from "../test/support/neovim";
import { longJournal } from "./long-journal";
import { type Machine, repetitions, type Scenario, type Values } from "./scenario";
import { median, timings } from "./statistics";

const MB = 1024 * 1024;
const FILES = 200;
const HUNKS = 500;
export const LONG_ROWS = 20_000;
export const LONG_HUNKS = 300;
/** The name of a file of so many rows and hunks. */
export const LONG = "long";

/** The review's answers, in the process that gives them: the channel is measured elsewhere. */
export const review: Scenario = {
  name: "review",
  floor: async (machine) => measure(machine, ROOT, floors),
  measure: async (machine, subject) => {
    if (!subject.hook) return { values: {} };
    const { runtimepath } = subject;
    const journal = await measureJournal(runtimepath);
    return { values: { ...(await measure(machine, runtimepath, values)), ...journal } };
  },
};

/** `tree`: the folder whose sources answer. */
async function measure(
  machine: Machine,
  tree: string,
  figures: (world: World, times: number) => Promise<Values>,
): Promise<Values> {
  const module = await import(join(tree, "test/review/state/world"));
  using world: World = new module.World();
  manyFiles(world);
  longFile(world);
  return await figures(world, repetitions(machine, 10));
}

async function measureJournal(tree: string): Promise<Values> {
  const module = await import(join(tree, "test/review/state/world"));
  using world: World = new module.World();
  return await longJournal(world);
}

async function floors(world: World, times: number): Promise<Values> {
  const read = async () => {
    for (let i = 0; i < FILES; i++) readFileSync(world.path(nameOf(i)));
  };
  const text = async () => void readFileSync(world.path(LONG), "latin1").split("\n");
  return {
    "review-storage": changedBytes(world) / MB,
    "review-list-first": median(await timings(times, read)),
    "review-list": median(await timings(times, read)),
    "review-long": median(await timings(times, text)),
    "review-rewritten": median(await timings(times, text)),
  };
}

async function values(world: World, times: number): Promise<Values> {
  const list = async (service = world.service) => void (await service.answer("list", {}));
  const first = await timings(times, () => list(world.another()));
  await list();
  const again = await timings(times, () => list());
  let count = 0;
  const typed = (text: string) => Buffer.from(`${++count}\n${text}`).toString("base64");
  const text = world.read(LONG) ?? "";
  const long = await timings(
    times,
    async () => void (await world.file(LONG, { text: typed(text) })),
  );
  const rewritten = rows("rewritten", LONG_ROWS).join("");
  const rewrite = await timings(
    times,
    async () => void (await world.file(LONG, { text: typed(rewritten) })),
  );
  return {
    "review-storage": storedBytes(world) / MB,
    "review-list-first": median(first),
    "review-list": median(again),
    "review-long": median(long),
    "review-rewritten": median(rewrite),
  };
}

export function manyFiles(world: World): void {
  const before: Record<string, string> = {};
  const after: Record<string, string> = {};
  for (let i = 0; i < FILES; i++) {
    const lines = rows(`file ${i}`, 200);
    before[nameOf(i)] = lines.join("");
    const hunks = Math.floor(((i + 1) * HUNKS) / FILES) - Math.floor((i * HUNKS) / FILES);
    for (let hunk = 0; hunk < hunks; hunk++) lines[hunk * 50 + 10] = `Claude's ${i} ${hunk}\n`;
    after[nameOf(i)] = lines.join("");
  }
  for (const [name, text] of Object.entries(before)) world.write(name, text);
  for (const [name, text] of Object.entries(after)) world.claude({ [name]: text });
}

export function longFile(world: World): void {
  const lines = rows(LONG, LONG_ROWS);
  world.write(LONG, lines.join(""));
  const every = LONG_ROWS / LONG_HUNKS;
  for (let i = 0; i < LONG_HUNKS; i++) lines[Math.floor(i * every)] = `Claude's ${i}\nand more\n`;
  world.prompt();
  world.claude({ [LONG]: lines.join("") });
  world.stop();
}

function rows(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${name}, line ${i} of some length\n`);
}

/** The files that Claude has changed, each once. */
function changedBytes(world: World): number {
  const names = [...Array.from({ length: FILES }, (_, i) => nameOf(i)), LONG];
  return names.reduce((sum, name) => sum + statSync(world.path(name)).size, 0);
}

function storedBytes(world: World): number {
  return world.blobBytes() + statSync(journalPath(world.folder)).size;
}

function nameOf(i: number): string {
  return `folder${i % 10}/file${i}.txt`;
}
