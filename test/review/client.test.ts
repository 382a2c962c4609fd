import { eventually, needs, onEachNeovim, perTest } from "#test";
import type { Listed } from "../../src/review/service";
import { World } from "./state/world";

/** Neovim's side of the channel; `problem` is the sentence for the user. */
const REQUEST = `
  local done
  local method, params = ...
  require("claude-code.server.channel").request("review/" .. method, params, function(value, problem)
    done = { value = value, problem = problem }
  end)
  vim.wait(10000, function() return done ~= nil end, 5)
  return done`;

onEachNeovim((session) => {
  const world = perTest(() => new World(session.neovim.cwd, session.neovim.home));

  /** The process id of the ready executable, once it differs from `unlike`. */
  const ready = (unlike?: number) =>
    eventually("a ready executable", async () => {
      const { state, process_id } = await session.neovim.lua<{
        state: string;
        process_id?: number;
      }>('return require("claude-code").status()');
      return state === "ready" && process_id !== unlike && (process_id as number);
    });

  const ask = (method: string, params: object = {}) =>
    session.neovim.lua<{ value?: never; problem?: string }>(REQUEST, method, params);

  test("answers a request that is not in the contract with an explanation", async () => {
    const { problem } = await ask("keep", { files: "all" });
    expect(problem).toContain("review/keep failed: the request is not in the contract");
    expect((await ask("nothing")).problem).toContain("no request review/nothing");
    expect((await ask("why", { path: world.path("none"), row: 1 })).value).toBeUndefined();
  });

  needs("signals").each([
    ["undo", "before it reads the request"],
    ["undo", "2 ms later"],
    ["keep", "2 ms later"],
  ])("makes another %s after the executable is killed %s", async (method, when) => {
    const { neovim } = session;
    const text = "1\n2\n3\n";
    world.edited("k", text, "1\nII\n3\n");
    const path = world.path("k");
    await neovim.lua("vim.cmd.edit(vim.fn.fnameescape((...)))", path);
    const shown = async () => {
      const { value } = (await ask("list")) as unknown as { value?: Listed };
      return value?.files.filter((file) => file.path === path) ?? [];
    };
    await eventually("the hunk", async () => expect(await shown()).toHaveLength(1));
    const executable = await ready();
    if (when.startsWith("before")) process.kill(executable, "SIGSTOP");
    await neovim.lua(
      `local method, path = ...
      _G.answered = nil
      local done = function(_, problem) _G.answered = problem or "done" end
      require("claude-code.server.channel").request("review/" .. method, { files = { { path = path } } }, done)`,
      method,
      path,
    );
    if (!when.startsWith("before")) await Bun.sleep(2);
    process.kill(executable, "SIGKILL");
    await eventually("an answer", async () => {
      expect(await neovim.lua<string>("return _G.answered")).toMatch(/^done$|does not run/);
    });
    await ready(executable);
    const isDone = async () => (await shown()).length === 0;
    if (!(await isDone()))
      expect((await ask(method, { files: [{ path }] })).problem).toBeUndefined();
    expect(await isDone()).toBe(true);
    expect(world.read("k")).toBe(method === "undo" ? text : "1\nII\n3\n");
    await ask("back");
    await ask("done");
    await neovim.lua("vim.cmd.bwipeout({ bang = true })");
  });

  test("fails at once without the executable", async () => {
    await session.neovim.lua('require("claude-code").stop()');
    const { problem } = await ask("list");
    expect(problem).toContain("the executable does not run");
    await session.neovim.lua('require("claude-code").start()');
    await session.neovim.lock();
  });
});
