import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runHeadless } from "../support/claude";
import { claudeEnv, prepareClaudeHome } from "../support/claude-home";
import { Model, type Turn } from "../support/model";
import type { Block } from "../support/model-answer";
import { requireNamespace } from "../support/namespace";
import { claudeCli, NEOVIMS, type NeovimVersion } from "../support/toolchain";
import { say } from "../support/turns";
import { eventually } from "./eventually";
import { Neovim } from "./neovim";

/* The user answers a genuine CLI in Neovim, or in its terminal: whoever comes first. */
const CASE_MS = 120_000;
const START_MS = 40_000;
/** A question ignores the keys of its first 250 ms or so (measured with Claude Code 2.1.330). */
const QUESTION_MS = 600;

const bash = (command: string): Block[] => [
  { tool: "Bash", input: { command, description: "Run it" } },
];

/** What a plan asks to be allowed with it. */
const RUN_TESTS = { tool: "Bash", prompt: "run tests" };
const QUESTIONS: Block[] = [
  {
    tool: "AskUserQuestion",
    input: {
      questions: [
        {
          ...{ question: "Which colour?", header: "Colour", multiSelect: false },
          options: [
            { label: "Red", description: "warm" },
            { label: "Blue", description: "cold" },
          ],
        },
        {
          ...{ question: "Which sizes?", header: "Sizes", multiSelect: true },
          options: [
            { label: "S", description: "small" },
            { label: "M", description: "middle" },
            { label: "L", description: "large" },
          ],
        },
      ],
    },
  },
];

