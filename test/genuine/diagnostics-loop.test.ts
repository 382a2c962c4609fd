import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Project } from "../hooks/project";
import { Claude, runHeadless } from "../support/claude";
import { claudeEnv, prepareClaudeHome } from "../support/claude-home";
import { eventually } from "../support/eventually";
import { Model } from "../support/model";
import { type ModelRequest, newsText, toolResults } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import {
  claudeCli,
  EXECUTABLE,
  NEOVIMS,
  NEWEST,
  type NeovimVersion,
  ROOT,
} from "../support/toolchain";
import { edit, read, say } from "../support/turns";

/*
 * The genuine CLI (Claude Code 2.1.330) with our hooks and stdio server, brought to it in each of
 * the three ways; Neovim is real, only the model is a stand-in. What the model receives is the proof.
 * It depends on the CLI alone: what hooks find in each Neovim is in test/hooks, so that one case is
 * enough for the older one.
 */
const CASE_MS = 120_000;
const FOUND = "Found 1 errors and 1 warnings in edited files.";

requireNamespace();
describe.each(NEOVIMS)("the loop with $name", loop);

function loop(version: NeovimVersion) {
  let project: Project;
  let model: Model;
  let home: string;
  let count = 0;

  beforeAll(async () => {
    project = await Project.open(version);
    home = project.neovim.home;
    mkdirSync(join(home, "tmp"), { recursive: true });
    model = new Model();
  }, CASE_MS);
  afterAll(async () => {
    model?.stop();
    await project?.[Symbol.asyncDispose]();
  }, CASE_MS);

  /** A new file, and a script in which Claude breaks it, is blocked, looks, fixes it, and ends. */
  function script(tool: string): string {
    const file = project.write(`main-${++count}.lua`, "local x = 1\n");
    const bad = "ERROR one\nWARN two";
    model.script([
      read(file),
      edit(file, "local x = 1", bad),
      say("All done."),
      [{ tool, input: {} }],
      edit(file, bad, "local x = 2"),
      say("Fixed."),
    ]);
    return file;
  }

  /** The requests of one scripted run, in order. */
  function requests(from: number): ModelRequest[] {
    return model.requests.slice(from);
  }

  /** Blocked once with the reason, shown the details, allowed after the fix; never blocked twice. */
  function expectLoop(from: number, file: string, tool: string) {
    const news = requests(from).map(newsText);
    expect(news).toHaveLength(6);
    expect(news[3]).toContain(FOUND);
    expect(news[3]).toContain(`Use '${tool}' to see details.`);
    const name = file.slice(project.folder.length + 1);
    expect(news[3]).toContain(`${name}:1:1 error: ERROR one (marks)`);
    const details = toolResults(requests(from)[4] as ModelRequest)[0] ?? "";
    expect(JSON.parse(details)).toEqual({
      [name]: [
        { line: 1, column: 1, severity: "ERROR", message: "ERROR one", source: "marks" },
        { line: 2, column: 1, severity: "WARN", message: "WARN two", source: "marks" },
      ],
    });
    expect(news.filter((text) => text.includes("Stop hook"))).toHaveLength(1);
    expect(readFileSync(file, "utf8")).toBe("local x = 2\n");
  }

  const launchArguments = () =>
    eventually("the server", async () => {
      const made = await project.neovim.lua<string[]>(
        "return require('port').launch.launch_arguments()",
      );
      return made.length > 0 && made;
    });

  async function headless(args: string[]) {
    const mode = ["--permission-mode", "acceptEdits"];
    const result = await runHeadless(
      { project: project.folder, home, model, args: [...mode, ...args] },
      "go",
    );
    expect(result).toMatchObject({ code: 0, stdout: "Fixed.\n" });
  }

  test(
    "claude -p with what goes along from Neovim: no file of the user's is touched",
    async () => {
      const tool = "mcp__nvim-lsp__get_session_diagnostics";
      const from = model.requests.length;
      const file = script(tool);
      await headless(await launchArguments());
      expectLoop(from, file, tool);
      // Without a connection to an editor, the hook after the edit reports what it broke.
      expect(requests(from).map(newsText)[2]).toContain("hook additional context: Problems in");
      expect(JSON.stringify(requests(from)[0])).toContain("What the user's Neovim knows");
      expect(existsSync(project.path(".claude"))).toBe(false);
    },
    CASE_MS,
  );

  if (version !== NEWEST) return;

  test(
    "the CLI in a terminal, connected to Neovim",
    async () => {
      const tool = "mcp__nvim-lsp__get_session_diagnostics";
      const { port } = await project.neovim.lock();
      const args = ["--permission-mode", "acceptEdits", ...(await launchArguments())];
      await using claude = await Claude.start({ project: project.folder, home, model, port, args });
      await claude.waitForEditor();
      const from = model.requests.length;
      const file = script(tool);
      await claude.prompt("go");
      await claude.terminal.waitFor("Fixed.");
      await claude.waitForIdle();
      expectLoop(from, file, tool);
      // The connection reports new problems itself.
      expect(requests(from).map(newsText)[2]).not.toContain("hook additional context");
    },
    CASE_MS,
  );

  test(
    "a language server that is still starting: the user reads that problems are unknown",
    async () => {
      const control = mkdtempSync(join(home, "tmp/server-"));
      writeFileSync(join(control, "starting"), "");
      await project.neovim.lua(
        `local command = ...
         require("port").config.get().diagnostics.busy_deadline_ms = 3000
         vim.api.nvim_create_autocmd("FileType", { pattern = "slow", callback = function(args)
           vim.lsp.start({ name = "scripted", cmd = command }, { bufnr = args.buf })
         end })
         vim.filetype.add({ extension = { slow = "slow" } })`,
        [process.execPath, join(ROOT, "test/support/scripted-language-server.ts"), control],
      );
      const file = project.write("main.slow", "one\n");
      model.script([read(file), edit(file, "one", "two"), say("All done.")]);
      const { port } = await project.neovim.lock();
      const args = ["--permission-mode", "acceptEdits", ...(await launchArguments())];
      await using claude = await Claude.start({ project: project.folder, home, model, port, args });
      await claude.waitForEditor();
      const from = model.requests.length;
      await claude.prompt("go");
      await claude.terminal.waitFor(/Waiting for language servers in Neovim/);
      await claude.terminal.waitFor(
        /diagnostics of main\.slow unknown \(scripted is still starting\)/,
      );
      await claude.waitForIdle();
      // The turn has ended: the model receives nothing more.
      expect(requests(from)).toHaveLength(3);
    },
    CASE_MS,
  );

  test(
    "set up with install-hooks, for a CLI outside; taken back byte for byte",
    async () => {
      await prepareClaudeHome(home, project.folder);
      const settings = project.write(".claude/settings.local.json", '{ "x": [1,2] }');
      const run = async (command: string) => {
        const child = Bun.spawn([EXECUTABLE, command, "--yes", "--claude", claudeCli()], {
          cwd: project.folder,
          env: claudeEnv(home, model.url),
          stdin: "ignore",
          stdout: "pipe",
          stderr: "inherit",
        });
        expect(await new Response(child.stdout).text()).toContain("Done.");
        expect(await child.exited).toBe(0);
      };
      const server = () =>
        JSON.parse(readFileSync(join(home, ".claude.json"), "utf8")).projects?.[project.folder]
          ?.mcpServers?.["nvim-lsp"];
      await run("install-hooks");
      expect(server()).toMatchObject({ type: "stdio", command: "/usr/bin/env" });

      const tool = "mcp__nvim-lsp__get_session_diagnostics";
      const from = model.requests.length;
      const file = script(tool);
      await headless(["--allowedTools", "mcp__nvim-lsp"]);
      expectLoop(from, file, tool);
      // What goes along from Neovim then leaves the hooks out, or they would run twice.
      expect((await launchArguments())[0]).not.toContain("hook stop");

      await run("uninstall-hooks");
      expect(readFileSync(settings, "utf8")).toBe('{ "x": [1,2] }');
      expect(server()).toBeUndefined();
      expect(existsSync(project.path(".nvim-claude"))).toBe(false);
    },
    CASE_MS,
  );

  test(
    "as a Claude Code plugin, and with the hooks of Neovim's terminal beside it",
    async () => {
      const stable = join(home, ".local/share/claude-code.nvim/bin/claude-code-nvim");
      if (!existsSync(stable)) {
        mkdirSync(join(stable, ".."), { recursive: true });
        copyFileSync(EXECUTABLE, stable);
      }
      const plugin = ["--plugin-dir", join(ROOT, "dist/claude-plugin")];
      const prefix = "mcp__plugin_claude-code-nvim_nvim-lsp";
      const tool = `${prefix}__get_session_diagnostics`;
      const from = model.requests.length;
      const file = script(tool);
      await headless([...plugin, "--allowedTools", prefix]);
      expectLoop(from, file, tool);

      const again = model.requests.length;
      const both = script("mcp__nvim-lsp__get_session_diagnostics");
      await headless([...plugin, ...(await launchArguments())]);
      expect(readFileSync(both, "utf8")).toBe("local x = 2\n");
      const blocked = requests(again).filter((request) =>
        newsText(request).includes("Stop hook feedback"),
      );
      expect(blocked).toHaveLength(1);
    },
    CASE_MS,
  );
}
