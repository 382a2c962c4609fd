import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { journalPath } from "../src/review/journal/append";
import type { World } from "../test/review/state/world";
import type { Scenario } from "./scenario";

const RECORDS = 100_000;
const FILES = 20;
const CALLS = 8;

/**
 * A month of heavy use: turns with calls that edit a file or run a command. Measures how long a Neovim that starts
 * waits for its list, and the longest time in which nothing else runs, in processor time of this process.
 */
export const longJournal: Scenario = {
  name: "journal",
  floor: async () => ({}),
  async measure(_, { hook, runtimepath }) {
    if (!hook) return { values: {} };
    // Use the module of the folder whose sources are measured.
    const module = await import(join(runtimepath, "test/review/state/world"));
    using world: World = new module.World();
    writeJournal(world);
    const service = world.another();
    let [last, longest] = [processorMs(), 0];
    const timer = setInterval(() => {
      const now = processorMs();
      longest = Math.max(longest, now - last);
      last = now;
    }, 1);
    const began = processorMs();
    await service.answer("list", {});
    const all = processorMs() - began;
    clearInterval(timer);
    return { values: { journal: all, "journal-longest": longest } };
  },
};

function writeJournal(world: World): void {
  const texts = ["one\n", "two\n"].map((text) => world.content(text));
  const lines: string[] = [];
  const began = Date.now() - RECORDS * 1_000;
  const add = (record: object) => {
    const id = lines.length;
    lines.push(`${JSON.stringify({ v: 1, at: began + id * 1_000, id: `${id}`, ...record })}\n`);
  };
  for (let turn = 0; lines.length < RECORDS; turn++) {
    const whose = { session: `S${turn % 50}`, prompt: `p${turn}` };
    add({ type: "prompt", ...whose, text: "a prompt of some length, as they are" });
    for (let call = 0; call < CALLS; call++) {
      const path = `file${(turn * CALLS + call) % FILES}`;
      const [before, after] = turn % 2 === 0 ? texts : texts.toReversed();
      const use = `${turn} ${call}`;
      const edit = { tool: "Edit", source: "tool", files: [{ path, before, after }] };
      add({ type: "begin", ...whose, tool: "Bash", use });
      add({ type: "change", ...whose, tool: "Bash", source: "bash", use, files: [] });
      add({ type: "change", ...whose, ...edit });
    }
    add({ type: "stop", ...whose });
  }
  for (let i = 0; i < FILES; i++) world.write(`file${i}`, "two\n");
  writeFileSync(journalPath(world.folder), lines.join(""));
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
