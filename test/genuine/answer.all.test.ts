import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { runHeadless } from "../support/claude";
import type { Turn } from "../support/model";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS } from "../support/toolchain";
import { say } from "../support/turns";
import { Asking, bash, QUESTIONS } from "./answer";
import { eventually } from "./eventually";

/* Further questions of a genuine CLI that the user answers in Neovim. */

/** What a plan asks to be allowed with it. */
const RUN_TESTS = { tool: "Bash", prompt: "run tests" };
/** The CLI says which file the plan has to be in. */
const writePlan: Turn = (request) => {
  const path = JSON.stringify(request).match(/[^" ]*\.claude\/plans\/[a-z-]+\.md/)?.[0];
  return [{ tool: "Write", input: { file_path: path, content: "1. do it\n" } }];
};

requireNamespace();
describe.each(NEOVIMS)("answers to Claude from $name", (version) => {
  const asking = Asking.inBlock(version);

  test("a rule that Claude suggests: it does not ask again", async () => {
    await asking.ask(bash("make first"), bash("make first"));
    const rule = (await asking.choices()).find((text) => text.includes("do not ask again"));
    expect(rule).toBe("Allow, and do not ask again in this project, for you: Bash(make first *)");
    await asking.choose(rule ?? "");
    await asking.hasState("idle");
    await asking.neovim.terminal.waitFor("The end.");
    const settings = await asking.onDisk(".claude/settings.local.json");
    expect(JSON.parse(settings).permissions.allow).toEqual(["Bash(make first *)"]);
  });

  test("a question: a text of the user's", async () => {
    await asking.ask(QUESTIONS);
    await asking.choices();
    await asking.neovim.lua(`reason = "a dark green" return true`);
    await asking.choose("Type an answer…");
    await asking.choose("[ ] M");
    await asking.choose("Done");
    await asking.received('"Which colour?"="a dark green", "Which sizes?"="M"');
    await asking.hasState("idle");
  });

  test("a question is declined, and a plan approved", async () => {
    await asking.ask(QUESTIONS);
    await asking.choices();
    await asking.choose("Decline");
    await asking.hasState("idle");

    await asking.ask([{ tool: "EnterPlanMode", input: {} }], writePlan, [
      { tool: "ExitPlanMode", input: { allowedPrompts: [RUN_TESTS] } },
    ]);
    expect((await asking.requests())[0]).toMatchObject({
      title: "ExitPlanMode",
      lines: expect.arrayContaining(["1. do it", '    "prompt": "run tests"']),
    });
    await asking.choices();
    await asking.choose("Allow");
    await asking.received("Exited Plan Mode");
    await asking.hasState("idle");
  });

  test("claude -p, which has no dialog, is not kept waiting", async () => {
    const launch = `return require("port").launch.launch_arguments()[1]`;
    const settings = await asking.neovim.lua<string>(launch);
    expect(settings).toContain("PermissionRequest");
    asking.model.script([bash("touch p.txt"), say("The end.")]);
    const { project, home, model } = asking;
    const options = { project, home, model };
    const args = [settings, "--permission-mode", "default"];
    const { stdout } = await runHeadless({ ...options, args }, "go on");
    expect(stdout).toContain("The end.");
    expect(existsSync(asking.path("p.txt"))).toBe(false);
    expect(await asking.count()).toBe(0);
  });

  test("a request has a diff, too: the command leads to it", async () => {
    asking.model.script([
      [{ tool: "Write", input: { file_path: asking.path("new.txt"), content: "new\n" } }],
      say("Written."),
    ]);
    await asking.send("write");
    await eventually(async () => (await asking.neovim.diff()) !== null, true);
    await eventually(() => asking.count(), 1);
    await asking.neovim.lua(`offered = nil; vim.cmd('Claude answer') return true`);
    expect(await asking.neovim.lua("return offered ~= nil")).toBe(false);
    await asking.neovim.lua("vim.cmd('Claude diff accept') return true");
    await asking.hasState("idle");
    expect(await asking.onDisk("new.txt")).toBe("new\n");
    expect(await asking.count()).toBe(0);
  });

  test("kill -9 of the CLI ends the hook and the request", async () => {
    await asking.ask(bash("touch e.txt"));
    process.kill(
      await asking.neovim.lua<number>(`return require("claude-code").sessions()[1].pid`),
      "SIGKILL",
    );
    await asking.isOver();
  });
});
