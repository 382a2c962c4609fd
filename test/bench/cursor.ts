import { Editor } from "./editor";
import { repetitions, type Scenario } from "./scenario";
import { quantile } from "./statistics";

/** µs that the autocommands of one movement take: of many short series the lower quartile. */
const MOVE = `
  local series, moves = ...
  local exec, set, now = vim.api.nvim_exec_autocmds, vim.api.nvim_win_set_cursor, vim.uv.hrtime
  local samples = {}
  for i = 1, series do
    local taken = 0
    for j = 1, moves do
      set(0, { j % 50 + 1, 0 })
      local started = now()
      exec("CursorMoved", {})
      taken = taken + now() - started
    end
    samples[i] = taken / 1000 / moves
  end
  table.sort(samples)
  return samples[math.ceil(series / 4)]`;

const EMPTY_AUTOCOMMAND = `
  return vim.api.nvim_create_autocmd("CursorMoved", { callback = function() end })`;
const WATCHING = `return #vim.api.nvim_get_autocmds({ event = "CursorMoved" })`;
const TEXT = `
  local lines = {}
  for i = 1, 100 do lines[i] = "a line of text, the " .. i .. "th of all" end
  vim.cmd.edit("text.txt")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  vim.cmd.write()`;

/** What one movement of the cursor costs beyond an autocommand that does nothing. */
export const cursor: Scenario = {
  name: "cursor",

  // Measured beside the value, in the same Neovim.
  floor: async () => ({}),

  async measure(machine, subject) {
    await using editor = await Editor.start(machine.nvim, subject);
    const { nvim } = editor;
    const moved = async () => {
      const samples: number[] = [];
      const count = repetitions(machine, 5);
      for (let i = 0; i < count; i++) samples.push(await nvim.lua<number>(MOVE, 40, 250));
      return quantile(samples, 0);
    };
    await nvim.lua(TEXT);
    // Not the first: Lua is compiled while it runs.
    await moved();
    const nothing = await moved();
    const autocommand = await nvim.lua<number>(EMPTY_AUTOCOMMAND);
    const empty = await moved();
    await nvim.lua("vim.api.nvim_del_autocmd(...)", autocommand);
    const watching = await nvim.lua<number>(WATCHING);
    using client = await editor.setUp(subject);
    await client.request("ping");
    // A plugin may begin to follow the cursor only after it has heard of the client.
    await nvim.lua(
      `local before = ... vim.wait(1000, function() return before < (function() ${WATCHING} end)() end, 10)`,
      watching,
    );
    const ours = await moved();
    return {
      values: { cursor: Math.max(0, ours - empty) },
      floors: { cursor: empty - nothing },
    };
  },
};
