import { eventually, onEachNeovim } from "#test";
import type { Listed } from "../../src/review/service";
import { World } from "./state/world";

/** Neovim's side of the channel; `problem` is the sentence for the user. */
const REQUEST = `
  local done
  local method, params = ...
  require("claude-code.server.requests").request("review/" .. method, params, function(value, problem)
    done = { value = value, problem = problem }
  end)
  vim.wait(10000, function() return done ~= nil end, 5)
  return done`;

onEachNeovim((session) => {
  let world: World;
  beforeEach(() => {
    world = new World(session.neovim.cwd, session.neovim.home);
  });
  afterEach(() => world[Symbol.dispose]());

  /** The executable that is ready, other than `unlike`. */
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

  test("what a hook records is listed, reported, and kept", async () => {
    world.write("a", "1\n\xff2\n");
    await ask("list");
    await session.neovim.lua(`
      _G.reported = {}
      vim.api.nvim_create_autocmd("User", { pattern = "ClaudeCodeReviewChanged", callback = function(event)
        table.insert(_G.reported, event.data.hunks)
      end })`);
    const reports = (hunks: number) =>
      eventually("the report", async () => {
        const reported = await session.neovim.lua<number[]>("return _G.reported");
        expect(reported.at(-1)).toBe(hunks);
      });
    world.claude({ a: "1\n\xfe2\n" });
    await reports(1);
    // What is not UTF-8 arrives byte by byte.
    const lines = await session.neovim.lua<number[][]>(
      `
      local answer = (function(...) ${REQUEST} end)(...)
      local hunk = answer.value.hunks[1]
      return { { hunk.old_lines[1]:byte(1, -1) }, { hunk.new_lines[1]:byte(1, -1) } }`,
      "file",
      { path: world.path("a") },
    );
    expect(lines).toEqual([
      [0xff, 0x32],
      [0xfe, 0x32],
    ]);
    await ask("keep", { files: [{ path: world.path("a") }] });
    await reports(0);
  });

  test("a file that changes on disk is reported without a timer", async () => {
    world.claude({ b: "1\n2\n" });
    const adds = (count: number) =>
      eventually("the count", async () => {
        const news = await session.neovim.lua<{ counts: { added: number } } | null>(
          'return require("claude-code.editor.review.client").summary()',
        );
        expect(news?.counts.added).toBe(count);
      });
    await adds(2);
    world.write("b", "1\n");
    await adds(1);
    await ask("done");
  });

  test("a request that is not in the contract gets a sentence", async () => {
    const { problem } = await ask("keep", { files: "all" });
    expect(problem).toContain("review/keep failed: the request is not in the contract");
    expect((await ask("nothing")).problem).toContain("no method review/nothing");
    expect((await ask("why", { path: world.path("none"), row: 1 })).value).toBeUndefined();
  });

  test.each([
    ["undo", "before it reads the request"],
    ["undo", "2 ms later"],
    ["keep", "2 ms later"],
  ])(
    "the executable is killed at a request to %s (%s): it is done, or can be done",
    async (method, when) => {
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
      require("claude-code.server.requests").request("review/" .. method, { files = { { path = path } } }, done)`,
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
    },
  );

  test("without the executable a request fails at once", async () => {
    await session.neovim.lua('require("claude-code").stop()');
    const { problem } = await ask("list");
    expect(problem).toContain("the executable does not run");
    await session.neovim.lua('require("claude-code").start()');
    await session.neovim.lock();
  });
});
