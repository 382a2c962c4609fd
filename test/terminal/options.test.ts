import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { eventually, NEOVIMS, perBlock, ROOT, TestClient } from "#test";
import { join } from "../../src/lib/platform";
import {
  configure,
  ECHO,
  LATER,
  openEcho,
  plays,
  reset,
  resize,
  SCREEN,
  said,
  shows,
  startNeovim,
  windows,
} from "./workbench";

/** A program that prints the shell's expansion of `words`, and keeps running. */
const print = (words: string) => `{ "sh", "-c", '${LATER} echo "<${words}>"; exec cat' }`;

describe.each(NEOVIMS)("options of Claude's terminal in $name", (version) => {
  const neovim = perBlock(() => startNeovim(version, "{ auto_start = false }"));
  beforeAll(async () => {
    mkdirSync(join(neovim.cwd, ".git"));
    mkdirSync(join(neovim.cwd, "src/deep"), { recursive: true });
  });
  const floating = () =>
    neovim.lua<string>(`
      for _, win in ipairs(vim.api.nvim_list_wins()) do
        local config = vim.api.nvim_win_get_config(win)
        if config.relative ~= "" then
          return config.width .. "x" .. config.height .. " " .. (config.border or { "" })[1]
        end
      end
      return ""`);
  /** The word `float` is the size and the border of a float. */
  const play = (script: string) => plays(neovim, script, { float: floating });
  afterEach(async () => {
    await neovim.command(`silent! tcd ${neovim.cwd}`);
    await reset(neovim);
    await resize(neovim, SCREEN.width, SCREEN.height);
  });

  describe("terminal.cwd", () => {
    const FOLDERS: [option: string, folder: string][] = [
      ["nil", "src/deep"],
      [`"root"`, "."],
      [`".."`, "src"],
      [`function(folder) return folder .. "/.." end`, "src"],
      ["function() end", "src/deep"],
    ];
    test.each(FOLDERS)("%s", async (option, folder) => {
      await configure(neovim, `{ command = ${print("$(pwd -P)")}, cwd = ${option} }`);
      // A window's own folder does not count.
      await neovim.command(`tcd ${neovim.cwd}/src/deep | lcd / | Claude`);
      await shows(neovim, `<${realpathSync(join(neovim.cwd, folder))}>`);
    });

    const REFUSED: [option: string, reason: string][] = [
      [`"nowhere"`, `Claude cannot start in "nowhere", which is not a folder`],
      ["function() return 7 end", "Claude cannot start in 7"],
      [`function() error("not today", 0) end`, "terminal.cwd failed: not today"],
    ];
    test.each(REFUSED)("%s is refused, with the reason", async (option, reason) => {
      await configure(neovim, `{ command = ${ECHO}, cwd = ${option} }`);
      await neovim.command("Claude");
      expect(await said(neovim)).toEqual([expect.stringContaining(reason)]);
    });
  });

  test("terminal.env adds variables, and changes none that the connection needs", async () => {
    const env = `{ OWN = "1", NVIM = "x", CLAUDE_CODE_SSE_PORT = "1", CLAUDE_CONFIG_DIR = "/x" }`;
    const command = print(`$OWN $NVIM $CLAUDE_CODE_SSE_PORT \${CLAUDE_CONFIG_DIR:-none}`);
    await configure(neovim, `{ command = ${command}, env = ${env} }`);
    await neovim.command("Claude");
    const [address, port, folder] = await eventually("the server", () =>
      neovim.lua<string[]>(
        `return vim.env.CLAUDE_CODE_SSE_PORT and
          { vim.v.servername, vim.env.CLAUDE_CODE_SSE_PORT, vim.env.CLAUDE_CONFIG_DIR or "none" }`,
      ),
    );
    await shows(neovim, `<1 ${address} ${port} ${folder}>`);
  });

  describe("terminal.keys", () => {
    test("leave terminal mode and hide the terminal; others are mapped for its filetype", async () => {
      const keys = `{ leave = "<C-]>", toggle = "<M-c>" }`;
      const help = readFileSync(join(ROOT, "doc/claude-code.txt"), "utf8");
      const recipe = /mappings for its\s+'filetype': >lua\n([\s\S]+?)\n</.exec(help)?.[1];
      await neovim.lua(recipe as string);
      await configure(neovim, `{ command = ${ECHO}, position = "right", keys = ${keys} }`);
      await openEcho(neovim);
      await play(`
        <C-]>          mode nt
        i<M-h>         mode n   {&buftype}
        :Claude focus  mode t
        <M-c>          mode n   windows 1
      `);
    });

    test("are Ctrl+Q alone by default, and Claude receives every other key", async () => {
      await configure(neovim, `{ command = ${ECHO} }`);
      await openEcho(neovim);
      // A second Ctrl+Q does not begin blockwise visual mode.
      await play(`
        <C-]><C-h><C-l><Esc>  terminal ^]^H^L^[
        <C-q>                 mode nt
        <C-q>                 mode nt
      `);
    });
  });

  test("send.focus moves to the terminal after :Claude send", async () => {
    await neovim.lua(`require("claude-code").setup({
      terminal = { command = ${ECHO} }, send = { focus = true } })`);
    await openEcho(neovim);
    await play(`
      :stopinsert | wincmd p
      :Claude send hello      terminal hello   mode t
      :Claude
      :Claude send again      mode t   said =
    `);
  });

  describe('terminal.position = "auto"', () => {
    const PLACES: [width: number, height: number, terminal: object][] = [
      [80, 24, { width: 80, height: 12, column: 0 }],
      [110, 40, { width: 110, height: 13, column: 0 }],
      [111, 40, { width: 60, column: 51 }],
      [200, 50, { width: 72, column: 128 }],
    ];
    test.each(PLACES)("at %s columns and %s lines", async (width, height, place) => {
      await resize(neovim, width, height);
      await configure(neovim, `{ command = ${ECHO} }`);
      await openEcho(neovim);
      const found = (await windows(neovim)).find(({ terminal }) => terminal);
      expect(found).toMatchObject(place);
    });
  });

  describe('terminal.position = "float"', () => {
    const float = (more = "") =>
      configure(neovim, `{ command = ${ECHO}, position = "float"${more} }`);

    test("floats, follows the screen, hides and comes back with its program", async () => {
      await float();
      await openEcho(neovim);
      await play("<Ignore>  float 94x21 ╭");
      await resize(neovim, 80, 24);
      await play(`
        <Ignore>  float 62x16
        :Claude   float =
        :Claude   float 62x16   mode t   terminal up
      `);
    });

    test("its size is an option; closes when the cursor moves below it", async () => {
      await float(", size = 0.5");
      await openEcho(neovim);
      await play(`
        <Ignore>                float 58x12 ╭
        <C-\\><C-n><C-w>p       float =   {&buftype}
        :Claude focus           float 58x12   mode t
        :Claude close           float =
      `);
    });

    test("makes room for a diff, which takes the cursor", async () => {
      await float();
      await openEcho(neovim);
      const path = join(neovim.cwd, "a.txt");
      writeFileSync(path, "one\n");
      using client = await TestClient.open(await neovim.lock(), "claude-code");
      const answer = client.propose(path, "two\n");
      await neovim.until("the diff", 'return require("port").diff_decidable()');
      await play("<Ignore>  float =");
      await neovim.command("Claude diff accept");
      expect((await answer)[0]).toBe("FILE_SAVED");
      await neovim.command("Claude");
      await neovim.inMode("t");
      expect(await neovim.command("messages")).not.toContain("Error");
    });

    test("has the border of 'winborder'", async () => {
      if (version.name.endsWith("0.10")) return;
      await neovim.command("set winborder=double");
      await float();
      await openEcho(neovim);
      await play("<Ignore>  float ╔");
      await neovim.command("set winborder&");
    });
  });

  describe(":Claude model", () => {
    const use = (command: string, choice: string) =>
      neovim.lua(`
      require("claude-code").setup({ terminal = { command = ${command} } })
      vim.ui.select = function(names, _, callback)
        callback(vim.list_contains(names, ${choice}) and ${choice} or nil)
      end`);

    test("starts Claude with the model and other arguments", async () => {
      await use(`{ "sh", "-c", '${LATER} echo "<$*>"; exec cat', "sh" }`, `"haiku"`);
      await neovim.command("Claude model --verbose");
      await shows(neovim, "--model haiku --verbose>");
    });

    test("puts it into the prompt of a Claude that runs, and submits nothing", async () => {
      await use(ECHO, `"opus"`);
      await openEcho(neovim);
      await neovim.command("Claude model");
      await shows(neovim, "/model opus^[[201~");
      expect(await said(neovim)).toEqual([expect.stringContaining("/model opus; submit it there")]);
    });
  });
});
