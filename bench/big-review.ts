import { join } from "node:path";
import { eventually } from "../test/support/eventually";
import { Editor } from "./editor";
import type { Scenario, Values } from "./scenario";

const FILES = 2_000;
/** In another file, every third line is changed. */
const LINES = 20_000;
const MAX_MS = 60_000;
/** In ms. The review is drawn, or a decision is made, within this time. */
const LATER_MS = 2_000;

const STEPS = [
  ["open", ":Claude review<CR>"],
  ["move", "]c]f[f[c"],
  ["keep", "ga"],
  ["undo", "gr"],
  ["close", ":Claude review close<CR>"],
] as const;

/** The longest time in which Neovim does not react while the user works in a review with many files and hunks. */
export const bigReview: Scenario = {
  name: "review",
  floor: async () => ({}),
  async measure(machine, subject) {
    if (!subject.hook) return { values: {} };
    await using editor = await Editor.start(machine.nvim, subject);
    const { nvim } = editor;
    // Use the module of the folder whose sources are measured.
    const module = await import(join(subject.runtimepath, "test/review/state/world"));
    using world = new module.World(nvim.cwd, nvim.home);
    const lines = Array.from({ length: LINES }, (_, i) => `line ${i}\n`);
    const changed = lines.map((line, i) => (i % 3 === 0 ? `changed ${line}` : line));
    world.edited("big.txt", lines.join(""), changed.join(""));
    for (let i = 0; i < FILES; i++) world.edited(`folder${i % 40}/${i}.txt`, "1\n2\n", "1\ntwo\n");
    using _client = await editor.setUp(subject);
    const values: Values = {};
    for (const [id, keys] of STEPS) {
      const { longest } = await editor.watched(async () => {
        await nvim.type(keys);
        await eventually("the list", () => nvim.lua("return #vim.fn.getqflist() > 0"), MAX_MS);
        await Bun.sleep(LATER_MS);
      });
      values[`review-${id}`] = longest;
    }
    return { values };
  },
};
