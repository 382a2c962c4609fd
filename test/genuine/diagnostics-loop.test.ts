import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  claims,
  claudeCli,
  EXECUTABLE,
  NEOVIMS,
  NEWEST,
  type NeovimVersion,
  nightly,
  run,
} from "#test";
import { join } from "../../src/lib/platform";
import { OPENED, Project } from "../hooks/project";
import { Claude, runHeadless } from "../support/claude";
import { claudeEnv, prepareClaudeHome } from "../support/claude-home";
import { languageServer } from "../support/lsp-stdio";
import { Model } from "../support/model";
import { type ModelRequest, newsText, toolResults } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { edit, read, say } from "../support/turns";

const TOOL = "mcp__plugin_claude-code-nvim_nvim-lsp__get_session_diagnostics";
const FOUND = "Found 1 error and 1 warning in edited files.";

/** A project in a real Neovim that marks problems, and the genuine CLI, which must fix them before its turn ends. */
class Loop {
  project!: Project;
  model!: Model;
  #count = 0;

  private constructor() {}

  static inBlock(version: NeovimVersion): Loop {
    const loop = new Loop();
    beforeAll(async () => {
      loop.project = await Project.open(version);
      mkdirSync(join(loop.home, "tmp"), { recursive: true });
      loop.model = new Model();
    });
    afterAll(async () => {
      loop.model?.stop();
      await loop.project?.[Symbol.asyncDispose]();
    });
    return loop;
  }

  get home(): string {
    return this.project.neovim.home;
  }

  get folder(): string {
    return this.project.folder;
  }

  /** A new file, and a script in which Claude breaks it, is blocked, looks, fixes it, and ends. */
  script(): string {
    const file = this.project.write(`main-${++this.#count}.lua`, "local x = 1\n");
    const bad = "ERROR one\nWARN two";
    this.model.script([
      read(file),
      edit(file, "local x = 1", bad),
      say("All done."),
      [{ tool: TOOL, input: {} }],
      edit(file, bad, "local x = 2"),
      say("Fixed."),
    ]);
    return file;
  }

  requests(from: number): ModelRequest[] {
    return this.model.requests.slice(from);
  }

  /** Blocked once with the reason, shown the details, allowed after the fix; never blocked twice. */
  expectLoop(from: number, file: string): void {
    const news = this.requests(from).map(newsText);
    expect(news).toHaveLength(6);
    expect(news[3]).toContain(FOUND);
    expect(news[3]).toContain(`Use '${TOOL}' to see details.`);
    const name = file.slice(this.folder.length + 1);
    expect(news[3]).toContain(`${name}:1:1 error: ERROR one (marks)`);
    const details = toolResults(this.requests(from)[4] as ModelRequest)[0] ?? "";
    expect(JSON.parse(details)).toEqual({
      [name]: [
        { line: 1, column: 1, severity: "ERROR", message: "ERROR one", source: "marks" },
        { line: 2, column: 1, severity: "WARN", message: "WARN two", source: "marks" },
      ],
    });
    expect(news.filter((text) => text.includes("Stop hook"))).toHaveLength(1);
    expect(readFileSync(file, "utf8")).toBe("local x = 2\n");
  }

  async headless(args: string[]): Promise<void> {
    const { folder: project, home, model } = this;
    const all = ["--permission-mode", "acceptEdits", ...args];
    const result = await runHeadless({ project, home, model, args: all }, "go");
    expect(result).toMatchObject({ code: 0, stdout: "Fixed.\n" });
  }

  async claude(): Promise<Claude> {
    const { folder: project, home, model } = this;
    const { port } = await this.project.neovim.lock();
    const args = [
      "--permission-mode",
      "acceptEdits",
      ...(await this.project.neovim.pluginArguments()),
    ];
    const claude = await Claude.start({ project, home, model, port, args });
    await claude.waitForEditor();
    return claude;
  }
}

