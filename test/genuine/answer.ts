import { afterEach, beforeAll } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { untilAnswered } from "../support/claude";
import type { Turn } from "../support/model";
import type { Block } from "../support/model-answer";
import type { ModelRequest } from "../support/model-request";
import type { NeovimVersion } from "../support/toolchain";
import { say } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal, START_MS } from "./in-terminal";

export const bash = (command: string): Block[] => [
  { tool: "Bash", input: { command, description: "Run it" } },
];

export const QUESTIONS: Block[] = [
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

interface Request {
  id: number;
  title: string;
  lines: string[];
}

/** The genuine CLI in Neovim's terminal, and a user who answers it in Neovim, or there. */
export class Asking extends InTerminal {
  /** For the tests of the block around the call. */
  static inBlock(version: NeovimVersion): Asking {
    const asking = new Asking().inBlock(version, {
      files: { "main.lua": "return 1\n" },
      terminal: `permission_mode = "default"`,
      // A plan as a request: plan.test.ts has it as a document.
      setup: "permissions = { answer = true, plan = false }",
    });
    beforeAll(() => start(asking));
    // What a failed test left.
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
    // The dialog is there although the hook waits.
    await this.neovim.terminal.waitFor(
      /Do you want to proceed\?|Which colour\?|Would you like to proceed\?/,
    );
    return (await this.requests())[0] as Request;
  }

  /** Answers in the terminal. */
  async press(key: string): Promise<void> {
    const press = () => this.neovim.terminal.press(key);
    await untilAnswered(press, async () => (await this.state()) !== "blocked");
    await this.hasState("idle");
  }

  /** What the command offers; `choose` takes one of it. */
  async choices(): Promise<string[]> {
    await this.neovim.lua(`offered = nil; vim.cmd('Claude answer') return true`);
    await eventually(() => this.neovim.lua("return offered ~= nil"), true);
    return this.neovim.lua("return offered.texts");
  }

  choose(text: string): Promise<boolean> {
    return this.neovim.lua(`return choose([[${text}]])`);
  }

  /** Waits until the model receives this. */
  received(text: string): Promise<ModelRequest> {
    return this.model.nextRequest((each) =>
      JSON.stringify(each.messages.at(-1)).includes(JSON.stringify(text).slice(1, -1)),
    );
  }

  /** Of this Neovim: those of other tests have another folder in their environment. */
  async hooksThatWait(): Promise<number> {
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

  /** The request is nowhere any more. */
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
