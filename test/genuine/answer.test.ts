import { existsSync, readdirSync, readFileSync } from "node:fs";
import { NEOVIMS, type NeovimVersion, nightly } from "#test";
import type { Request } from "../permissions/editor";
import { runHeadless, untilAnswered } from "../support/claude";
import type { Turn } from "../support/model";
import type { ModelRequest } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { ask, bash, say } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal, START_MS } from "./in-terminal";

const QUESTIONS = ask(
  { question: "Which colour?", labels: ["Red", "Blue"] },
  { question: "Which sizes?", labels: ["S", "M", "L"], multiSelect: true },
);

/** The genuine CLI in Neovim's terminal, and a user who answers it in Neovim, or there. */
class Asking extends InTerminal {
  static inBlock(version: NeovimVersion): Asking {
    const asking = new Asking().inBlock(version, {
      files: { "main.lua": "return 1\n" },
      // A plan as a request: plan.test.ts has it as a document.
      setup: "permissions = { answer = true, plan = false }",
    });
    beforeAll(() => start(asking));
    // A failed test may have left the session blocked.
    afterEach(async () => {
      if ((await asking.state()) === "blocked") await asking.press("Escape");
    });
    return asking;
  }

  async requests(): Promise<Request[]> {
    const found = `return require("claude-code.sessions.requests").list()`;
    return Object.values(await this.neovim.lua<Request[]>(found));
  }

  async count(): Promise<number> {
    return (await this.requests()).length;
  }

  state(): Promise<string> {
    return this.neovim.lua(`return (require("claude-code").sessions()[1] or {}).state`);
  }

  hasState(state: string): Promise<void> {
    return eventually(() => this.state(), state);
  }

  /** Claude does something that it asks about. */
  async ask(...turns: Turn[]): Promise<Request> {
    this.model.script([...turns, say("The end.")]);
    await this.send("go on");
    await eventually(() => this.count(), 1);
    // The dialog is on screen although the hook waits.
    await this.neovim.terminal.waitFor(
      /Do you want to proceed\?|Which colour\?|Would you like to proceed\?/,
    );
    return (await this.requests())[0] as Request;
  }

  async press(key: string): Promise<void> {
    const press = () => this.neovim.terminal.press(key);
    await untilAnswered(press, async () => (await this.state()) !== "blocked");
    await this.hasState("idle");
  }

  /** The command's offers; `choose` takes one of them. */
  async choices(): Promise<string[]> {
    await this.neovim.lua(`offered = nil; vim.cmd('Claude answer') return true`);
    await eventually(() => this.neovim.lua("return offered ~= nil"), true);
    return this.neovim.lua("return offered.texts");
  }

  choose(text: string): Promise<boolean> {
    return this.neovim.lua(`return choose([[${text}]])`);
  }

  received(text: string): Promise<ModelRequest> {
    return this.model.nextRequest((each) =>
      JSON.stringify(each.messages.at(-1)).includes(JSON.stringify(text).slice(1, -1)),
    );
  }

  /** This Neovim's hooks. Those of other tests have a different folder in their environment. Only Linux shows it. */
  async hooksThatWait(): Promise<number> {
    if (process.platform !== "linux") return 0;
    const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return processes.filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return (
          command.includes("\0permission-request\0") &&
          readFileSync(`/proc/${pid}/environ`, "utf8").includes(this.root)
        );
      } catch {
        return false;
      }
    }).length;
  }

  async isOver(): Promise<void> {
    await eventually(() => this.count(), 0);
    await eventually(() => this.hooksThatWait(), 0);
  }
}

async function start({ neovim }: Asking): Promise<void> {
  await neovim.lua(`
    -- A picker: it offers, and the user chooses later.
    vim.ui.select = function(items, options, callback)
      local texts = vim.tbl_map(options.format_item, items)
      offered = { prompt = options.prompt, texts = texts, items = items, callback = callback }
    end
    vim.ui.input = function(_, callback)
      callback(reason)
    end
    function choose(text)
      for i, other in ipairs(offered.texts) do
        if other == text then
          offered.callback(offered.items[i])
          return true
        end
      end
      error("not offered: " .. text .. vim.inspect(offered.texts))
    end
    return true`);
  await eventually(
    () => neovim.lua(`return require("claude-code").status().state`),
    "ready",
    START_MS,
  );
  await neovim.lua("vim.cmd('Claude') return true");
  const row = () =>
    neovim.lua<{ source?: string; connected?: boolean }>(
      `return require("claude-code").sessions()[1] or {}`,
    );
  await eventually(async () => (await row()).source, "terminal", START_MS);
  await eventually(async () => (await row()).connected, true, START_MS);
}

