import { NEOVIMS, type SessionRow } from "#test";
import { untilAnswered } from "../support/claude";
import { requireNamespace } from "../support/namespace";
import { ask, bash, say } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal, START_MS } from "./in-terminal";

/* The states of a genuine CLI in Neovim's own terminal, as it reports them. */

requireNamespace();
describe.each(NEOVIMS)("the states of Claude in the terminal of $name", (version) => {
  const claude = new InTerminal().inBlock(version, { files: { "main.lua": "return 1\n" } });
  beforeAll(() =>
    claude.neovim.lua(`
      happened = {}
      vim.api.nvim_create_autocmd("User", {
        pattern = "ClaudeCodeSessionChanged",
        callback = function(event)
          local data = event.data
          if data.from ~= data.to then
            table.insert(happened, tostring(data.to) .. (data.kind and " " .. data.kind or ""))
          end
        end,
      })
      return true`),
  );

  const rows = () => claude.neovim.lua<SessionRow[]>(`return require("claude-code").sessions()`);
  const row = async () => (await rows())[0];
  const state = async () => {
    const { state, kind } = (await row()) ?? {};
    return kind ? `${state} ${kind}` : state;
  };
  /** The state is there a moment before the question is on screen. */
  const answer = async (question: RegExp, ...keys: string[]) => {
    await claude.neovim.terminal.waitFor(question);
    const press = async () => {
      for (const key of keys) await claude.neovim.terminal.press(key);
    };
    await untilAnswered(press, async () => (await row())?.state !== "blocked");
  };

  /** The states of the sessions since the last call. */
  const happened = () =>
    claude.neovim.lua<string[]>("local all = happened; happened = {}; return all");

  test("follow prompts, questions, Esc, an unseen turn, and /clear", async () => {
    await claude.command("Claude");
    await eventually(async () => (await row())?.source, "terminal", START_MS);
    await eventually(state, "idle");
    await eventually(async () => (await row())?.connected, true, START_MS);
    expect(await rows()).toHaveLength(1);
    await happened();

    claude.model.script([bash("touch x.txt"), say("Touched.")]);
    await claude.send("touch it");
    await eventually(state, "blocked permission");
    expect((await row())?.msg).toContain("touch x.txt");
    await answer(/Do you want to proceed/, "1");
    await eventually(state, "idle");
    const turn = await happened();
    expect(turn[0]).toBe("working");
    expect(turn).toContain("blocked permission");
    // It was on screen, so the user has seen it.
    expect(turn.slice(-2)).toEqual(["done", "idle"]);

    claude.model.script([
      ask({ question: "Which colour?", labels: ["Red", "Blue"] }),
      say("Fine."),
    ]);
    await claude.send("ask me");
    await eventually(state, "blocked question");
    expect((await row())?.msg).toContain("Which colour?");
    await answer(/Which colour/, "1", "Enter");
    await eventually(state, "idle");

    claude.model.script([bash("tail -f main.lua > y.txt"), say("Followed.")]);
    await claude.send("follow it");
    await eventually(state, "blocked permission");
    await answer(/Do you want to proceed/, "1");
    await eventually(state, "working");
    await happened();
    await claude.neovim.terminal.waitFor("esc to interrupt");
    await claude.neovim.terminal.press("Escape");
    await eventually(state, "idle");
    expect(await happened()).toEqual(["idle"]);

    await claude.command("Claude");
    claude.model.script([say("Nobody looks.")]);
    await claude.send("say it");
    await eventually(state, "done");
    await claude.command("Claude");
    await eventually(state, "idle");

    const before = await row();
    await claude.send("/clear");
    await eventually(async () => (await row())?.id !== before?.id, true);
    expect(await row()).toMatchObject({ n: 1, pid: before?.pid });
    expect(await rows()).toHaveLength(1);
  });
});
