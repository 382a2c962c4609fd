import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  claims,
  EXECUTABLE,
  eventually,
  NEOVIMS,
  NEWEST,
  nightly,
  perBlock,
  TestClient,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { ENV_WITHOUT_HAZARDS } from "../../src/claude/command";
import { type HookSettings, hookSettings } from "../../src/claude/hooks";
import { READING_TOOLS } from "../../src/claude/names";
import { stablePath } from "../../src/lib/paths";
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

  describe("launch_arguments", () => {
    const launch = (...folder: string[]) =>
      project.neovim.lua<string[]>(`return require("port").launch_arguments(...)`, ...folder);
    beforeAll(() => project.neovim.ready());
    afterEach(() => rmSync(project.path(".claude"), { recursive: true, force: true }));

    async function parsed(...folder: string[]) {
      const [settings = "", servers = ""] = await launch(...folder);
      expect(settings).toStartWith("--settings=");
      expect(servers).toStartWith("--mcp-config=");
      return {
        settings: JSON.parse(settings.slice("--settings=".length)),
        servers: JSON.parse(servers.slice("--mcp-config=".length)).mcpServers,
      };
    }

    const stable = () =>
      join(project.neovim.home, ".local/share/claude-code.nvim/bin/claude-code-nvim");

    /** The settings that `install-hooks` writes for this user; its program has to exist. */
    function installed(): HookSettings {
      mkdirSync(dirname(stable()), { recursive: true });
      if (!existsSync(stable())) symlinkSync(EXECUTABLE, stable());
      return JSON.parse(JSON.stringify(hookSettings()).replaceAll(stablePath(), stable()));
    }

    test("has the hooks of a project's settings, and the server", async () => {
      const { settings, servers } = await parsed();
      const line = (event: string, env = {}) => {
        const more = Object.entries(env).map(([name, value]) => `${name}=${value}`);
        const words = [...ENV_WITHOUT_HAZARDS, ...more, EXECUTABLE, "hook", event];
        return `${words.join(" ")} --from-neovim`;
      };
      expect(settings).toEqual({
        permissions: { allow: READING_TOOLS.map((tool) => `mcp__nvim-lsp__${tool}`) },
        bashEditDiffEnabled: true,
        enabledPlugins: { "cc-plugin-diff@builtin": false },
        hooks: hookSettings(line) as never,
      });
      expect(servers).toEqual({
        "nvim-lsp": {
          type: "stdio",
          command: "/usr/bin/env",
          args: [...ENV_WITHOUT_HAZARDS.slice(1), EXECUTABLE, "mcp"],
          env: { BUN_GC_TIMER_INTERVAL: "10000" },
        },
      });
    });

    test.each([
      [".claude/settings.local.json", false],
      [".claude/settings.json", false],
      ["deep/.claude/settings.json", true],
    ])("passes hooks along beside those in %s: %p", async (name, along) => {
      const text = JSON.stringify({ hooks: installed() });
      project.write(name, text);
      const { settings, servers } = await parsed();
      expect(settings.hooks !== undefined).toBe(along);
      expect(servers["nvim-lsp"]).toBeDefined();
    });

    test.each([
      ["no repository", undefined, true],
      ["a repository around both", ".git", false],
      ["a repository of its own", "below/.git", true],
    ])(
      "passes hooks along beside those of the folder above, with %s: %p",
      async (_name, git, along) => {
        project.write(".claude/settings.local.json", JSON.stringify({ hooks: installed() }));
        mkdirSync(project.path("below"), { recursive: true });
        if (git) mkdirSync(project.path(git));
        const { settings } = await parsed(project.path("below"));
        expect(settings.hooks !== undefined).toBe(along);
        if (git) rmSync(project.path(git), { recursive: true });
      },
    );

    test.each<[what: string, settings: () => object]>([
      ["a deny rule", () => ({ permissions: { deny: ["Bash(claude-code-nvim hook stop)"] } })],
      ["a command", () => ({ hooks: hooksOf("true # claude-code-nvim hook stop") })],
      ["one hook of ours", () => ({ hooks: { Stop: installed().Stop } })],
      ["all, one for another tool", () => ({ hooks: { ...installed(), PostToolUse: OTHER } })],
      ["all, with a time-out of its own", () => ({ hooks: hurried(installed()) })],
      ["all, whose program is gone", withoutProgram],
    ])("passes hooks along beside %s that names our hook", async (_what, settings) => {
      project.write(".claude/settings.json", JSON.stringify(settings()));
      expect((await parsed()).settings.hooks).toBeDefined();
    });

    function withoutProgram(): object {
      const hooks = installed();
      rmSync(stable());
      return { hooks };
    }
    const hooksOf = (command: string) => ({ Stop: [{ hooks: [{ type: "command", command }] }] });
    const OTHER = [{ ...hookSettings().PostToolUse?.[0], matcher: "Read" }];
    const hurried = (hooks: HookSettings) =>
      JSON.parse(JSON.stringify(hooks).replaceAll(/"timeout":\d+/g, '"timeout":0.001'));

    test("reports disableAllHooks, with its file, where it holds", async () => {
      claims("A project that turns the hooks off is reported");
      const off = () =>
        project.neovim.lua<string | null>(
          `return require("port").folder_setup(...).off or vim.NIL`,
          project.folder,
        );
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
      ["a line of a megabyte", (path: string) => writeFileSync(path, LONG)],
      ["3 GB", (path: string) => truncateSync(path, 3e9)],
    ])("waits for no hostile settings file with %s", async (_name, make) => {
      claims("FIFOs and endless files keep nothing waiting");
      make(project.write(".claude/settings.json", ""));
      expect((await parsed()).settings.hooks).toBeDefined();
    });

    test("passes nothing along with mcp.in_terminal = false", async () => {
      await project.neovim.lua(`require("claude-code").setup({ mcp = { in_terminal = false } })`);
      expect(await launch()).toEqual([]);
      await project.neovim.lua(`require("claude-code").setup({})`);
    });
  });

  describe(":Claude setup", () => {
    const settings = () => project.path(".claude/settings.local.json");
    const attend = (count: number) =>
      project.neovim.lua(`vim.api.nvim_list_uis = function()
        local uis = {} for i = 1, ${count} do uis[i] = {} end return uis end`);
    beforeEach(() => attend(1));

    test("shows the changes, asks, and changes nothing by No", async () => {
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
      expect(readFileSync(settings(), "utf8")).toContain("hook stop");
      const address = await project.neovim.lua("return vim.v.servername");
      expect(readFileSync(project.path(".nvim-claude/nvim-server"), "utf8")).toBe(`${address}\n`);
      expect(existsSync(project.path("CLAUDE.md"))).toBe(answer === 2);

      expect(await told("Claude setup")).toContain("in place already");
      expect(await project.neovim.lua("return #_G.asked")).toBe(0);

      await project.neovim.lua("_G.answer = 1");
      expect(await told("Claude unsetup")).toContain("all changes to this project were removed");
      expect(readFileSync(settings(), "utf8")).toBe('{"mine": true}');
      for (const name of [".nvim-claude", "CLAUDE.md"])
        expect(existsSync(project.path(name))).toBe(false);
    });

    test("finds only the executable without a user", async () => {
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
    ])("sends nothing of %s", async (_name, command, reason) => {
      project.write(".env", "ERROR=1\n");
      await project.neovim.command(command);
      expect(await told("1Claude diagnostics")).toContain(reason);
    });
  });
});

nightly.test("sets a project up by mcp.auto_install without asking, and notes it", async () => {
  const folder = temporaryFolder();
  const version = NEWEST;
  const setup = "{ mcp = { auto_install = true } }";
  const settings = join(folder, ".claude/settings.local.json");
  await using neovim = await TestNeovim.start({ version, cwd: folder, setup });
  await eventually("the settings", () => existsSync(settings));
  // `install-hooks --once` relies on it.
  await eventually("the record", () =>
    existsSync(join(neovim.home, ".local/state/claude-code.nvim/projects")),
  );
});
