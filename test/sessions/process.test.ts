import { NEWEST, TestNeovim } from "#test";

interface Known {
  all: Record<string, { parent: number; name: string }>;
  place: { where: string; ancestors: number[] };
}

/** Runs a shell, which names its child. */
const SHELL = `
  local process = require("port").session_process
  local function shell(script)
    local out, text = vim.uv.new_pipe(), ""
    local options = { args = { "-c", script }, stdio = { nil, out, nil }, detached = true }
    local handle = vim.uv.spawn("/bin/sh", options)
    out:read_start(function(_, data) text = text .. (data or "") end)
    vim.wait(5000, function() return text:find("\\n") ~= nil end, 5)
    return handle:get_pid(), tonumber(text)
  end`;

/** A child of a child of Neovim, and what Neovim knows of it. */
const KNOWN = `${SHELL}
  local parent, child = shell("sleep 60 & echo $!; wait")
  -- Between fork and exec it is a shell, too.
  vim.wait(5000, function() return (process.by_ps()[child] or {}).name == "sleep" end, 5)
  local all = {}
  for pid, one in pairs(process.by_ps()) do all[tostring(pid)] = one end
  local known = { all = all, place = process.place(child) }
  vim.uv.kill(-parent, "sigkill")
  return known`;

test("what ps says of a process is what /proc says", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST, setup: "{ auto_start = false }" });
  const { all, place } = await neovim.lua<Known>(KNOWN);
  expect(place.where).toBe("here");
  const [child, shell] = place.ancestors;
  expect(place.ancestors).toHaveLength(2);
  expect(all[String(child)]).toEqual({ parent: shell as number, name: "sleep" });
  expect(all[String(shell)]).toEqual({ parent: neovim.process.pid as number, name: "sh" });
  expect(all[String(neovim.process.pid)]?.name).toBe("nvim");
});

/** A shell that does not wait for its child, which has ended. */
const ZOMBIE = `${SHELL}
  local parent, child = shell("sleep 0.1 & echo $!; exec sleep 60")
  local has_ended = vim.wait(5000, function() return not process.is_alive(child) end, 5)
  local is_parent_alive = process.is_alive(parent)
  vim.uv.kill(-parent, "sigkill")
  return { has_ended, is_parent_alive }`;

test("a process that has ended does not run, also while its parent does not wait for it", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST, setup: "{ auto_start = false }" });
  expect(await neovim.lua<boolean[]>(ZOMBIE)).toEqual([true, true]);
});
