import { expect, test } from "bun:test";
import { NEWEST, TestNeovim } from "../support/neovim";

interface Known {
  all: Record<string, { parent: number; name: string }>;
  place: { where: string; ancestors: number[] };
}

/** A child of a child of Neovim, and what Neovim knows of it. */
const KNOWN = `
  local process, pids = require("port").session_process, {}
  local out = vim.uv.new_pipe()
  local handle = vim.uv.spawn("/bin/sh", {
    args = { "-c", "sleep 60 & echo $!; wait" }, stdio = { nil, out, nil }, detached = true,
  })
  local text = ""
  out:read_start(function(_, data) text = text .. (data or "") end)
  vim.wait(5000, function() return text:find("\\n") ~= nil end, 5)
  local child = tonumber(text)
  -- Between fork and exec it is a shell, too.
  vim.wait(5000, function() return (process.by_ps()[child] or {}).name == "sleep" end, 5)
  local all = {}
  for pid, one in pairs(process.by_ps()) do all[tostring(pid)] = one end
  local known = { all = all, place = process.place(child) }
  vim.uv.kill(-handle:get_pid(), "sigkill")
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
const ZOMBIE = `
  local is_alive = require("port").session_process.is_alive
  local out = vim.uv.new_pipe()
  local handle = vim.uv.spawn("/bin/sh", {
    args = { "-c", "sleep 0.1 & echo $!; exec sleep 60" }, stdio = { nil, out, nil },
  })
  local text = ""
  out:read_start(function(_, data) text = text .. (data or "") end)
  vim.wait(5000, function() return text:find("\\n") ~= nil end, 5)
  local has_ended = vim.wait(5000, function() return not is_alive(tonumber(text)) end, 5)
  local parent = is_alive(handle:get_pid())
  handle:kill("sigkill")
  return { has_ended, parent }`;

test("a process that has ended does not run, also while its parent does not wait for it", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST, setup: "{ auto_start = false }" });
  expect(await neovim.lua<boolean[]>(ZOMBIE)).toEqual([true, true]);
});
