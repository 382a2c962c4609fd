import { join } from "node:path";
import { eventually } from "../test/support/eventually";
import { Editor, type Standstill } from "./editor";
import { type Machine, repetitions, type Scenario, type Values } from "./scenario";

const LINES = 18_000;
/** One line is changed in each group of this many lines. */
const CHANGED = 97;
const KEYS = 60;

/** True if a diff is on screen, in diff mode or in one window with marks. */
const IS_SHOWN = `
  local in_diff_mode, marked = 0, false
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    local buf = vim.api.nvim_win_get_buf(win)
    if vim.wo[win].diff then in_diff_mode = in_diff_mode + 1 end
    local is_proposal = vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1]:find("// changed", 1, true)
    if is_proposal and #vim.api.nvim_buf_get_extmarks(buf, -1, 0, -1, { limit = 1 }) > 0 then
      marked = true
    end
  end
  if in_diff_mode < 2 and not marked then return false end
  vim.cmd.redraw()
  return true`;
/** In ms. Neovim's own diff mode takes a second. */
const SHOWN_MS = 60_000;

/** True if the cursor is in the proposal, and that can be edited. */
const CAN_EDIT = `
  return vim.fn.getline(1):find("// changed", 1, true) ~= nil
    and vim.bo.modifiable and vim.fn.mode() == 'n'`;

/** The user's way to compare the same two texts by hand. */
const BY_HAND = `
  local path, text = ...
  vim.cmd.edit(path)
  vim.cmd.diffthis()
  vim.cmd("rightbelow vnew")
  vim.bo.buftype = "nofile"
  vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(text, "\\n"))
  vim.cmd.diffthis()`;

/** The time from requesting a diff of 1 MB to seeing it, and the cost of keys there. */
export const bigDiff: Scenario = {
  name: "diff",

  async floor(machine) {
    await using editor = await Editor.start(machine.nvim, undefined);
    const { path, proposal } = await texts(editor);
    const byHand = [BY_HAND, [path, proposal]];
    const show = () => editor.nvim.api.notify("nvim_exec_lua", byHand);
    return { ...(await shown(editor, show)), ...(await keys(machine, editor)) };
  },

  async measure(machine, subject) {
    await using editor = await Editor.start(machine.nvim, subject);
    const { path, proposal } = await texts(editor);
    using client = await editor.setUp(subject);
    const values = await shown(editor, () => {
      const paths = { old_file_path: path, new_file_path: path };
      // This rejects when the client disconnects.
      client
        .call("openDiff", { ...paths, new_file_contents: proposal, tab_name: "bench" })
        .catch(() => {});
    });
    return { values: { ...values, ...(await keys(machine, editor)) } };
  },
};

async function texts(editor: Editor): Promise<{ path: string; proposal: string }> {
  const lines = Array.from(
    { length: LINES },
    (_, i) => `  const value${i} = compute(${i * 7}, "some text", option);`,
  );
  const path = join(editor.nvim.cwd, "big.txt");
  await Bun.write(path, `${lines.join("\n")}\n`);
  const changed = lines.map((line, i) => (i % CHANGED === 0 ? `${line} // changed` : line));
  return { path, proposal: `${changed.join("\n")}\n` };
}

async function shown(editor: Editor, ask: () => unknown): Promise<Values> {
  let took = 0;
  const still: Standstill = await editor.watched(async () => {
    const began = performance.now();
    ask();
    await eventually("the diff", () => editor.nvim.lua<boolean>(IS_SHOWN), SHOWN_MS);
    took = performance.now() - began;
  });
  return { "diff-shown": took, "diff-longest": still.longest };
}

/** Empty if the cursor is not in the plugin's proposal, or that cannot be edited. */
async function keys(machine: Machine, editor: Editor): Promise<Values> {
  const ready = eventually("the proposal to be editable", () => editor.nvim.lua<boolean>(CAN_EDIT));
  if (!(await ready.catch(() => false))) return {};
  const count = repetitions(machine, KEYS);
  const move = await perKey(editor, count, "l");
  await editor.nvim.type("i");
  return { "diff-move": move, "diff-type": await perKey(editor, count, "x") };
}

/** The mean time of keys in a sequence, which includes work that is done once for several keys. */
async function perKey(editor: Editor, count: number, key: string): Promise<number> {
  const began = performance.now();
  for (let i = 0; i < count; i++) {
    await editor.nvim.type(key);
    // Neovim answers once it has handled the key.
    await editor.nvim.lua("return true");
  }
  return (performance.now() - began) / count;
}
