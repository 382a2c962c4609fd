import { join } from "node:path";
import type { World } from "../test/review/state/world";
import { eventually } from "../test/support/eventually";
import { Editor, type Standstill } from "./editor";
import { LONG, LONG_HUNKS, LONG_ROWS, longFile, manyFiles } from "./review";
import { repetitions, type Scenario, type Values } from "./scenario";

/** How many entries the quickfix list of a review has. */
const ENTRIES = "return #vim.fn.getqflist()";
/** Hunks drawn in a buffer. */
const DRAWN = `
  local namespace = vim.api.nvim_get_namespaces()["claude-code.review"]
  local marks = vim.api.nvim_buf_get_extmarks(vim.fn.bufnr(...), namespace, 0, -1, { details = true })
  return #vim.tbl_filter(function(mark) return mark[4].virt_lines ~= nil end, marks)`;

/** By then the executable has reported a decision, and Neovim has taken it in. */
const REPORTED_MS = 400;

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
    await nvim.command("Claude review done");
    await eventually("no review", async () => (await world.list()).files.length === 0);
    longFile(world);
    await nvim.command(`edit ${LONG}`);
    const drawn = () => nvim.lua<number>(DRAWN, LONG);
    const marks = await repeated(times, async () => {
      const found = await reviewed(editor, async () => (await drawn()) === LONG_HUNKS);
      await eventually("no marks", async () => (await drawn()) === 0);
      return found;
    });
    return {
      values: {
        ...least("review-listed", lists),
        ...least("review-marks", marks),
        ...(await keys(editor, times)),
      },
    };
  },
};

/** Decisions about hunks in the middle of the long file, as a user types them. */
async function keys(editor: Editor, times: number): Promise<Values> {
  const { nvim } = editor;
  await nvim.command("Claude review!");
  await eventually("the review", async () => (await nvim.lua<number>(DRAWN, LONG)) === LONG_HUNKS);
  await nvim.command(`call win_gotoid(bufwinid("${LONG}"))`);
  await nvim.command(`call cursor(${LONG_ROWS / 2}, 1)`);
  await nvim.type("]c");
  // From 0.11 on Neovim waits for what may follow gr.
  await nvim.command("set timeoutlen=0");
  const keep = await repeated(times, () => decided(editor, "ga"));
  const undo = await repeated(times, () => decided(editor, "gr"));
  const next = await repeated(times, () => editor.watched(() => nvim.type("]c")));
  const waits = (all: readonly Decided[]) => Math.min(...all.map(({ shown }) => shown));
  return {
    ...least("review-keep", keep),
    "review-keep-shown": waits(keep),
    ...least("review-undo", undo),
    "review-undo-shown": waits(undo),
    ...least("review-next", next),
  };
}

type Decided = Standstill & { shown: number };

/** Until the hunk is gone, and until what the executable reports of it has been shown. */
async function decided(editor: Editor, key: string): Promise<Decided> {
  const { nvim } = editor;
  const count = () => nvim.lua<number>("return vim.b.claude_code_review.hunks");
  const before = await count();
  let shown = 0;
  const found = await editor.watched(async () => {
    const began = performance.now();
    await nvim.type(key);
    while ((await count()) === before);
    shown = performance.now() - began;
    await Bun.sleep(REPORTED_MS);
  });
  return { ...found, shown };
}

/** Until the review is shown. */
async function reviewed(editor: Editor, isShown: () => Promise<boolean>): Promise<Standstill> {
  const { nvim } = editor;
  const found = await editor.watched(async () => {
    await nvim.command("Claude review!");
    await eventually("the review", isShown);
  });
  await nvim.command("Claude review close");
  await nvim.command("cclose");
  return found;
}

async function repeated<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const all: T[] = [];
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
