import { expect } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TestClient } from "../../test/support/client";
import { eventually } from "../../test/support/eventually";
import { type NeovimVersion, TestNeovim, temporaryFolder } from "../../test/support/neovim";
import { ROOT } from "../../test/support/toolchain";
import { folderOf, type PluginName } from "./archives";

const STATE = readFileSync(join(import.meta.dir, "state.lua"), "utf8");
/** The time in ms until everything must be as before. Some plugins move windows gradually. */
const SETTLE_MS = 4_000;
export const UI = { width: 170, height: 45 };

/** Sixty lines with a function every five lines, for scrolling and folding. */
export const TEXT = Array.from(
  { length: 12 },
  (_, i) => `local function f${i}(a, b)\n  local sum = a + b\n  return sum\nend\n\n`,
).join("");
/** TEXT with two hunks: in the first function and in the last. */
export const PROPOSED = TEXT.replace("a + b", "a + b + 1").replace(
  /return sum\nend\n\n$/,
  "return sum + 2\nend\n\n",
);

/** Runs in the terminal instead of Claude, and echoes each line. */
const CLAUDE = `#!/bin/sh
sleep 0.1
echo "CLAUDE IS UP"
stty -echo
while IFS= read -r line; do echo "echo:$line"; done
`;

export interface Setup {
  name: string;
  plugins: PluginName[];
  /** The user's init.lua. It runs when the plugins' folders are on 'runtimepath'. */
  lua?: string;
  /** The plugin saves a session file when Neovim ends. */
  savesSessions?: boolean;
  /** The Lua table for our setup(). */
  ours?: string;
  /** The plugin does not run in the oldest Neovim that we support. */
  newestOnly?: true;
  /** The whole init.lua of a plugin manager, which also loads claude-code.nvim. */
  init?: string;
}

/** The later answer to a proposal. */
type Answer = Promise<string>;

/** A Neovim with other plugins, two files side by side, and a client that acts as Claude. */
export class Editor implements AsyncDisposable {
  private constructor(
    readonly neovim: TestNeovim,
    readonly client: TestClient,
    private readonly home: string,
  ) {}

  static async start(version: NeovimVersion, setup: Setup): Promise<Editor> {
    const home = temporaryFolder();
    return Editor.attach(await startNeovim(version, setup, home), home);
  }

  /** Connects to a running Neovim as Claude does, and opens the two files. */
  static async attach(neovim: TestNeovim, home: string): Promise<Editor> {
    try {
      const client = await TestClient.open(await neovim.lock(), "claude-code");
      // Claude does this, and takes mentions soon afterwards.
      await client.request("tools/list");
      await neovim.lua(`
        vim.cmd("edit src/main.lua | vsplit src/other.lua | wincmd p | normal! 30Gzt")
        vim.cmd("messages clear")`);
      const editor = new Editor(neovim, client, home);
      await editor.settled();
      return editor;
    } catch (error) {
      await neovim[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
      throw error;
    }
  }

  path(name: string): string {
    return join(this.neovim.cwd, name);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text);
  }

  /** Proposes as Claude does, and writes the accepted text. */
  async propose(name = "src/main.lua", text = PROPOSED): Answer {
    const path = this.path(name);
    const [verdict, accepted] = await this.client.texts("openDiff", {
      old_file_path: path,
      new_file_path: path,
      new_file_contents: text,
      tab_name: `[Claude Code] ${name}`,
    });
    if (verdict === "FILE_SAVED") writeFileSync(path, accepted ?? text);
    return verdict as string;
  }

  /** Waits until Claude's prompt has these files of src/ and no others, in any order. */
  async mentioned(names: string[], lines: { lineStart?: number; lineEnd?: number } = {}) {
    const expected = names.map((name) => ({ filePath: this.path(join("src", name)), ...lines }));
    await eventually("the mentions", () => {
      const received = this.client.notifications<{ filePath: string }>("at_mentioned");
      expect(received.sort((a, b) => a.filePath.localeCompare(b.filePath))).toEqual(expected);
    });
    this.client.received.length = 0;
  }

  async shown(): Promise<void> {
    await eventually("the diff", () => this.neovim.lua('return require("port").diff_decidable()'));
  }

  async noDiff(): Promise<void> {
    await eventually("the end of the diff", () =>
      this.neovim.lua('return require("port").no_diff()'),
    );
  }

  /** If true, a diff fits in the place of one of the two windows. Otherwise it needs a tab page. */
  async screenIs(which: "usual" | "wide"): Promise<void> {
    const columns = which === "wide" ? 2 * UI.width : UI.width;
    await this.neovim.request("nvim_ui_try_resize", [columns, UI.height]);
    await eventually("the screen", () => this.neovim.lua(`return vim.o.columns == ${columns}`));
    await this.neovim.command("wincmd =");
  }

  async layout(name: string): Promise<void> {
    const below = name === "horizontal";
    await this.neovim.command(`set diffopt${below ? "+" : "-"}=horizontal`);
    const layout = below ? "vertical" : name;
    await this.neovim.lua('require("port").config.get().diff.layout = ...', layout);
  }

  async state(): Promise<Record<string, unknown>> {
    return this.neovim.lua(STATE);
  }

