import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claudeEnv, prepareClaudeHome } from "../support/claude-home";
import { Model } from "../support/model";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { claudeCli, NEOVIMS, type NeovimVersion } from "../support/toolchain";
import { edit, read } from "../support/turns";
import { eventually } from "./eventually";
import { type Layout, Neovim } from "./neovim";

/*
 * The genuine CLI in Neovim's own terminal, started by :Claude, in a real TUI. Only the model is
 * a stand-in.
 */
const CASE_MS = 90_000;
const START_MS = 40_000;
/** A question ignores the keys of its first 250 ms or so (measured with Claude Code 2.1.330). */
const QUESTION_MS = 600;
const MAIN = 'local name = "zero"\nreturn name\n';

requireNamespace();
describe.each(NEOVIMS)("Claude in the terminal of $name", inTerminal);

function inTerminal(version: NeovimVersion) {
  let root: string;
  let main: string;
  let model: Model;
  let neovim: Neovim;

  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "claude-terminal-")));
    const project = join(root, "project");
    const home = join(root, "home");
    for (const folder of ["tmp", "run"]) await mkdir(join(home, folder), { recursive: true });
    await mkdir(project);
    main = join(project, "main.lua");
    await writeFile(main, MAIN);
    await prepareClaudeHome(home, project);
    model = new Model();
    neovim = await Neovim.start({
      ...{ version, project, home, files: [main] },
      setup: `{ terminal = { command = [[${claudeCli()}]] } }`,
      env: claudeEnv(home, model.url),
      columns: 180,
    });
    // It answers before it has read its plugins.
    await eventually(() => neovim.lua("return vim.v.vim_did_enter"), 1);
  }, CASE_MS);

  afterAll(async () => {
    await neovim?.close();
    model?.stop();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  });

  /** What the terminal shows, whether its window is there or not. */
  const claudeShows = () =>
    neovim.lua<string>(`
      for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        if vim.bo[buf].filetype == "claude-code-terminal" then
          return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\\n")
        end
      end
      return ""`);

  const showing = async (wanted: RegExp, timeoutMs = CASE_MS) =>
    eventually(async () => wanted.test(await claudeShows()), true, timeoutMs);

  const command = (name: string) => neovim.lua(`vim.cmd([[${name}]]) return true`);

  const mode = () => neovim.lua<string>("return vim.api.nvim_get_mode().mode");

  /** Widths of the windows, the terminal's as a negative number. */
  const widths = () =>
    neovim.lua<number[]>(`
      return vim.tbl_map(function(win)
        local terminal = vim.bo[vim.api.nvim_win_get_buf(win)].buftype == "terminal"
        return vim.api.nvim_win_get_width(win) * (terminal and -1 or 1)
      end, vim.api.nvim_tabpage_list_wins(0))`);

  test(
    ":Claude starts it beside the file, connected, with the keyboard",
    async () => {
      await command("Claude");
      await showing(/^❯/m, START_MS);
      await eventually(
        () =>
          neovim.lua<string[]>(`
            return vim.tbl_map(function(client)
              return client.name
            end, require("claude-code").status().clients)`),
        ["claude-code"],
        START_MS,
      );
      expect(await widths()).toEqual([115, -64]);
      await eventually(mode, "t");
    },
    CASE_MS,
  );

  test(
    ":Claude send pastes lines into the prompt as they are, words after them, and ! submits",
    async () => {
      model.script([[{ text: "I see two lines." }]]);
      await neovim.lua(`vim.cmd.wincmd("p") return true`);
      await command("1,2Claude send");
      await showing(/return name/);
      await command("Claude send! -- what is that?");
      const request = await model.nextRequest();
      expect(newsText(request)).toContain(`${MAIN}-- what is that?`);
      await showing(/I see two lines/);
      // Enter follows at once, and is no part of the text.
      model.script([[{ text: "I see 2,000 lines." }]]);
      const long = Array.from({ length: 2_000 }, (_, i) => `line ${i}`).join("\\n");
      await neovim.lua(`require("port").terminal.send("${long}", { submit = true }) return true`);
      expect(newsText(await model.nextRequest())).toContain("line 1999");
      await showing(/I see 2,000 lines/);
    },
    CASE_MS,
  );

  test(
    "comments are the user's own prompt",
    async () => {
      model.script([[{ text: "I see a comment." }]]);
      await command("2Claude comment! return a table");
      const request = await model.nextRequest();
      expect(newsText(request)).toContain("1. main.lua:2: return a table\n   > return name");
      await showing(/I see a comment/);
    },
    CASE_MS,
  );

  test(
    "stays visible beside a diff, which is answered there; then all is as before",
    async () => {
      const before = withoutTerminalCursor(await neovim.layout());
      const proposal = MAIN.replace("zero", "one");
      model.script([read(main), edit(main, "zero", "one"), [{ text: "Done." }]]);
      await command("Claude send! change it");
      const diff = await neovim.waitForDiff(proposal);
      // Both sides fit in the file's window; Claude keeps its width.
      expect(await widths()).toEqual([57, 57, -64]);
      await neovim.focus(diff.proposed.window);
      await neovim.terminal.press("Enter");
      await eventually(() => readFile(main, "utf8"), proposal);
      await showing(/Done\./);
      await eventually(async () => withoutTerminalCursor(await neovim.layout()), before);
    },
    CASE_MS,
  );

  test(
    "too big for a diff, it asks by itself, and writes on Enter there",
    async () => {
      const big = join(root, "project/big.txt");
      const content = "x\n".repeat(20_001);
      const write = [{ tool: "Write", input: { file_path: big, content } }];
      model.script([write, [{ text: "Written." }]]);
      await command("Claude send! write it");
      await showing(/Do you want to create big\.txt/);
      const press = `
        for _, buf in ipairs(vim.api.nvim_list_bufs()) do
          if vim.bo[buf].filetype == "claude-code-terminal" then
            vim.api.nvim_chan_send(vim.bo[buf].channel, "\\r")
          end
        end
        return true`;
      for (let tries = 0; tries < 10 && !existsSync(big); tries++) {
        await neovim.lua(press);
        await Bun.sleep(QUESTION_MS);
      }
      await showing(/Written\./);
      expect(await readFile(big, "utf8")).toBe(content);
    },
    CASE_MS,
  );

  test(
    "rejected with a reason, the model receives it at once, as the user's words",
    async () => {
      const text = await readFile(main, "utf8");
      const proposal = text.replace("one", "two");
      model.script([read(main), edit(main, "one", "two"), [{ text: "I see why." }]]);
      await command("Claude send! change it again");
      const diff = await neovim.waitForDiff(proposal);
      await neovim.focus(diff.proposed.window);
      await neovim.terminal.press("Q");
      await neovim.terminal.waitFor("Reject main.lua, because:");
      await neovim.terminal.type("use a map, not 'two'");
      await neovim.terminal.press("Enter");
      const reason = `I rejected your edit of ${main}: use a map, not 'two'`;
      const request = await model.nextRequest((one) => newsText(one).includes(reason));
      expect(newsText(request)).toContain("The user doesn't want to proceed with this tool use");
      await showing(/I see why\./);
      expect(await readFile(main, "utf8")).toBe(text);
    },
    CASE_MS,
  );

  test(
    "hidden it runs on; shown again it is as it was",
    async () => {
      await command("Claude");
      expect(await widths()).toEqual([180]);
      model.script([[{ text: "Still here." }]]);
      await command("Claude send! are you there?");
      await showing(/Still here/);
      await command("Claude");
      expect(await widths()).toEqual([115, -64]);
      await eventually(mode, "t");
      await neovim.terminal.waitFor("Still here.");
    },
    CASE_MS,
  );

  test(
    "ends by its own /exit: says so, and the window closes",
    async () => {
      await command("Claude send! /exit");
      await eventually(widths, [180]);
      expect(await neovim.lua(`return require("port").terminal.is_open()`)).toBe(false);
      const messages = () => neovim.lua<string>("return vim.fn.execute('messages')");
      await eventually(async () => (await messages()).includes("Claude has ended"), true);
    },
    CASE_MS,
  );
}

/** Where the cursor of a terminal window stands is for its program to say. */
function withoutTerminalCursor({ windows, tree, current }: Layout) {
  const kept = windows.map((one) =>
    one.win === current ? one : { win: one.win, width: one.width },
  );
  return { windows: kept, tree, current };
}
