import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import {
  constants,
  eventually,
  isolatedEnv,
  NEOVIMS,
  PORT,
  perBlock,
  ROOT,
  temporaryFolder,
} from "#test";
import { join } from "../../src/lib/platform";
import { Terminal } from "../support/tmux";
import { AT_ONCE, said, startNeovim } from "./workbench";

describe.each(NEOVIMS)("terminal.provider in $name", (version) => {
  const neovim = perBlock(() => startNeovim(version, "{ auto_start = false }"));

  const setup = async (provider: string): Promise<string[]> => {
    await neovim.lua(`
      SAID = {}
      require("claude-code").setup({
        auto_start = false,
        terminal = { command = "cat", provider = ${provider} },
      })
      vim.wait(10)`);
    return neovim.lua<string[]>("return SAID");
  };

  test("calls the user's own table for everything: open() returns a terminal for each", async () => {
    expect(
      await setup(`{
        open = function(launch)
          CALLS, EXIT = CALLS or {}, launch.on_exit
          local function call(name, ...) table.insert(CALLS, { name .. " " .. launch.number, ... }) end
          call("open", vim.fs.basename(launch.command[1]), launch.command[2], launch.env.NVIM ~= nil)
          return {
            close = function()
              call("close")
              launch.on_exit(-1)
            end,
            send = function(self, text, submit) call("send", text, submit) end,
            focus = function() call("focus") end,
          }
        end,
      }`),
    ).toEqual([]);
    /** Texts no longer wait for the terminal. */
    const opened = async (n: number) => {
      await neovim.until("open()", `return require("port").running.is_open(...)`, n);
      await neovim.lua(
        `HAS_BEGUN = false
        require("port").running.when_begun(..., function() HAS_BEGUN = true end)`,
        n,
      );
      await neovim.until("its beginning", "return HAS_BEGUN");
    };
    await neovim.command("Claude");
    await opened(1);
    const run = async (...commands: string[]) => {
      for (const command of commands) await neovim.command(command);
    };
    // A provider without hide() at least shows it.
    await run("Claude send! hello", "Claude focus", "Claude", "Claude new");
    await opened(2);
    await run("Claude send words", "1ClaudeCode", "Claude send more");
    await neovim.until("a pause after the prompt", "return CALLS[#CALLS][2] == 'more'");
    await run("Claude close");
    await run("Claude send last", "Claude close");
    expect((await said(neovim)).join()).not.toContain("code -1");
    await neovim.command("Claude");
    await opened(1);
    // A callback of vim.system() calls it like this.
    await neovim.lua("vim.uv.new_timer():start(0, 0, function() EXIT(3) end)");
    await eventually("the end", async () =>
      expect((await said(neovim)).at(-1)).toMatch(/Claude ended with code 3$/),
    );
    expect(await neovim.lua(`return require("port").running.is_any_open()`)).toBe(false);
    expect(await neovim.lua<unknown[]>("return CALLS")).toEqual([
      ["open 1", "cat", "--session-id", true],
      ...[["send 1", "hello", true], ["focus 1"], ["focus 1"]],
      ["open 2", "cat", "--session-id", true],
      ...[["send 2", "words", false], ["focus 1"], ["send 1", "more", false], ["close 1"]],
      ...[["send 2", "last", false], ["close 2"]],
      ["open 1", "cat", "--session-id", true],
    ]);
  });

  test.each(["{ close = print, send = print, is_open = print }", "{ open = 1 }"])(
    "refuses %s",
    async (provider) => {
      const [text] = await setup(provider);
      expect(text).toContain("terminal.provider: expected one of");
      expect(text).toContain("a table with the function open, got {");
    },
  );

  test("names a table whose function fails", async () => {
    await setup(`{ open = function() error("no window today") end }`);
    await neovim.command("Claude");
    expect(await said(neovim)).toEqual([
      expect.stringContaining(`open() of the terminal provider "your own" failed`),
    ]);
    for (const wrong of ["true", `{ send = print, close = print, pid = "12" }`]) {
      await setup(`{ open = function() return ${wrong} end }`);
      await neovim.command("Claude");
      expect(await said(neovim)).toContainEqual(
        expect.stringContaining("returned no table with send() and close()"),
      );
    }
    const odd = `{ { send = print, close = print, pid = "12" }, "x" }`;
    await setup(`{ open = print, left = function() return ${odd} end }`);
    await neovim.command("Claude");
    expect(await neovim.lua(`return #require("claude-code").sessions()`)).toBe(0);
  });

  test("works with the help's provider for WezTerm, whose program notes its arguments", async () => {
    const folder = join(neovim.home, "wezterm");
    const log = join(folder, "log");
    mkdirSync(folder);
    const program = `#!/bin/sh
      [ ! -e ${folder}/broken ] || { echo no such pane >&2; exit 1; }
      shift
      text=
      case $1 in split-pane) echo 7;; send-text) text="<$(cat)>";; esac
      printf '%s\\n' "$*$text" >>${log}`;
    writeFileSync(join(folder, "wezterm"), program);
    chmodSync(join(folder, "wezterm"), 0o755);
    symlinkSync("/bin/cat", join(folder, "claude"));
    const help = readFileSync(join(ROOT, "doc/claude-code.txt"), "utf8");
    const recipe = /For WezTerm: >lua\n([\s\S]+?)\n</.exec(help)?.[1] as string;
    await neovim.lua(`vim.env.PATH = ... .. ":" .. vim.env.PATH`, folder);
    await neovim.lua(recipe);
    const told = async (command: string, ...lines: unknown[]) => {
      rmSync(log, { force: true });
      await neovim.command(command);
      await eventually(command, () =>
        expect(readFileSync(log, "utf8").trimEnd().split("\n")).toEqual(lines as string[]),
      );
    };
    const opened = /^split-pane --right --cwd \/.* -- env .*\bCLAUDE_CODE_NVIM_SESSION=1 .*claude /;
    await told("Claude", expect.stringMatching(opened));
    const pane = "--pane-id 7";
    await told("Claude send hello", `send-text ${pane}<hello>`);
    await told("Claude send! now", `send-text ${pane}<now>`, `send-text --no-paste ${pane}<\r>`);
    await told("Claude", `move-pane-to-new-tab ${pane}`);
    await told("Claude", "split-pane --right --move-pane-id 7", `activate-pane ${pane}`);
    expect(await neovim.lua(`return require("claude-code").sessions()[1].where`)).toBe("WezTerm");
    writeFileSync(join(folder, "broken"), "");
    await neovim.lua("SAID = {}");
    await neovim.command("Claude send lost");
    const failed = /send\(\) of .*"wezterm" failed: .*no such pane/;
    await eventually("the failure", async () =>
      expect((await said(neovim)).join()).toMatch(failed),
    );
    rmSync(join(folder, "broken"));
    await told("Claude close", `kill-pane ${pane}`);
  });

  const absent: [provider: string, message: string][] = [
    ["none", "start `claude` yourself"],
    ["snacks", "folke/snacks.nvim is not installed"],
    ["tmux", "Neovim does not run in tmux"],
  ];
  test.each(absent)("%s: says what to do", async (provider, message) => {
    await neovim.lua("vim.env.TMUX = nil");
    expect(await setup(`"${provider}"`)).toEqual([]);
    await neovim.command("Claude");
    expect(await said(neovim)).toEqual([expect.stringContaining(message)]);
  });
});

