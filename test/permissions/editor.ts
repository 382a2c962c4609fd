import { expect } from "bun:test";
import type { ChildProcess } from "node:child_process";
import { eventually, isolatedEnv, type NeovimVersion, startSleeping, TestNeovim } from "#test";
import { runHook } from "../support/hook";

export interface Asked {
  tool_name?: string;
  tool_input?: object;
  permission_suggestions?: unknown;
  agent_id?: string;
  session_id?: string;
}

export const BASH: Asked = { tool_name: "Bash", tool_input: { command: "npm test" } };

export interface Request {
  id: number;
  session?: number;
  title: string;
  lines: string[];
  suggestions: string[];
  is_edit?: boolean;
}

/** A Neovim with sessions that are blocked, as their terminals would report. */
export class Editor implements AsyncDisposable {
  private constructor(
    readonly neovim: TestNeovim,
    private readonly address: string,
  ) {}

  static async start(
    version: NeovimVersion,
    { isOn = true, serves = false } = {},
  ): Promise<Editor> {
    const neovim = await TestNeovim.start({
      version,
      ui: { width: 80, height: 24 },
      // Sessions that need the user are reported sooner.
      setup: `(function()
        RESTORE = require("port").hurry(10)
        return { auto_start = ${serves}, permissions = { answer = ${isOn} } }
      end)()`,
    });
    await neovim.lua(`
      RESTORE()
      messages = {}
      vim.notify = function(text) table.insert(messages, text) end
      vim.ui.select = function(items, options, callback)
        offered = { prompt = options.prompt, items = items, callback = callback,
          texts = vim.tbl_map(options.format_item, items) }
      end
      function choose(text)
        for i, other in ipairs(offered.texts) do
          if other == text then return offered.callback(offered.items[i]) end
        end
        error("not offered: " .. text .. vim.inspect(offered.texts))
      end`);
    return new Editor(neovim, await neovim.lua<string>("return vim.v.servername"));
  }

  readonly #clis: ChildProcess[] = [];

  /** The CLI of the session that was made last. */
  get cli(): ChildProcess {
    return this.#clis.at(-1) as ChildProcess;
  }

  get pid(): number {
    return this.cli.pid as number;
  }

  /** Makes a session. Waits until a process that had one no longer counts as another session's. */
  async block(source = "terminal", fields = ""): Promise<number> {
    this.#clis.push(startSleeping());
    return this.neovim.lua(
      `local rows, n = require("port").session_rows, nil
      n = rows.add({ ${fields} })
      rows.report({ n = n, pid = ... }, "${source}", { state = "blocked", kind = "permission" })
      return n`,
      this.pid,
    );
  }

  async report(n: number, state: string): Promise<void> {
    await this.neovim.lua(
      `require("port").session_rows.report(${n}, "terminal", { state = "${state}" })`,
    );
  }

  /** The hook as the CLI runs it: what it prints at its end. */
  async hook(asked: Asked, n?: number, entrypoint = "cli"): Promise<unknown> {
    const { code, stderr, output } = await runHook({
      event: "permission-request",
      input: { session_id: `s${n ?? ""}`, cwd: this.neovim.cwd, ...asked },
      cwd: this.neovim.cwd,
      env: {
        ...isolatedEnv(this.neovim.home),
        NVIM: this.address,
        CLAUDE_PID: String(this.pid),
        CLAUDE_CODE_ENTRYPOINT: entrypoint,
        ...(n && { CLAUDE_CODE_NVIM_SESSION: String(n) }),
      },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return (output as { hookSpecificOutput?: { decision: unknown } })?.hookSpecificOutput?.decision;
  }

  async requests(): Promise<Request[]> {
    const json = await this.neovim.lua<string>(
      `return vim.json.encode(require("claude-code.sessions.requests").list())`,
    );
    return Object.values(JSON.parse(json));
  }

  async wait(count = 1): Promise<Request> {
    await eventually(`${count} requests`, async () => (await this.requests()).length === count);
    return (await this.requests()).at(-1) as Request;
  }

  /** The hook while the session is not blocked yet: its request exists, but is not listed. */
  async early(asked: Asked): Promise<Promise<unknown>[]> {
    const group = `"claude-code.sessions.requests"`;
    await this.neovim.lua(`pcall(vim.api.nvim_del_augroup_by_name, ${group})`);
    const output = this.hook(asked);
    await this.neovim.until(
      "the request",
      `return (pcall(vim.api.nvim_get_autocmds, { group = ${group} }))`,
    );
    return [output];
  }

  /** A session is blocked, and its hook waits in Neovim. */
  async asking(asked: Asked = BASH): Promise<{ n: number; output: Promise<unknown>; id: number }> {
    const n = await this.block();
    const output = this.hook(asked);
    const { id } = await this.wait();
    return { n, output, id };
  }

  /** The floating windows with their lines. */
  floats(): Promise<{ width: number; height: number; conceal: number; lines: string[] }[]> {
    return this.neovim.lua(`
      local found = {}
      for _, win in ipairs(vim.api.nvim_list_wins()) do
        local config = vim.api.nvim_win_get_config(win)
        if config.relative ~= "" then
          table.insert(found, {
            width = config.width, height = config.height, conceal = vim.wo[win].conceallevel,
            lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false),
          })
        end
      end
      return found`);
  }

  answer(id: number, answer: string): Promise<unknown[]> {
    return this.neovim.lua(
      `return { require("claude-code.sessions.requests").answer(${id}, ${answer}) }`,
    );
  }

  async says(part: string): Promise<void> {
    await eventually(`the message "${part}"`, async () =>
      (await this.neovim.lua<string[]>("return messages")).some((text) => text.includes(part)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const cli of this.#clis.splice(0)) cli.kill("SIGKILL");
    await this.neovim[Symbol.asyncDispose]();
  }

  async reset(): Promise<void> {
    for (const cli of this.#clis.splice(0)) cli.kill("SIGKILL");
    await this.neovim.lua(`
      messages, offered = {}, nil
      local rows = require("port").session_rows
      for _, row in ipairs(rows.list()) do rows.remove(row.n) end`);
  }
}