/** The CLI says which file the plan has to be in. */
const writePlan: Turn = (request) => {
  const path = JSON.stringify(request).match(/[^" ]*\.claude\/plans\/[a-z-]+\.md/)?.[0];
  return [{ tool: "Write", input: { file_path: path, content: "1. do it\n" } }];
};

interface Request {
  id: number;
  title: string;
  lines: string[];
}

requireNamespace();
describe.each(NEOVIMS)("answers to Claude from $name", (version) => {
  let root: string;
  let project: string;
  let model: Model;
  let neovim: Neovim;

  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "claude-answer-")));
    project = join(root, "project");
    const home = join(root, "home");
    for (const folder of ["tmp", "run"]) await mkdir(join(home, folder), { recursive: true });
    await mkdir(project);
    await writeFile(join(project, "main.lua"), "return 1\n");
    await prepareClaudeHome(home, project);
    model = new Model();
    neovim = await start(version, project, home, model);
  }, CASE_MS);

  afterAll(async () => {
    await neovim?.close();
    model?.stop();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  });

  // What a failed test left.
  afterEach(async () => {
    if ((await state()) === "blocked") await press("Escape");
  });

  const requests = async () =>
    Object.values(await neovim.lua<Request[]>(`return require("claude-code").requests()`));
  const count = async () => (await requests()).length;
  const state = () =>
    neovim.lua<string>(`return (require("claude-code").sessions()[1] or {}).state`);

  /** Claude does something that it asks about. */
  async function ask(...turns: Turn[]): Promise<Request> {
    model.script([...turns, say("The end.")]);
    await neovim.lua(`require("port").terminal.send("go on", { submit = true }) return true`);
    await eventually(count, 1);
    // The dialog is there although the hook waits.
    await neovim.terminal.waitFor(
      /Do you want to proceed\?|Which colour\?|Would you like to proceed\?/,
    );
    return (await requests())[0] as Request;
  }

  /** A question may ignore the first keys. */
  async function press(key: string): Promise<void> {
    for (let attempt = 0; attempt < 5 && (await state()) === "blocked"; attempt++) {
      await Bun.sleep(QUESTION_MS);
      await neovim.terminal.press(key);
      await Bun.sleep(QUESTION_MS);
    }
    await eventually(state, "idle");
  }

  /** What the command offers; `choose` takes one of it. */
  async function choices(): Promise<string[]> {
    await neovim.lua(`offered = nil; vim.cmd('Claude answer') return true`);
    await eventually(() => neovim.lua("return offered ~= nil"), true);
    return neovim.lua("return offered.texts");
  }
  const choose = (text: string) => neovim.lua(`return choose([[${text}]])`);

  /** Waits until the model receives this. */
  const received = (text: string) =>
    model.nextRequest((each) =>
      JSON.stringify(each.messages.at(-1)).includes(JSON.stringify(text).slice(1, -1)),
    );

  test(
    "allowed in Neovim: the dialog goes, and Claude goes on",
    async () => {
      const request = await ask(bash("touch a.txt"));
      expect(request.title).toBe("Bash: touch a.txt");
      expect(request.lines).toEqual(["touch a.txt", "", "description: Run it"]);
      const offered = await choices();
      expect(offered[0]).toBe("Allow");
      expect(offered).toContain("Allow, and set the permission mode in this session: acceptEdits");
      expect(offered.slice(-4)).toEqual([
        "Deny",
        "Deny with a reason…",
        "Show it in its terminal",
        "Show the whole request",
      ]);
      await choose("Allow");
      await eventually(state, "idle");
      expect(existsSync(join(project, "a.txt"))).toBe(true);
      expect(await count()).toBe(0);
      await eventually(hooksThatWait, 0);
    },
    CASE_MS,
  );

  test(
    "answered in the terminal, by Yes and by Esc: the request and its hook are gone",
    async () => {
      for (const [file, key, isMade] of [
        ["b.txt", "1", true],
        ["c.txt", "Escape", false],
      ] as const) {
        const { id } = await ask(bash(`touch ${file}`));
        await choices();
        await press(key);
        expect(existsSync(join(project, file))).toBe(isMade);
        expect(await count()).toBe(0);
        await eventually(hooksThatWait, 0);
        expect(
          await neovim.lua(`return { require("claude-code").answer(${id}, { allow = true }) }`),
        ).toEqual([false, "that request was answered already, or Claude no longer asks it"]);
        // The list from before is still there, as a picker's would be.
        await choose("Allow");
      }
    },
    CASE_MS,
  );

  test(
    "denied with a reason, which Claude receives; without one it stops",
    async () => {
      await ask(bash("touch d.txt"));
      await choices();
      await neovim.lua(`reason = "Use /tmp instead." return true`);
      await choose("Deny with a reason…");
      await received("Use /tmp instead.");
      await eventually(state, "idle");
      const before = model.requests.length;
      await ask(bash("touch d.txt"));
      await choices();
      await choose("Deny");
      await eventually(state, "idle");
      expect(existsSync(join(project, "d.txt"))).toBe(false);
      expect(model.requests.length).toBe(before + 1);
    },
    CASE_MS,
  );

  test(
    "a rule that Claude suggests: it does not ask again",
    async () => {
      await ask(bash("make first"), bash("make first"));
      const rule = (await choices()).find((text) => text.includes("do not ask again"));
      expect(rule).toBe("Allow, and do not ask again in this project, for you: Bash(make first *)");
      await choose(rule ?? "");
      await eventually(state, "idle");
      await neovim.terminal.waitFor("The end.");
      const settings = readFileSync(join(project, ".claude/settings.local.json"), "utf8");
      expect(JSON.parse(settings).permissions.allow).toEqual(["Bash(make first *)"]);
    },
    CASE_MS,
  );

  test(
    "questions: an option, several, and a text of the user's",
    async () => {
      await ask(QUESTIONS);
      expect((await choices()).slice(0, 3)).toEqual(["Red", "Blue", "Type an answer…"]);
      await choose("Blue");
      await choose("[ ] S");
      await choose("[ ] L");
      await choose("Done");
      await received('"Which colour?"="Blue", "Which sizes?"="S, L"');
      await eventually(state, "idle");

      await ask(QUESTIONS);
      await choices();
      await neovim.lua(`reason = "a dark green" return true`);
      await choose("Type an answer…");
      await choose("[ ] M");
      await choose("Done");
      await received('"Which colour?"="a dark green", "Which sizes?"="M"');
      await eventually(state, "idle");
    },
    CASE_MS,
  );

  test(
    "a question is declined, and a plan approved",
    async () => {
      await ask(QUESTIONS);
      await choices();
      await choose("Decline");
      await eventually(state, "idle");

      await ask([{ tool: "EnterPlanMode", input: {} }], writePlan, [
        { tool: "ExitPlanMode", input: { allowedPrompts: [RUN_TESTS] } },
      ]);
      expect((await requests())[0]).toMatchObject({
        title: "ExitPlanMode",
        lines: expect.arrayContaining(["1. do it", '    "prompt": "run tests"']),
      });
      await choices();
      await choose("Allow");
      await received("Exited Plan Mode");
      await eventually(state, "idle");
    },
    CASE_MS,
  );

  test(
    "claude -p, which has no dialog, is not kept waiting",
    async () => {
      const launch = `return require("port").launch.launch_arguments()[1]`;
      const settings = await neovim.lua<string>(launch);
      expect(settings).toContain("PermissionRequest");
      model.script([bash("touch p.txt"), say("The end.")]);
      const options = { project, home: join(root, "home"), model };
      const args = [settings, "--permission-mode", "default"];
      const { stdout } = await runHeadless({ ...options, args }, "go on");
      expect(stdout).toContain("The end.");
      expect(existsSync(join(project, "p.txt"))).toBe(false);
      expect(await count()).toBe(0);
    },
    CASE_MS,
  );

  test(
    "a request has a diff, too: the command leads to it",
    async () => {
      model.script([
        [{ tool: "Write", input: { file_path: join(project, "new.txt"), content: "new\n" } }],
        say("Written."),
      ]);
      await neovim.lua(`require("port").terminal.send("write", { submit = true }) return true`);
      await eventually(async () => (await neovim.diff()) !== null, true);
      await eventually(count, 1);
      await neovim.lua(`offered = nil; vim.cmd('Claude answer') return true`);
      expect(await neovim.lua("return offered ~= nil")).toBe(false);
      await neovim.lua("vim.cmd('Claude diff accept') return true");
      await eventually(state, "idle");
      expect(readFileSync(join(project, "new.txt"), "utf8")).toBe("new\n");
      expect(await count()).toBe(0);
    },
    CASE_MS,
  );

  test(
    "kill -9 of the CLI ends the hook and the request",
    async () => {
      await ask(bash("touch e.txt"));
      process.kill(
        await neovim.lua<number>(`return require("claude-code").sessions()[1].pid`),
        "SIGKILL",
      );
      await eventually(count, 0);
      await eventually(hooksThatWait, 0);
    },
    CASE_MS,
  );

  /** Of this Neovim: those of other tests have another folder in their environment. */
  async function hooksThatWait(): Promise<number> {
    const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return processes.filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return (
          command.includes("\0permission-request\0") &&
          readFileSync(`/proc/${pid}/environ`, "utf8").includes(root)
        );
      } catch {
        return false;
      }
    }).length;
  }
});

async function start(version: NeovimVersion, project: string, home: string, model: Model) {
  const terminal = `{ command = [[${claudeCli()}]], permission_mode = "default" }`;
  const neovim = await Neovim.start({
    ...{ version, project, home, files: [join(project, "main.lua")] },
    setup: `{ terminal = ${terminal}, permissions = { answer = true } }`,
    env: claudeEnv(home, model.url),
    columns: 180,
  });
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
  await eventually(() => neovim.lua("return vim.v.vim_did_enter"), 1);
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
  return neovim;
}
