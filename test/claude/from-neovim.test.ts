import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import {
  claims,
  EXECUTABLE,
  eventually,
  expectMode,
  NEOVIMS,
  NEWEST,
  nightly,
  perBlock,
  stateFolderOf,
  TestClient,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { ENV_WITHOUT_HAZARDS } from "../../src/claude/command";
import { READING_TOOLS, toolName } from "../../src/claude/names";
import { basename, dirname, join, native } from "../../src/lib/platform";
import { Project } from "../hooks/project";
import { LATER, shows } from "../terminal/workbench";

/* Neovim's part of the loop: arguments for a CLI, setting projects up, sending. */
describe.each(NEOVIMS)("in $name", (version) => {
  const project = perBlock(() => Project.open(version));
  beforeAll(async () => {
    await project.neovim.lua(`
      _G.said, _G.asked = {}, {}
      vim.notify = function(text) table.insert(_G.said, text) end
      vim.fn.confirm = function(text, choices)
        table.insert(_G.asked, text .. "|" .. choices)
        return _G.answer
      end`);
  });
  beforeEach(() => project.neovim.lua("_G.said, _G.asked, _G.answer = {}, {}, 1"));

  const said = () => project.neovim.lua<string[]>("return _G.said");
  /** The last message of a command. */
  const told = async (command: string) => {
    await project.neovim.lua("_G.said, _G.asked = {}, {}");
    await project.neovim.command(command);
    return lastSaid();
  };
  const lastSaid = () => eventually("a message", async () => (await said()).at(-1) ?? false);

  describe("the plugin", () => {
    beforeAll(() => project.neovim.ready());
    afterEach(() => rmSync(project.path(".claude"), { recursive: true, force: true }));

    const off = () =>
      project.neovim.lua<string | null>(
        `return require("port").folder_setup(...).off or vim.NIL`,
        project.folder,
      );

    test("brings hooks, server and settings in one folder, which does not change", async () => {
      const [plugin = "", settings = ""] = await project.neovim.pluginArguments();
      const folder = plugin.slice("--plugin-dir=".length);
      expect(settings).toBe(`--settings=${folder}/settings.json`);
      const read = (name: string) => JSON.parse(readFileSync(join(folder, name), "utf8"));
      expect(read("settings.json")).toEqual({
        permissions: { allow: READING_TOOLS.map(toolName) },
        bashEditDiffEnabled: true,
        enabledPlugins: { "cc-plugin-diff@builtin": false, "claude-code-nvim@inline": true },
        disabledMcpjsonServers: ["plugin:claude-code-nvim:nvim-lsp"],
      });
      const [command, ...words] = [...ENV_WITHOUT_HAZARDS, native(EXECUTABLE)];
      expect(read("hooks/hooks.json").hooks.Stop[0].hooks[0]).toEqual({
        type: "command",
        command,
        args: [...words, "hook", "stop"],
        timeout: 75,
        statusMessage: expect.any(String),
      });
      expect(read(".mcp.json").mcpServers["nvim-lsp"]).toEqual({
        type: "stdio",
        command,
        args: [...words, "mcp"],
        env: { BUN_GC_TIMER_INTERVAL: "10000" },
      });
      const at = () => statSync(join(folder, "hooks/hooks.json")).mtimeMs;
      const before = at();
      await project.neovim.command("ClaudeCodeStop | ClaudeCodeStart");
      await project.neovim.ready();
      expect(await project.neovim.pluginArguments()).toEqual([plugin, settings]);
      expect(at()).toBe(before);
      expect(readdirSync(dirname(folder))).toContain(basename(folder));
    });

    test("is written again, and private, if it was damaged", async () => {
      const [plugin = ""] = await project.neovim.pluginArguments();
      const hooks = join(plugin.slice("--plugin-dir=".length), "hooks/hooks.json");
      const whole = readFileSync(hooks, "utf8");
      chmodSync(hooks, 0o600);
      writeFileSync(hooks, "");
      chmodSync(join(hooks, "../../.."), 0o777);
      await project.neovim.command("ClaudeCodeStop | ClaudeCodeStart");
      await project.neovim.ready();
      await eventually("the whole file", () => readFileSync(hooks, "utf8") === whole);
      expectMode(join(hooks, "../../.."), 0o700);
    });

    test("has the mod, unless terminal.mod is off", async () => {
      const modules = async () => {
        const [plugin = ""] = await project.neovim.pluginArguments();
        const folder = join(plugin.slice("--plugin-dir=".length), "hooks");
        const { modules: names = [] } = JSON.parse(
          readFileSync(join(folder, "hooks.json"), "utf8"),
        );
        return names.map((name: string) => readFileSync(join(folder, name), "utf8"));
      };
      expect(await modules()).toEqual([expect.stringContaining("export const register")]);
      await project.neovim.lua(`require("claude-code").setup({ terminal = { mod = false } })`);
      expect(await modules()).toEqual([]);
      await project.neovim.lua(`require("claude-code").setup({})`);
    });

    test("reports disableAllHooks and its file where it applies", async () => {
      claims("A project that turns the hooks off is reported");
      expect(await off()).toBeNull();
      project.write(".claude/settings.json", '\uFEFF{ "disableAllHooks": true }');
      const path = project.path(".claude/settings.json");
      expect(await off()).toBe(`disableAllHooks is true in ${path}`);
      project.write(".claude/settings.local.json", '{ "disableAllHooks": false }');
      expect(await off()).toBeNull();
      rmSync(project.path(".claude/settings.local.json"));
      project.write(".claude/settings.json", " ".repeat(2 ** 20 + 1));
      expect(await off()).toStartWith(`${path} cannot be read`);
    });

    const LONG = "claude-code-nvim ".repeat(60_000);
    test.each([
      ["a line of a megabyte", (path: string) => writeFileSync(path, LONG), null],
      [
        "3 GB",
        (path: string) => truncateSync(path, 3e9),
        expect.stringContaining("cannot be read"),
      ],
    ])("does not wait for a hostile settings file with %s", async (_name, make, why) => {
      claims("FIFOs and endless files keep nothing waiting");
      make(project.write(".claude/settings.json", ""));
      expect(await off()).toEqual(why);
    });

    test("is not passed with mcp.in_terminal = false", async () => {
      await project.neovim.lua(`require("claude-code").setup({ mcp = { in_terminal = false } })`);
      expect(await project.neovim.lua(`return require("port").plugin_arguments()`)).toEqual([]);
      await project.neovim.lua(`require("claude-code").setup({})`);
    });
  });

  describe(":Claude setup", () => {
    const settings = () => project.path(".claude/settings.local.json");
    const attend = (count: number) =>
      project.neovim.lua(`vim.api.nvim_list_uis = function()
        local uis = {} for i = 1, ${count} do uis[i] = {} end return uis end`);
    beforeEach(() => attend(1));

    test("shows the changes, asks, and changes nothing after No", async () => {
      project.write(".claude/settings.local.json", '{"mine": true}');
      await project.neovim.lua("_G.answer = 3");
      expect(await told("Claude setup")).toContain("nothing was changed");
      const [question] = await project.neovim.lua<string[]>("return _G.asked");
      expect(question).toContain(`change ${settings()}`);
      expect(question).toContain("|&Yes\nYes &and a section in CLAUDE.md\n&No");
      expect(readFileSync(settings(), "utf8")).toBe('{"mine": true}');
    });

    test.each([1, 2])("sets up by answer %d, once, and takes it back", async (answer) => {
      await project.neovim.lua("_G.answer = ...", answer);
      expect(await told("Claude setup")).toContain("set up for new Claude sessions");
      expect(readFileSync(settings(), "utf8")).toContain("claude-plugin/current");
      const address = await project.neovim.lua("return vim.v.servername");
      expect(readFileSync(project.path(".nvim-claude/nvim-server"), "utf8")).toBe(`${address}\n`);
      expect(existsSync(project.path("CLAUDE.md"))).toBe(answer === 2);

      expect(await told("Claude setup")).toContain("in place already");
      expect(await project.neovim.lua("return #_G.asked")).toBe(0);

      await project.neovim.lua("_G.answer = 1");
      expect(await told("Claude unsetup")).toContain(
        "what :Claude setup added to this project was removed",
      );
      expect(readFileSync(settings(), "utf8")).toBe('{"mine": true}');
      for (const name of [".nvim-claude", "CLAUDE.md"])
        expect(existsSync(project.path(name))).toBe(false);
    });

    test("only reports the executable without a user", async () => {
      await attend(0);
      expect(await project.neovim.command("Claude setup")).toContain(EXECUTABLE);
      expect(readFileSync(settings(), "utf8")).toBe('{"mine": true}');
    });
  });

  describe(":Claude diagnostics", () => {
    const message = [
      "I have a code snippet with LSP diagnostics that need to be fixed:",
      "",
      "File: code.lua",
      "Lines: 2-3",
      "",
      "````lua",
      "ERROR in ```",
      "local fine",
      "````",
      "",
      "LSP Diagnostics:",
      "- Line 2, Col 1 [ERROR]: ERROR in ```",
      "",
      "Please help me fix these issues.",
    ].join("\n");

    beforeEach(async () => {
      const path = project.write("code.lua", "first\nERROR in ```\nlocal fine\nWARN last\n");
      await project.neovim.command(`edit ${path}`);
      await project.neovim.until("the linter", "return #vim.diagnostic.get(0) == 2");
    });

    test("sends no lines without diagnostics, and says so", async () => {
      expect(await told("3Claude diagnostics")).toBe("nothing to send: no diagnostics in line 3");
    });

    test("sends nothing without a CLI, and says so", async () => {
      expect(await told("2,3Claude diagnostics")).toContain("no Claude runs in this Neovim");
    });

    test("mentions the lines to a CLI outside", async () => {
      // Not under the CLI's name: the CLI gets no mention in the first moments of its connection.
      using client = await TestClient.open(await project.neovim.lock());
      await project.neovim.until(
        "the client's name",
        "return #require('claude-code').status().clients == 1",
      );
      await project.neovim.command("2,3Claude diagnostics");
      const mention = { filePath: project.path("code.lua"), lineStart: 1, lineEnd: 2 };
      await eventually("the mention", () => {
        expect(client.notifications("at_mentioned")).toEqual([mention]);
      });
    });

    test("pastes them as one into Neovim's terminal, and submits", async () => {
      const program = `stty -icanon -echo -icrnl; ${LATER} echo ready; exec cat -v`;
      await project.neovim.lua(`require("claude-code").setup({
        terminal = { command = { "sh", "-c", "${program}", "claude" } } })`);
      await project.neovim.command("Claude");
      // Before that the terminal would change what is pasted.
      await shows(project.neovim, "ready");
      await project.neovim.command(`stopinsert | wincmd t | edit ${project.path("code.lua")}`);
      await project.neovim.command("2,3Claude diagnostics");
      await shows(project.neovim, `^[[200~${message}^[[201~^M`);
      await project.neovim.command("Claude close");
      await project.neovim.lua(`require("claude-code").setup({})`);
    });

    test.each([
      ["a terminal", "terminal", "this buffer is not a file"],
      ["a private file", "edit .env", "is private"],
    ])("does not send any part of %s", async (_name, command, reason) => {
      project.write(".env", "ERROR=1\n");
      await project.neovim.command(command);
      expect(await told("1Claude diagnostics")).toContain(reason);
    });
  });
});

nightly.test("sets a project up with mcp.auto_install without asking, and notes it", async () => {
  const folder = temporaryFolder();
  const version = NEWEST;
  const setup = "{ mcp = { auto_install = true } }";
  const settings = join(folder, ".claude/settings.local.json");
  await using neovim = await TestNeovim.start({ version, cwd: folder, setup });
  await eventually("the settings", () => existsSync(settings));
  // `install-hooks --once` relies on it.
  await eventually("the record", () => existsSync(join(stateFolderOf(neovim.home), "projects")));
});