describe.each(NEOVIMS)("tmux beside $name", (version) => {
  const home = temporaryFolder();
  const socket = join(home, "nvim.sock");
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const ask = async (expression: string) => {
    const child = Bun.spawn([version.binary, "--server", socket, "--remote-expr", expression], {
      stderr: "ignore",
    });
    return (await new Response(child.stdout).text()).trim();
  };
  const run = (command: string) => ask(`execute("${command}")`);
  /** Its pane, when Claude's has its share of the 400 columns or 50 lines, or is hidden. */
  const neovimHas = (size: string) =>
    eventually(`${size} for Neovim`, async () =>
      expect(await ask(`&columns .. "x" .. &lines`)).toBe(size),
    );

  test("opens a pane, types into it, hides and shows it, and ends it with Neovim", async () => {
    for (const folder of ["run", "tmp", "project"]) mkdirSync(join(home, folder));
    const show = `printf '<%s>\\n' "$PWD" "$CLAUDE_CODE_SSE_PORT" "$NVIM" "$CLAUDE_CONFIG_DIR"; exec cat`;
    // env(1) would take it for a variable.
    const shell = join(home, "a=b");
    symlinkSync("/bin/sh", shell);
    const command = `{ "${shell}", "-c", [[${show}]] }`;
    const options = `{ terminal = { provider = "tmux", command = ${command} } }`;
    const below = `{ terminal = { provider = 'tmux', position = 'bottom' } }`;
    // tmux shows the screen of the pane that has the focus.
    await using terminal = await Terminal.start({
      command: [
        ...[version.binary, "--clean", "--listen", socket, "--cmd", `set runtimepath^=${ROOT}`],
        ...["-c", `lua ${PORT} ${constants(AT_ONCE)} require("claude-code").setup(${options})`],
      ],
      cwd: join(home, "project"),
      columns: 400,
      env: { ...isolatedEnv(home), CLAUDE_CONFIG_DIR: join(home, "config;") },
    });
    const portOf = async () => (await ask("$CLAUDE_CODE_SSE_PORT")) || false;
    const port = await eventually("the server", portOf);

    // tmux would run what is in the parentheses.
    const trap = join(home, "trap");
    const folder = `${home}/#(touch ${trap})`;
    mkdirSync(folder, { recursive: true });
    await ask(`chdir('${folder}')`);
    await run("Claude");
    for (const value of [folder, port, socket, join(home, "config;")])
      await terminal.waitFor(`<${value}>`);
    const SPLIT = "255x50";
    const steps: [command: string, size: string, ...shown: (string | RegExp)[]][] = [
      ["Claude send! eins zwei;", SPLIT, /eins zwei;\s+eins zwei;/],
      ["Claude", "400x50"],
      ["Claude focus", SPLIT, /eins zwei;\s+eins zwei;/],
      // The share is that of the columns which Neovim has just then.
      ["Claude", "400x50"],
      ["Claude", SPLIT],
      // Another one takes the place of the first, which runs on in a window of its own.
      ["Claude new", SPLIT],
      ["Claude send! drei", SPLIT, /drei\s+drei/],
      ["1ClaudeCode", SPLIT, "eins zwei"],
    ];
    // This acts like another Neovim that sends at the same moment.
    const other = "set-buffer -b claude-code.nvim another";
    await terminal.tmux("set-hook", "-g", "after-load-buffer", other);
    for (const [command, size, ...shown] of steps) {
      await run(command);
      await neovimHas(size);
      for (const text of shown) await terminal.waitFor(text);
      if (command.includes("drei")) expect(await terminal.screen()).not.toContain("eins zwei");
    }
    expect(existsSync(trap)).toBe(false);
    expect(await terminal.screen()).not.toContain("drei");
    expect(await ask(`luaeval("#require('claude-code').sessions()")`)).toBe("2");

    await ask(`luaeval("require('claude-code').setup(${below})")`);
    for (const size of ["400x50", "400x32"]) {
      await run("Claude");
      await neovimHas(size);
    }

    run("qa").catch(() => {});
    // Only Neovim's own pane, which has ended, is left.
    await eventually("the end of Neovim", () => terminal.ended());
    expect(await terminal.screen()).not.toContain("eins zwei");
  });
});
