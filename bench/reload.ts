import { join } from "node:path";
import { Editor } from "./editor";
import { type Machine, repetitions, type Scenario, type Values } from "./scenario";
import type { Subject } from "./subject";

const LINES = 60_000;
const TIMES = 10;

/**
 * Changes one line of an open file on disk, and measures until its buffer shows that: a :checktime,
 * or with `ours` the plugin's way.
 */
const RELOAD = `
  local path, lines, times, ours = ...
  local text = {}
  for i = 1, lines do
    text[i] = ("  const value%d = compute(%d, \\"some text\\", option);"):format(i, i * 7)
  end
  local function write()
    local file = assert(io.open(path, "wb"))
    file:write(table.concat(text, "\\n"), "\\n")
    file:close()
  end
  write()
  vim.cmd.edit(path)
  local least = math.huge
  for i = 1, times do
    -- A change of the size, and of the time, which has the resolution of the kernel's clock.
    text[math.floor(lines / 2)] = ("x"):rep(i)
    vim.uv.sleep(15)
    write()
    collectgarbage()
    local began = vim.uv.hrtime()
    if ours then
      require("port").dispatcher.call("document_reload", { path = path })
    else
      vim.cmd.checktime()
    end
    least = math.min(least, (vim.uv.hrtime() - began) / 1e6)
    assert(vim.api.nvim_buf_get_lines(0, lines / 2 - 1, lines / 2, true)[1] == ("x"):rep(i))
  end
  return least`;

/** A file of 3 MB, of which a line changes on disk. */
export const reload: Scenario = {
  name: "reload",

  floor: (machine) => measured(machine, undefined),

  async measure(machine, subject) {
    // Only our own plugin, which brings the hooks' program, can be asked to reload at a moment.
    return { values: subject.hook ? await measured(machine, subject) : {} };
  },
};

async function measured(machine: Machine, subject: Subject | undefined): Promise<Values> {
  await using editor = await Editor.start(machine.nvim, subject);
  const times = repetitions(machine, TIMES);
  const path = join(editor.nvim.cwd, "big.txt");
  const took = await editor.nvim.lua<number>(RELOAD, path, LINES, times, subject !== undefined);
  return { reload: took };
}
