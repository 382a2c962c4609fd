import { readFileSync } from "node:fs";
import { ALL, claudeCli, EXECUTABLE, first, nightly } from "#test";
import { join } from "../../src/lib/platform";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { Container } from "../support/remote";
import { edit, read } from "../support/turns";
import { eventually } from "./eventually";
import { MODIFIED, UPDATED } from "./first-light";
import { START_MS } from "./in-terminal";
import { InRemote, type Way } from "./remote";

const WAYS: [name: string, way: Way][] = [
  ["a container, the project at another path", { at: Container.PROJECT, by: "exec" }],
  ["a container, the project at the same path", { by: "exec" }],
];

requireNamespace();
describe.each(first(1, WAYS))("Claude in %s", (_name, way) => {
  const claude = InRemote.inBlock(way);
  starts(claude);
  accepts(claude);

  shows(claude);
  if (!ALL) return;

  test("sends with an edit's result what the edit broke, and lets Claude stop only once it is repaired", async () => {
    await claude.neovim.startServer("main.lua", claude.home);
    const repair = edit(claude.inside("main.lua"), "return WRONG", "return name");
    await claude.propose("return name", "return WRONG", repair, [{ text: "Repaired." }]);
    await claude.press("Enter");
    const said = newsText(await claude.received(UPDATED));
    expect(said).toContain("<new-diagnostics>");
    expect(said).toContain("return WRONG");
    const held = newsText(await claude.received("Stop hook"));
    expect(held).toContain("Found 1 error and 0 warnings in edited files.");
    expect(held).toContain("main.lua:2:1 error");
    const repaired = await claude.shown("return WRONG", "return name");
    await claude.press("Enter");
    await claude.received(UPDATED);
    await claude.written(repaired);
    await claude.showing(/Repaired\./);
    await claude.turnEnded();
  });

  reconnects(claude);

  test("connects again on the same port when the executable is killed", async () => {
    const before = claude.locks();
    await claude.propose("return name", "return again");
    process.kill(
      await claude.neovim.lua<number>(`return require("port").server.process.pid`),
      "SIGKILL",
    );
    await eventually(() => claude.clients(), []);
    await eventually(() => claude.neovim.diff(), null);
    await claude.joined();
    expect(claude.locks()).toEqual(before);
    await claude.leaveQuestion();
  });

  reviews(claude);

  test("ends the sessions when the CLIs are killed", async () => {
    const pids = claude.container.pids(`^${claudeCli()} .*--session-id`);
    expect(pids).toHaveLength(2);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await eventually(() => claude.clients(), [], START_MS);
  });
});

nightly.describe("Claude on another machine, by ssh", () => {
  const claude = InRemote.inBlock({ at: Container.PROJECT, by: "ssh" });
  for (const capability of [starts, accepts, shows, reconnects, reviews]) capability(claude);
});

function starts(claude: InRemote): void {
  test("starts there, connected by a lock file without a pid", async () => {
    await claude.begin();
    await claude.joined();
    const folder = join(claude.root, "inside/.claude/ide");
    const [name = ""] = claude.locks();
    const lock = JSON.parse(readFileSync(join(folder, name), "utf8"));
    expect(lock).toMatchObject({ workspaceFolders: [claude.container.project] });
    expect(lock).not.toHaveProperty("pid");
    await claude.command("wincmd p");
  });

  test("takes a prompt through the mod in the CLI there", async () => {
    await eventually(() => claude.neovim.lua("return require('port').mod.has(1)"), true, START_MS);
    claude.model.script([[{ text: "I hear it." }]]);
    await claude.neovim.lua(`
      require("port").mod.submit(1, "two\\nlines", function() end)
      return true`);
    expect(newsText(await claude.model.nextRequest())).toContain("two\nlines");
    await claude.showing(/I hear it/);
    await eventually(
      () => claude.neovim.lua("return (require('port').session_rows.get(1).usage or {}).tokens"),
      10,
    );
  });

  test("shows an answer in its conversation, and the prompt before it", async () => {
    await claude.command("wincmd t | Claude transcript");
    const shown = async () => (await claude.lines()).join("\n");
    await eventually(async () => (await shown()).includes("I hear it"), true, START_MS);
    claude.model.script([[{ text: "I hear more." }]]);
    await claude.neovim.lua(`
      require("port").mod.submit(1, "and more", function() end)
      return true`);
    await claude.model.nextRequest();
    await eventually(
      async () => /❯ and more\n[^❯]*I hear more/.test(await shown()),
      true,
      START_MS,
    );
    await claude.command("edit main.lua");
  });
}

