import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claudeEnv, prepareClaudeHome } from "../support/claude-home";
import { Model } from "../support/model";
import type { Block } from "../support/model-answer";
import { requireNamespace } from "../support/namespace";
import { claudeCli, NEOVIMS, type NeovimVersion } from "../support/toolchain";
import { say } from "../support/turns";
import { eventually } from "./eventually";
import { Neovim } from "./neovim";

/* The states of a genuine CLI in Neovim's own terminal, as it reports them. */
const CASE_MS = 120_000;
const START_MS = 40_000;
/** A question ignores the keys of its first 250 ms or so (measured with Claude Code 2.1.330). */
const QUESTION_MS = 600;

const bash = (command: string): Block[] => [
  { tool: "Bash", input: { command, description: "Run" } },
];

const QUESTION: Block[] = [
  {
    tool: "AskUserQuestion",
    input: {
      questions: [
        {
          ...{ question: "Which colour?", header: "Colour", multiSelect: false },
          options: [
            { label: "Red", description: "r" },
            { label: "Blue", description: "b" },
          ],
        },
      ],
    },
  },
];

interface Row {
  n?: number;
  id: string;
  pid: number;
  state?: string;
  kind?: string;
  msg?: string;
  source?: string;
  connected?: boolean;
}

requireNamespace();
describe.each(NEOVIMS)("the states of Claude in the terminal of $name", inTerminal);

function inTerminal(version: NeovimVersion) {
  let root: string;
  let model: Model;
  let neovim: Neovim;

  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "claude-states-")));
    const [project, home] = [join(root, "project"), join(root, "home")];
    for (const folder of ["tmp", "run"]) await mkdir(join(home, folder), { recursive: true });
    await mkdir(project);
    await writeFile(join(project, "main.lua"), "return 1\n");
    await prepareClaudeHome(home, project);
    model = new Model();
    neovim = await Neovim.start({
      ...{ version, project, home, files: [join(project, "main.lua")] },
      setup: `{ terminal = { command = [[${claudeCli()}]], permission_mode = "default" } }`,
      env: claudeEnv(home, model.url),
      columns: 180,
    });
    await eventually(() => neovim.lua("return vim.v.vim_did_enter"), 1);
    await neovim.lua(`
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
      return true`);
  }, CASE_MS);

  afterAll(async () => {
    await neovim?.close();
    model?.stop();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  });

  const command = (name: string) => neovim.lua(`vim.cmd([[${name}]]) return true`);
  const rows = () => neovim.lua<Row[]>(`return require("claude-code").sessions()`);
  const row = async () => (await rows())[0];
  const state = async () => {
    const { state, kind } = (await row()) ?? {};
    return kind ? `${state} ${kind}` : state;
  };
  const send = (text: string) =>
    neovim.lua(`require("port").terminal.send("${text}", { submit = true }) return true`);

  /** A question may ignore the first keys. */
  async function answer(...keys: string[]): Promise<void> {
    for (let attempt = 0; attempt < 5 && (await row())?.state === "blocked"; attempt++) {
      await Bun.sleep(QUESTION_MS);
      for (const key of keys) await neovim.terminal.press(key);
      await Bun.sleep(QUESTION_MS);
    }
  }

  /** What the sessions became since the last call. */
  const happened = () => neovim.lua<string[]>("local all = happened; happened = {}; return all");

  test(
    "idle, working, what it asks, Esc, a turn that nobody saw, /clear",
    async () => {
      await command("Claude");
      await eventually(async () => (await row())?.source, "terminal", START_MS);
      await eventually(state, "idle");
      await eventually(async () => (await row())?.connected, true, START_MS);
      expect(await rows()).toHaveLength(1);
      await happened();

      model.script([bash("touch x.txt"), say("Touched.")]);
      await send("touch it");
      await eventually(state, "blocked permission");
      expect((await row())?.msg).toContain("touch x.txt");
      await answer("1");
      await eventually(state, "idle");
      const turn = await happened();
      expect(turn[0]).toBe("working");
      expect(turn).toContain("blocked permission");
      // It was on screen, so it was looked at.
      expect(turn.slice(-2)).toEqual(["done", "idle"]);

      model.script([QUESTION, say("Fine.")]);
      await send("ask me");
      await eventually(state, "blocked question");
      expect((await row())?.msg).toContain("Which colour?");
      await answer("1", "Enter");
      await eventually(state, "idle");

      model.script([bash("tail -f main.lua > y.txt"), say("Followed.")]);
      await send("follow it");
      await eventually(state, "blocked permission");
      await answer("1");
      await eventually(state, "working");
      await happened();
      await Bun.sleep(QUESTION_MS);
      await neovim.terminal.press("Escape");
      await eventually(state, "idle");
      expect(await happened()).toEqual(["idle"]);

      await command("Claude");
      model.script([say("Nobody looks.")]);
      await send("say it");
      await eventually(state, "done");
      await command("Claude");
      await eventually(state, "idle");

      const before = await row();
      await send("/clear");
      await eventually(async () => (await row())?.id !== before?.id, true);
      expect(await row()).toMatchObject({ n: 1, pid: before?.pid });
      expect(await rows()).toHaveLength(1);
    },
    CASE_MS,
  );

  test(
    "a session that is killed, or ends, is gone",
    async () => {
      process.kill((await row())?.pid ?? 0, "SIGKILL");
      await eventually(async () => Object.keys(await rows()).length, 0);
      await command("Claude");
      await eventually(async () => (await row())?.source, "terminal", START_MS);
      await eventually(async () => (await row())?.connected, true, START_MS);
      const { pid: before } = (await row()) ?? {};
      await command("Claude!");
      await eventually(
        async () => {
          const { pid, source, connected } = (await row()) ?? {};
          return pid !== before && source === "terminal" && connected;
        },
        true,
        START_MS,
      );
      expect(await rows()).toHaveLength(1);
      await send("/exit");
      await eventually(async () => Object.keys(await rows()).length, 0);
    },
    CASE_MS,
  );
}
