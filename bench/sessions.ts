import { linkSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../test/support/eventually";
import { isolatedEnv, type TestNeovim } from "../test/support/neovim";
import { Editor } from "./editor";
import { type Machine, repetitions, type Scenario, type Values } from "./scenario";
import { median, timings } from "./statistics";

const CONVERSATIONS = 200;
const CONVERSATION_BYTES = 5 * 1024 * 1024;

/** Eight sessions, each with a terminal, one on screen with the bar above it; a status line. */
const EIGHT = `
  local sessions = require("claude-code.sessions")
  vim.o.laststatus, vim.o.statusline = 2, "%{v:lua.require'claude-code'.statusline()}"
  for n = 1, 8 do
    local buf = vim.api.nvim_create_buf(false, true)
    sessions.set(sessions.add({ name = "session " .. n }), { buf = buf })
    vim.api.nvim_win_set_buf(0, buf)
  end
  vim.wo.winbar = "%{%v:lua.require'claude-code.terminal.winbar'.text()%}"`;

/** All of them report, and what that changes is drawn: ms. */
const CHANGE = `
  local sessions, round = require("claude-code.sessions"), ...
  local start = vim.uv.hrtime()
  for n = 1, 8 do
    local state = round % 2 == 0 and "working" or "blocked"
    sessions.report(n, "terminal", { state = state, msg = "step " .. round })
  end
  vim.cmd("redrawstatus! | redraw")
  return (vim.uv.hrtime() - start) / 1e6`;

/** Opens the list of sessions; a choice of nothing ends it. */
const LIST = `
  LISTED = nil
  vim.ui.select = function(rows) LISTED = #rows end
  vim.cmd("Claude sessions")`;

/** What eight sessions cost Neovim, and the list of past conversations. */
export const sessions: Scenario = {
  name: "sessions",
  async floor(machine) {
    return { "sessions-list": await run(machine, [machine.bare], isolatedEnv("/nowhere")) };
  },
  async measure(machine, subject) {
    if (!subject.hook) return { values: {} };
    await using editor = await Editor.start(machine.nvim, subject);
    const { nvim } = editor;
    using _ = await editor.setUp(subject);
    writeConversations(nvim.cwd, nvim.home);
    const command = [subject.hook, "sessions", "--json", "--folder", nvim.cwd];
    const list = await run(machine, command, isolatedEnv(nvim.home));
    const still: number[] = [];
    for (let i = 0; i < repetitions(machine, 10); i++)
      still.push((await editor.watched(() => shown(nvim))).longest);
    await nvim.lua(EIGHT);
    const changes: number[] = [];
    for (let round = 0; round < repetitions(machine, 40); round++)
      changes.push(await nvim.lua<number>(CHANGE, round));
    const values: Values = { "sessions-list": list, "sessions-redraw": median(changes) };
    return { values: { ...values, "sessions-listed": Math.min(...still) } };
  },
};

/** Until the list of sessions is there. */
async function shown(nvim: TestNeovim): Promise<void> {
  await nvim.lua(LIST);
  const count = () => nvim.lua<number | null>("return LISTED");
  await eventually("the list", async () => (await count()) === CONVERSATIONS);
}

/** Wall time of one run, as Neovim starts it. */
async function run(machine: Machine, command: string[], env: object): Promise<number> {
  const options = { env: { ...env }, stdin: "ignore", stdout: "pipe", stderr: "ignore" } as const;
  const samples = await timings(repetitions(machine, 20), async () => {
    const child = Bun.spawn(command, options);
    await new Response(child.stdout).text();
  });
  return median(samples);
}

/** One text under as many names, so that the disk is not what is measured. */
function writeConversations(cwd: string, home: string): void {
  const folder = join(home, ".claude/projects", cwd.replaceAll(/[^a-zA-Z0-9]/g, "-"));
  const path = (n: number) =>
    join(folder, `00000000-0000-4000-8000-${String(n).padStart(12, "0")}.jsonl`);
  const entry = (content: string) => {
    const message = { role: "user", content };
    return `${JSON.stringify({ type: "user", message, cwd, gitBranch: "main" })}\n`;
  };
  const middle = entry("x".repeat(20_000));
  mkdirSync(folder, { recursive: true });
  writeFileSync(path(0), entry("a prompt") + middle.repeat(CONVERSATION_BYTES / middle.length));
  for (let n = 1; n < CONVERSATIONS; n++) linkSync(path(0), path(n));
}
