import { describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { OPENED } from "../hooks/project";
import { claudeEnv, prepareClaudeHome } from "../support/claude-home";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { claudeCli, EXECUTABLE, NEWEST, ROOT } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { Loop } from "./diagnostics-loop";

/*
 * The genuine CLI (Claude Code 2.1.330) with our hooks and stdio server, brought to it in other ways, and
 * beside a language server that is not ready.
 */
requireNamespace();
describe(`the loop with ${NEWEST.name}`, () => {
  const loop = Loop.inBlock(NEWEST);

  test("a language server that is still starting: the user reads that problems are unknown", async () => {
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
      [process.execPath, join(ROOT, "test/support/scripted-language-server.ts"), control],
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

  test("set up with install-hooks, for a CLI outside; taken back byte for byte", async () => {
    await prepareClaudeHome(loop.home, loop.folder);
    const settings = loop.project.write(".claude/settings.local.json", '{ "x": [1,2] }');
    const run = async (command: string) => {
      const child = Bun.spawn([EXECUTABLE, command, "--yes", "--claude", claudeCli()], {
        cwd: loop.folder,
        env: claudeEnv(loop.home, loop.model.url),
        stdin: "ignore",
        stdout: "pipe",
        stderr: "inherit",
      });
      expect(await new Response(child.stdout).text()).toContain("Done.");
      expect(await child.exited).toBe(0);
    };
    const server = () =>
      JSON.parse(readFileSync(join(loop.home, ".claude.json"), "utf8")).projects?.[loop.folder]
        ?.mcpServers?.["nvim-lsp"];
    await run("install-hooks");
    expect(server()).toMatchObject({ type: "stdio", command: "/usr/bin/env" });

    const tool = "mcp__nvim-lsp__get_session_diagnostics";
    const from = loop.model.requests.length;
    const file = loop.script(tool);
    await loop.headless(["--allowedTools", "mcp__nvim-lsp"]);
    loop.expectLoop(from, file, tool);
    // What goes along from Neovim then leaves the hooks out, or they would run twice.
    expect((await loop.launchArguments())[0]).not.toContain("hook stop");

    await run("uninstall-hooks");
    expect(readFileSync(settings, "utf8")).toBe('{ "x": [1,2] }');
    expect(server()).toBeUndefined();
    expect(existsSync(loop.project.path(".nvim-claude"))).toBe(false);
  });

  test("as a Claude Code plugin, and with the hooks of Neovim's terminal beside it", async () => {
    const stable = join(loop.home, ".local/share/claude-code.nvim/bin/claude-code-nvim");
    if (!existsSync(stable)) {
      mkdirSync(join(stable, ".."), { recursive: true });
      copyFileSync(EXECUTABLE, stable);
    }
    const plugin = ["--plugin-dir", join(ROOT, "dist/claude-plugin")];
    const prefix = "mcp__plugin_claude-code-nvim_nvim-lsp";
    const tool = `${prefix}__get_session_diagnostics`;
    const from = loop.model.requests.length;
    const file = loop.script(tool);
    await loop.headless([...plugin, "--allowedTools", prefix]);
    loop.expectLoop(from, file, tool);

    const again = loop.model.requests.length;
    const both = loop.script("mcp__nvim-lsp__get_session_diagnostics");
    await loop.headless([...plugin, ...(await loop.launchArguments())]);
    expect(readFileSync(both, "utf8")).toBe("local x = 2\n");
    const blocked = loop
      .requests(again)
      .filter((request) => newsText(request).includes("Stop hook feedback"));
    expect(blocked).toHaveLength(1);
  });
});