/** The permissions that a plan asks for. */
const RUN_TESTS = { tool: "Bash", prompt: "run tests" };
/** The CLI says which file must contain the plan. */
const writePlan: Turn = (request) => {
  const path = JSON.stringify(request).match(/[^" ]*\.claude\/plans\/[a-z-]+\.md/)?.[0];
  return [{ tool: "Write", input: { file_path: path, content: "1. do it\n" } }];
};

/* The user answers a genuine CLI in Neovim or in its terminal, whichever comes first. */
requireNamespace();
describe.each(NEOVIMS)("answers to Claude from $name", (version) => {
  const asking = Asking.inBlock(version);

  test("lets Claude go on when the user allows it in Neovim", async () => {
    const request = await asking.ask(bash("touch a.txt"));
    expect(request.title).toBe("Bash: touch a.txt");
    expect(request.lines).toEqual(["touch a.txt", "", "description: Run it"]);
    const offered = await asking.choices();
    expect(offered[0]).toBe("Allow");
    expect(offered).toContain("Allow, and set the permission mode in this session: acceptEdits");
    expect(offered.slice(-4)).toEqual([
      "Deny",
      "Deny with a reason…",
      "Show it in its terminal",
      "Show the whole request",
    ]);
    await asking.choose("Allow");
    await asking.hasState("idle");
    expect(existsSync(asking.path("a.txt"))).toBe(true);
    expect(await asking.count()).toBe(0);
    await asking.isOver();
  });

  test("ends request and hook after an answer in the terminal, Yes or Esc", async () => {
    for (const [file, key, isMade] of [
      ["b.txt", "1", true],
      ["c.txt", "Escape", false],
    ] as const) {
      const { id } = await asking.ask(bash(`touch ${file}`));
      await asking.choices();
      await asking.press(key);
      expect(existsSync(asking.path(file))).toBe(isMade);
      expect(await asking.count()).toBe(0);
      await asking.isOver();
      expect(
        await asking.neovim.lua(
          `return { require("claude-code.sessions.requests").answer(${id}, { allow = true }) }`,
        ),
      ).toEqual([false, "that request was answered already, or Claude no longer asks it"]);
      // The earlier list is still on screen, as a picker's would be.
      await asking.choose("Allow");
    }
  });

  nightly.test("gives Claude the reason of a denial; stops it without one", async () => {
    await asking.ask(bash("touch d.txt"));
    await asking.choices();
    await asking.neovim.lua(`reason = "Use /tmp instead." return true`);
    await asking.choose("Deny with a reason…");
    await asking.received("Use /tmp instead.");
    await asking.hasState("idle");
    const before = asking.model.requests.length;
    await asking.ask(bash("touch d.txt"));
    await asking.choices();
    await asking.choose("Deny");
    await asking.hasState("idle");
    expect(existsSync(asking.path("d.txt"))).toBe(false);
    expect(asking.model.requests.length).toBe(before + 1);
  });

  nightly.test("answers questions with one option, and with several", async () => {
    await asking.ask(QUESTIONS);
    expect((await asking.choices()).slice(0, 3)).toEqual(["Red", "Blue", "Type an answer…"]);
    await asking.choose("Blue");
    await asking.choose("[ ] S");
    await asking.choose("[ ] L");
    await asking.choose("Done");
    await asking.received('"Which colour?"="Blue", "Which sizes?"="S, L"');
    await asking.hasState("idle");
  });

  nightly.test("does not ask again after accepting a rule that Claude suggests", async () => {
    await asking.ask(bash("make first"), bash("make first"));
    const rule = (await asking.choices()).find((text) => text.includes("do not ask again"));
    expect(rule).toBe("Allow, and do not ask again in this project, for you: Bash(make first *)");
    await asking.choose(rule ?? "");
    await asking.hasState("idle");
    await asking.neovim.terminal.waitFor("The end.");
    const settings = await asking.onDisk(".claude/settings.local.json");
    expect(JSON.parse(settings).permissions.allow).toEqual(["Bash(make first *)"]);
  });

  nightly.test("declines a question, and approves a plan", async () => {
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

  nightly.test("does not keep claude -p waiting, which has no dialog", async () => {
    const plugin = await asking.neovim.lua<string[]>(`return require("port").plugin_arguments()`);
    expect(plugin).toHaveLength(2);
    asking.model.script([bash("touch p.txt"), say("The end.")]);
    const { project, home, model } = asking;
    const options = { project, home, model };
    const args = [...plugin, "--permission-mode", "default"];
    const { stdout } = await runHeadless({ ...options, args }, "go on");
    expect(stdout).toContain("The end.");
    expect(existsSync(asking.path("p.txt"))).toBe(false);
    expect(await asking.count()).toBe(0);
  });

  nightly.test("goes to a request's diff with the command", async () => {
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

  nightly.test("leaves the dialog to the terminal without permissions.answer", async () => {
    const set = (value: boolean) =>
      asking.lua(`require("claude-code.config").get().permissions.answer = ${value} return true`);
    await set(false);
    asking.model.script([bash("touch f.txt"), say("The end.")]);
    await asking.send("go on");
    await asking.hasState("blocked");
    await asking.isOver();
    await asking.press("1");
    expect(existsSync(asking.path("f.txt"))).toBe(true);
    await set(true);
  });

  nightly.test("ends hook and request after kill -9 of the CLI", async () => {
    await asking.ask(bash("touch e.txt"));
    process.kill(
      await asking.neovim.lua<number>(`return require("claude-code").sessions()[1].pid`),
      "SIGKILL",
    );
    await asking.isOver();
  });
});
