import { afterAll, beforeAll } from "bun:test";
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cliArguments } from "../../src/claude/cli-arguments";
import { Claude } from "../support/claude";
import { isolatedEnv } from "../support/claude-home";
import { Model } from "../support/model";
import type { Block } from "../support/model-answer";
import { EXECUTABLE, type NeovimVersion } from "../support/toolchain";
import { eventually } from "./eventually";
import { lockFiles } from "./lock-file";
import { Neovim } from "./neovim";

/** A dozen calls of tools, each with its hooks, on a busy machine. */
export const TURN_MS = 60_000;

export const MAIN = "local one = 1\nlocal two = 2\nlocal three = 3\n";
export const FILES: Record<string, string> = {
  "main.lua": MAIN,
  "crlf.txt": "one\r\ntwo\r\n",
  "gone.txt": "gone\n",
  "old.txt": "old 1\nold 2\n",
  "mine.txt": "a\nb\nc\n",
};
const SETTINGS = cliArguments(EXECUTABLE).settings_with_hooks;

export const bash = (command: string): Block[] => [
  { tool: "Bash", input: { command, description: "d" } },
];
export const write = (path: string, content: string): Block[] => [
  { tool: "Write", input: { file_path: path, content } },
];

/** A repository in which the genuine CLI changes files, and a Neovim in which the user reviews that. */
export class Review {
  neovim!: Neovim;
  claude!: Claude;
  readonly model = new Model();
  #root!: string;

  private constructor(private readonly version: NeovimVersion) {}

  /** For the tests of the block around the call. */
  static inBlock(version: NeovimVersion): Review {
    const review = new Review(version);
    beforeAll(() => review.open());
    afterAll(async () => {
      await review.claude?.close();
      await review.neovim?.close();
      review.model.stop();
      await rm(review.#root, { recursive: true, force: true, maxRetries: 5 });
    });
    return review;
  }

  private async open(): Promise<void> {
    this.#root = await realpath(await mkdtemp(join(tmpdir(), "review-")));
    for (const folder of ["tmp", "run"]) await mkdir(join(this.home, folder), { recursive: true });
    await mkdir(this.project);
    for (const [name, text] of Object.entries(FILES)) await writeFile(this.path(name), text);
    for (const name of ["gone.txt", "old.txt"]) await chmod(this.path(name), 0o755);
    this.git("init -q .", "add -A", "commit -qm first");
    await this.startNeovim(["main.lua"]);
    this.claude = await this.startClaude("acceptEdits");
    await this.claude.waitForEditor();
  }

  private get project(): string {
    return join(this.#root, "project");
  }

  get home(): string {
    return join(this.#root, "home");
  }

  path(name: string): string {
    return join(this.project, name);
  }

  text(name: string): Promise<string> {
    return Bun.file(this.path(name)).text();
  }

  git(...commands: string[]): void {
    for (const line of commands) {
      const words = ["git", "-c", "user.name=a", "-c", "user.email=a@b", ...line.split(" ")];
      const done = Bun.spawnSync(words, { cwd: this.project, env: isolatedEnv(this.home) });
      if (done.exitCode !== 0) throw new Error(`${line}: ${done.stderr}`);
    }
  }

  async startNeovim(names: string[]): Promise<void> {
    const { version, project, home } = this;
    const files = names.map((name) => this.path(name));
    this.neovim = await Neovim.start({ version, project, home, files });
    // So long Neovim waits for the rest of `grn` and the like.
    await this.neovim.lua("vim.o.timeoutlen = 50 return true");
    await eventually(async () => (await lockFiles(home)).length, 1, 20_000);
  }

  /** `further`: beside the first one, by the name of its log. */
  async startClaude(mode: string, further?: string): Promise<Claude> {
    const { project, home, model } = this;
    const [lock] = await lockFiles(home);
    const args = ["--permission-mode", mode, "--allowedTools=Bash", SETTINGS];
    const port = lock?.port ?? 0;
    return Claude.start({ project, home, model, port, args, ...(further && { further }) });
  }

  command(line: string): Promise<boolean> {
    return this.neovim.lua(`vim.cmd([[${line}]]) return true`);
  }

  /** What is still to be reviewed. */
  count = (): Promise<number> =>
    this.neovim.lua(`return require("claude-code.editor.review").count()`);

  /** The quickfix list, as the user reads it. */
  list = (): Promise<string[]> =>
    this.neovim.lua(`
      return vim.tbl_map(function(item)
        local name = item.module ~= "" and item.module or vim.fn.bufname(item.bufnr)
        return vim.fn.fnamemodify(name, ":.") .. ":" .. item.lnum .. " " .. item.text
      end, vim.fn.getqflist())`);

  /** The entry under the cursor of the quickfix window is the one of `name`. */
  select(name: string): Promise<number> {
    return this.neovim.lua(`
      vim.cmd("copen")
      for row, item in ipairs(vim.fn.getqflist()) do
        local data = item.user_data.claude_code
        if vim.fs.basename(data.path) == "${name}" then
          vim.api.nvim_win_set_cursor(0, { row, 0 })
          return row
        end
      end
      error("${name} is not listed")`);
  }
}