  /** The state, once it no longer changes. */
  async settled(): Promise<Record<string, unknown>> {
    let last = await this.state();
    await eventually("windows at rest", async () => {
      await Bun.sleep(150);
      const now = await this.state();
      const same = Bun.deepEquals(now, last);
      last = now;
      // The steps may be further apart on a busy machine.
      const moves = "return MiniAnimate ~= nil and MiniAnimate.is_active('resize')";
      return same && !(await this.neovim.lua<boolean>(moves));
    });
    return last;
  }

  /** Waits until everything is as in `before`. Throws with the differences. */
  async same(before: Record<string, unknown>): Promise<void> {
    await eventually(
      "everything as before",
      async () => {
        const differences = differ(before, await this.state());
        if (differences.length > 0) throw new Error(differences.slice(0, 6).join("; "));
      },
      SETTLE_MS,
    );
  }

  /** The screen as text, with floats and bars. */
  async screen(): Promise<string> {
    const rows = await this.neovim.lua<string[]>(`
      vim.cmd.redraw()
      local rows = {}
      for row = 1, vim.o.lines do
        local cells = {}
        for column = 1, vim.o.columns do
          cells[column] = vim.fn.screenstring(row, column)
        end
        rows[row] = table.concat(cells)
      end
      return rows`);
    return rows.join("\n");
  }

  async shows(text: string | RegExp): Promise<string> {
    return eventually(`${text} on screen`, async () => {
      const screen = await this.screen();
      const found = typeof text === "string" ? screen.includes(text) : text.test(screen);
      return found && screen;
    });
  }

  async mode(): Promise<string> {
    return (await this.neovim.request<{ mode: string }>("nvim_get_mode", [])).mode;
  }

  async waitForMode(mode: string): Promise<void> {
    await eventually(`mode ${mode}`, async () => (await this.mode()) === mode);
  }

  /** Neovim's errors in :messages. */
  async errors(): Promise<string[]> {
    const messages = await this.neovim.command("messages");
    return messages.split("\n").filter((line) => /\bE\d+:|traceback|\bW1[0-9]:/.test(line));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    await this.neovim[Symbol.asyncDispose]();
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** A Neovim in a home folder that contains the project and exists longer than it. */
export async function startNeovim(
  version: NeovimVersion,
  setup: Setup,
  home: string,
  files = ["src/main.lua"],
): Promise<TestNeovim> {
  const [cwd, bin, init] = [join(home, "project"), join(home, "bin"), join(home, "init.lua")];
  if (!existsSync(cwd)) makeProject(cwd);
  mkdirSync(bin, { recursive: true });
  // Some plugins write there without making the folder.
  mkdirSync(join(home, ".local/share/nvim"), { recursive: true });
  writeFileSync(join(bin, "claude"), CLAUDE);
  chmodSync(join(bin, "claude"), 0o755);
  writeFileSync(init, setup.init ?? initOf(setup));
  return TestNeovim.start({
    version,
    home,
    cwd,
    ui: UI,
    env: { PATH: `${bin}:${process.env.PATH}`, GIT_CONFIG_GLOBAL: "/dev/null" },
    setup: setup.init ? false : (setup.ours ?? "{}"),
    args: ["-u", init, ...files],
  });
}

function makeProject(folder: string): void {
  mkdirSync(join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "src/main.lua"), TEXT);
  writeFileSync(join(folder, "src/other.lua"), `-- other\n${TEXT}`);
  const git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b.c"];
  for (const command of [
    ["init", "-q"],
    ["add", "."],
    ["commit", "-qm", "one"],
  ])
    Bun.spawnSync([...git, ...command]);
}

const OPTIONS = `
vim.g.mapleader = " "
vim.o.swapfile = false
vim.o.number = true
vim.o.termguicolors = true
`;

function initOf({ plugins, lua = "" }: Setup): string {
  const folders = plugins.map((name) => `vim.opt.rtp:append([[${folderOf(name)}]])`);
  return `${OPTIONS}${folders.join("\n")}\n${lua}\n`;
}

/** The paths of the values that differ, with both values. */
function differ(a: unknown, b: unknown, at = ""): string[] {
  if (!isRecord(a) || !isRecord(b))
    return Bun.deepEquals(a, b) ? [] : [`${at}: ${JSON.stringify(a)} -> ${JSON.stringify(b)}`];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].flatMap((key) => differ(a[key], b[key], at ? `${at}.${key}` : key));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** The blocks of Lua code under a heading of the help's recipes, exactly as users copy them. */
export function recipe(heading: string): string[] {
  const help = readFileSync(join(ROOT, "doc/claude-code.txt"), "utf8");
  const section = help.split("*claude-code-recipes*")[1]?.split(`\n${heading} ~\n`)[1];
  // The end is the next heading, or that of the help's section.
  const text = section?.split(/\n\S.* ~\n|\n={20}/)[0] ?? "";
  const blocks = [...text.matchAll(/>lua\n(.*?)\n</gs)].map((match) => match[1] as string);
  if (blocks.length === 0) throw new Error(`the help has no recipe for ${heading}`);
  return blocks;
}