function accepts(claude: InRemote): void {
  test("writes accepted edits there, and updates the buffer", async () => {
    const proposal = await claude.propose("zero", "one");
    const bar = `return vim.api.nvim_eval_statusline(vim.wo.winbar, { use_winbar = true }).str`;
    expect(await claude.neovim.lua<string>(bar)).toContain("dev");
    await claude.press("Enter");
    expect(newsText(await claude.received(UPDATED))).not.toContain(MODIFIED);
    await claude.written(proposal);
  });
}

function shows(claude: InRemote): void {
  test("gives a selection, and a mention, the path that it has there", async () => {
    await claude.turnEnded();
    // The CLI forgets the selection with each prompt: wait until it has received the selection again.
    await claude.showing(/⧉ In main\.lua/);
    await claude.command("edit other.lua");
    await claude.showing(/⧉ In other\.lua/);
    await claude.neovim.terminal.type("V");
    claude.model.script([[{ text: "It is a line." }]]);
    await claude.showing(/⧉ 1 line selected/);
    await claude.command("Claude send! what is that?");
    expect(newsText(await claude.model.nextRequest())).toContain(
      `The user selected the lines 1 to 1 from ${claude.inside("other.lua")}:\nreturn 1`,
    );
    await claude.press("Escape");
    await claude.showing(/It is a line\./);
    await claude.turnEnded();
    claude.model.script([[{ text: "Understood." }]]);
    await claude.command("Claude mention main.lua");
    await claude.showing(/@main\.lua/);
    await claude.command("Claude send and that?");
    await claude.showing(/and that\?/);
    await claude.pressEnter();
    // It is below the CLI's working folder, so it is a file on that machine.
    expect(newsText(await claude.model.nextRequest())).toContain("@main.lua and that?");
    await claude.command("edit main.lua");
  });
}

function reconnects(claude: InRemote): void {
  test("rejects a diff and connects again when the relay is killed", async () => {
    const text = await claude.onDisk("main.lua");
    await claude.propose("return name", "return lost");
    const [pid] = claude.container.pids(`^${EXECUTABLE} relay `);
    process.kill(pid as number, "SIGKILL");
    await eventually(() => claude.neovim.diff(), null);
    await claude.joined();
    await claude.written(text);
    await claude.leaveQuestion();
  });
}

function reviews(claude: InRemote): void {
  test("lists in the review what it changes without asking, and lets its tools read", async () => {
    await claude.command("Claude new --permission-mode acceptEdits");
    await claude.showing(/^❯/m, 2);
    await eventually(() => claude.clients(), ["dev", "dev"], START_MS);
    await claude.command("stopinsert | wincmd p | edit other.lua");
    const other = claude.inside("other.lua");
    claude.model.script([read(other), edit(other, "1", "2"), [{ text: "Done." }]]);
    await claude.neovim.lua(
      `require("port").prompt.send("go on", { submit = true, n = 2 }) return true`,
    );
    const request = await claude.received(UPDATED);
    const tools = request.tools?.map(({ name }) => name) ?? [];
    expect(tools).toContain("mcp__plugin_claude-code-nvim_nvim-lsp__find_symbol");
    expect(tools).not.toContain("mcp__plugin_claude-code-nvim_nvim-lsp__rename_symbol");
    expect(await claude.onDisk("other.lua")).toBe("return 2\n");
    const waiting = () =>
      claude.neovim.lua<number>("return (vim.b.claude_code_review or {}).hunks or 0");
    await eventually(waiting, 1, START_MS);
  });
}