requireNamespace();
describe.each(NEOVIMS)("the loop with $name", (version) => {
  const loop = Loop.inBlock(version);

  test("runs in claude -p, in a project that tries to replace or disable the plugin", async () => {
    claims("A project cannot replace the plugin for Claude Code");
    const settings = {
      enabledPlugins: { "claude-code-nvim@inline": false },
      enableAllProjectMcpServers: true,
    };
    const servers = { "plugin:claude-code-nvim:nvim-lsp": { command: "/bin/false", args: [] } };
    const files = [
      loop.project.write(".claude/settings.json", JSON.stringify(settings)),
      loop.project.write(".mcp.json", JSON.stringify({ mcpServers: servers })),
    ];
    const from = loop.model.requests.length;
    const file = loop.script();
    await loop.headless(await loop.project.neovim.pluginArguments());
    loop.expectLoop(from, file);
    // Without a connection to an editor, the hook after the edit reports what it broke.
    expect(loop.requests(from).map(newsText)[2]).toContain("hook additional context: Problems in");
    expect(JSON.stringify(loop.requests(from)[0])).toContain("What the user's Neovim knows");
    for (const path of [...files, loop.project.path(".claude")]) rmSync(path, { recursive: true });
  });

  test("runs in a terminal, connected to Neovim", async () => {
    await using claude = await loop.claude();
    const from = loop.model.requests.length;
    const file = loop.script();
    await claude.prompt("go");
    await claude.terminal.waitFor("Fixed.");
    await claude.waitForIdle();
    loop.expectLoop(from, file);
    // The connection reports new problems itself.
    expect(loop.requests(from).map(newsText)[2]).not.toContain("hook additional context");
    expect(existsSync(loop.project.path(".claude"))).toBe(false);
  });
});

/* Other ways to bring the hooks and the server to the CLI, also with a language server that is not ready. */
nightly.describe(`the loop with ${NEWEST.name}`, () => {
  const loop = Loop.inBlock(NEWEST);

  test("says that problems are unknown while a language server starts", async () => {
    const control = mkdtempSync(join(loop.home, "tmp/server-"));
    writeFileSync(join(control, "starting"), "");
    await loop.project.neovim.lua(
      `local command = ...
         require("port").sessions.BUSY_DEADLINE_MS = 3000
         vim.api.nvim_create_autocmd("FileType", { pattern = "slow", callback = function(args)
           vim.lsp.start({ name = "scripted", cmd = command }, { bufnr = args.buf })
         end })
         vim.filetype.add({ extension = { slow = "slow" } })
         local servers = { slow = true }
         ${OPENED}`,
      languageServer(control),
    );
    const file = loop.project.write("main.slow", "one\n");
    loop.model.script([read(file), edit(file, "one", "two"), say("All done.")]);
    await using claude = await loop.claude();
    const from = loop.model.requests.length;
    await claude.prompt("go");
    await claude.terminal.waitFor(/Waiting for language servers in Neovim/);
    await claude.terminal.waitFor(
      /diagnostics of main\.slow unknown \(scripted is still starting\)/,
    );
    await claude.waitForIdle();
    // The turn has ended: the model receives nothing more.
    expect(loop.requests(from)).toHaveLength(3);
  });

  test("runs through install-hooks in a CLI outside; is taken back byte for byte", async () => {
    await prepareClaudeHome(loop.home, loop.folder);
    const settings = loop.project.write(".claude/settings.local.json", '{ "x": [1,2] }');
    const setUp = async (command: string) => {
      const env = claudeEnv(loop.home, loop.model.url);
      const words = [EXECUTABLE, command, "--yes", "--claude", claudeCli()];
      const stdout = expect.stringContaining("Done.");
      expect(await run(words, { cwd: loop.folder, env })).toMatchObject({ code: 0, stdout });
    };
    await setUp("install-hooks");

    const from = loop.model.requests.length;
    const file = loop.script();
    await loop.headless(["--allowedTools", "mcp__plugin_claude-code-nvim_nvim-lsp"]);
    loop.expectLoop(from, file);

    // If it has the plugin twice, the CLI takes the one from its arguments.
    const again = loop.model.requests.length;
    loop.script();
    await loop.headless(await loop.project.neovim.pluginArguments());
    const blocked = loop
      .requests(again)
      .filter((request) => newsText(request).includes("Stop hook feedback"));
    expect(blocked).toHaveLength(1);

    await setUp("uninstall-hooks");
    expect(readFileSync(settings, "utf8")).toBe('{ "x": [1,2] }');
    expect(existsSync(loop.project.path(".nvim-claude"))).toBe(false);
  });
});
