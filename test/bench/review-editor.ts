import { join } from "node:path";
import type { World } from "../review/state/world";
import { eventually } from "../support/eventually";
import { Editor, type Standstill } from "./editor";
import { LONG, LONG_HUNKS, longFile, manyFiles } from "./review";
import { repetitions, type Scenario, type Values } from "./scenario";

/** How many entries the quickfix list of a review has. */
const ENTRIES = "return #vim.fn.getqflist()";
/** Hunks drawn in a buffer. */
const DRAWN = `
  local namespace = vim.api.nvim_get_namespaces()["claude-code.review"]
  local marks = vim.api.nvim_buf_get_extmarks(vim.fn.bufnr(...), namespace, 0, -1, { details = true })
  return #vim.tbl_filter(function(mark) return mark[4].virt_lines ~= nil end, marks)`;

/** How long Neovim stands still when a review is listed, and its marks are drawn. */
export const reviewEditor: Scenario = {
  name: "review-editor",
  floor: async () => ({}),
  async measure(machine, subject) {
    if (!subject.hook) return { values: {} };
    await using editor = await Editor.start(machine.nvim, subject);
    const { nvim } = editor;
    const module = await import(join(subject.runtimepath, "test/review/state/world"));
    using world: World = new module.World(nvim.cwd, nvim.home);
    using _ = await editor.setUp(subject);
    manyFiles(world);
    const times = repetitions(machine, 10);
    const lists = await repeated(times, async () => {
      await nvim.command("call setqflist([], 'f')");
      return await reviewed(editor, async () => (await nvim.lua<number>(ENTRIES)) >= 500);
    });
    await nvim.command("ClaudeCodeReviewDone");
    await eventually("no review", async () => (await world.list()).files.length === 0);
    longFile(world);
    await nvim.command(`edit ${LONG}`);
    const drawn = () => nvim.lua<number>(DRAWN, LONG);
    const marks = await repeated(times, async () => {
      const found = await reviewed(editor, async () => (await drawn()) === LONG_HUNKS);
      await eventually("no marks", async () => (await drawn()) === 0);
      return found;
    });
    return { values: { ...least("review-listed", lists), ...least("review-marks", marks) } };
  },
};

/** Until the review is shown. */
async function reviewed(editor: Editor, isShown: () => Promise<boolean>): Promise<Standstill> {
  const { nvim } = editor;
  const found = await editor.watched(async () => {
    await nvim.command("ClaudeCodeReview");
    await eventually("the review", isShown);
  });
  await nvim.command("ClaudeCodeReviewClose");
  await nvim.command("cclose");
  return found;
}

async function repeated(times: number, work: () => Promise<Standstill>): Promise<Standstill[]> {
  const all: Standstill[] = [];
  for (let i = 0; i < times; i++) all.push(await work());
  return all;
}

/** Of several: what another program took from one of them, it took from Neovim, not the other way. */
function least(id: string, all: readonly Standstill[]): Values {
  return {
    [id]: Math.min(...all.map(({ longest }) => longest)),
    [`${id}-cpu`]: Math.min(...all.map(({ cpu }) => cpu)),
  };
}
