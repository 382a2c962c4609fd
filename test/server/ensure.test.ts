import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, NEOVIMS, nightly, TestNeovim } from "#test";

/* What :Claude and mentions wait for: one call that starts the server and answers once. */

/** The answers so far of all calls: what was given, and whether the call had returned before. */
type Answers = { ready?: true; message?: string; later: boolean }[];

describe.each(NEOVIMS)("ensure() in $name", (version) => {
  const start = async (setup = "{ auto_start = false }") => {
    const neovim = await TestNeovim.start({ version, setup });
    await neovim.lua(`
      vim.notify = function() end
      ANSWERS = {}
      function ENSURE(options)
        local returned = false
        require("port").server.ensure(options, function(ready, message)
          table.insert(ANSWERS, { ready = ready, message = message, later = returned })
        end)
        returned = true
        return require("port").server.state
      end`);
    return neovim;
  };
  const ensure = (neovim: TestNeovim, options = "{}") =>
    neovim.lua<string>(`return ENSURE(${options})`);
  const answers = (neovim: TestNeovim, count: number) =>
    eventually(`${count} answers`, async () => {
      const found = await neovim.lua<Answers>("return ANSWERS");
      return found.length >= count && found;
    });

  test("starts the server, and answers each caller once it is ready", async () => {
    await using neovim = await start();
    const states = await neovim.lua("return { ENSURE({}), ENSURE({}) }");
    expect(states).toEqual(["starting", "starting"]);
    expect(await answers(neovim, 2)).toEqual(Array(2).fill({ ready: true, later: true }));
    expect(await ensure(neovim)).toBe("ready");
    expect((await answers(neovim, 3))[2]).toEqual({ ready: true, later: false });
    await neovim.command("ClaudeCodeStop");
    expect(await answers(neovim, 3)).toHaveLength(3);
  });

  test("leaves a server stopped that the user stopped, unless that is asked for", async () => {
    await using neovim = await start();
    await neovim.lua("ENSURE({}) vim.cmd('ClaudeCodeStop')");
    expect(await ensure(neovim)).toBe("stopped");
    expect(await answers(neovim, 2)).toEqual([
      { message: "the server was stopped", later: true },
      { message: "you stopped the server; :Claude starts it again", later: false },
    ]);
    expect(await ensure(neovim, "{ is_wanted = true }")).toBe("starting");
    expect((await answers(neovim, 3))[2]).toEqual({ ready: true, later: true });
  });
});

nightly.test(
  "ensure() does not wait longer than three seconds for an executable that hangs",
  async () => {
    const [version] = NEOVIMS;
    if (!version) throw new Error("no Neovim");
    await using neovim = await TestNeovim.start({ version, setup: false });
    const path = join(neovim.cwd, "hangs");
    writeFileSync(path, "#!/bin/sh\necho one >&2\necho two >&2\nexec sleep 60\n", { mode: 0o755 });
    await neovim.lua(
      `require("port").hurry(10)
     require("claude-code").setup({ auto_start = false, binary = { path = ... } })
     require("port").server.ensure(nil, function(...) ANSWER = { ... } end)`,
      path,
    );
    const answer = await eventually(
      "an answer",
      async () => (await neovim.lua<unknown[] | null>("return ANSWER")) ?? false,
    );
    const error = expect.stringContaining("the executable has not answered for 3 s: wait, or ");
    expect(answer).toEqual([null, error]);
    expect(await neovim.lua(`return require("port").server.state`)).toBe("starting");
    const printed = `return vim.deep_equal(require("claude-code").status().stderr, { "one", "two" })`;
    await neovim.until("what it prints", printed);
    expect(await neovim.lua(`return require("claude-code").status().last_error`)).toEqual(error);
  },
);
