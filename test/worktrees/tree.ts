import { expect } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { commitAll, git, World } from "#review";
import { eventually, NEWEST } from "#test";
import { dirname, join } from "../../src/lib/platform";
import { Project } from "../hooks/project";
import { filesIn, stepsOf } from "../review/story";

/** A file's bytes, an executable file, or null for a missing file. */
export type Given = string | Uint8Array | { run: string } | null;

/** A repository that is open in a Neovim, with a linked worktree "docs" below it. */
export class Trees implements AsyncDisposable {
  private constructor(readonly project: Project) {}

  /** `files` are in the first commit, on which the worktree is based. */
  static async open(files: Record<string, Given>): Promise<Trees> {
    const trees = new Trees(await Project.open(NEWEST));
    const all = { ...files, ".gitignore": ".claude/worktrees/\nignored\n" };
    trees.write("here", all);
    commitAll(trees.folder("here"), all);
    trees.git("here", "worktree", "add", "-q", "-b", "worktree-docs", trees.folder("there"));
    await trees.neovim.lua(
      `_G.notes = {}
      vim.notify = function(text) table.insert(_G.notes, text) end`,
    );
    await trees.knows("docs");
    return trees;
  }

  /** Waits until Neovim knows a worktree of the current folder's repository. */
  knows(name: string): Promise<void> {
    const known = "return vim.fn.getcompletion('Claude worktree home ', 'cmdline')";
    return eventually("the worktree", async () =>
      expect(await this.neovim.lua<string[]>(known)).toContain(name),
    );
  }

  get neovim() {
    return this.project.neovim;
  }

  folder(side: "here" | "there"): string {
    return side === "here" ? this.project.folder : this.project.path(".claude/worktrees/docs");
  }

  path(side: "here" | "there", name: string): string {
    return join(this.folder(side), name);
  }

  git(side: "here" | "there", ...args: string[]): string {
    return git(this.folder(side), ...args);
  }

  write(side: "here" | "there", files: Record<string, Given>): void {
    for (const [name, given] of Object.entries(files)) {
      const path = this.path(side, name);
      if (given === null) rmSync(path);
      else {
        mkdirSync(dirname(path), { recursive: true });
        const isRun = typeof given === "object" && "run" in given;
        writeFileSync(path, isRun ? given.run : given);
        if (isRun) chmodSync(path, 0o755);
      }
    }
  }

  commit(side: "here" | "there"): void {
    this.git(side, "add", "-A");
    this.git(side, "commit", "-q", "--allow-empty", "-m", "more");
  }

  read(...names: string[]): (Given | undefined)[] {
    return names.map((name) => {
      const path = this.path("here", name);
      if (!existsSync(path)) return null;
      const text = readFileSync(path, "utf8");
      return lstatSync(path).mode & 0o100 ? { run: text } : text;
    });
  }

  review(side: "here" | "there"): World {
    return new World(this.folder(side), this.neovim.home);
  }

  async run(command: string): Promise<string> {
    const count = await this.neovim.lua<number>("return #_G.notes");
    await this.neovim.command(command);
    return this.said(count);
  }

  said(count: number): Promise<string> {
    return eventually("the report", async () => {
      const notes = await this.neovim.lua<string[]>("return _G.notes");
      return notes[count] ?? false;
    });
  }

  /** The quickfix list: name, line and text of each. */
  list(): Promise<[string, number, string][]> {
    return this.neovim.lua(
      `local folder = ...
      return vim.tbl_map(function(item)
        local name = item.bufnr > 0 and vim.api.nvim_buf_get_name(item.bufnr) or ""
        return { name:sub(#folder + 2), item.lnum, item.text }
      end, vim.fn.getqflist())`,
      this.folder("here"),
    );
  }

  /**
   * Plays a story (test/review/story.ts): `here FILES`, `there FILES`, where `name*` is executable; `is FILES`
   * here; `here commit`, `there git …`; `home: words`, `home!: words` and `remove: words`, and part of what is
   * said; `undo 3` files in the review here; `vim command`.
   */
  async play(story: string): Promise<void> {
    const folders = (words: string) =>
      words.replaceAll("THERE", this.folder("there")).replaceAll("HERE", this.folder("here"));
    for (const step of stepsOf(story)) {
      const [, verb = "", rest = ""] = /^([^\s:]+):?\s*(.*)$/s.exec(step.trim()) ?? [];
      const [, how, args = ""] = /^(commit|git)(?: (.*))?$/.exec(rest) ?? [];
      const said = async (command: string) => expect(await this.run(command)).toContain(rest);
      if (verb === "home" || verb === "home!") await said(`Claude worktree ${verb} docs`);
      else if (verb === "remove") await said("Claude worktree remove docs");
      else if (verb === "vim") await this.neovim.command(folders(rest));
      else if (verb === "undo") await this.undoAll(Number(rest));
      else if (verb === "is") {
        const files = given(rest);
        expect(this.read(...Object.keys(files))).toEqual(Object.values(files));
      } else if (how === "commit") this.commit(verb as "here");
      else if (how) this.git(verb as "here", ...folders(args).split(" "));
      else this.write(verb as "here", given(rest));
    }
  }

  /** Undoes everything that is waiting in the review here. */
  async undoAll(count: number, problems: string[] = []): Promise<void> {
    using here = this.review("here");
    const { files } = await here.list();
    expect(files).toHaveLength(count);
    const undone = await here.undo(files.map(({ path }) => ({ path })));
    expect(undone.files.flatMap(({ problem }) => problem ?? [])).toEqual(problems);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.project[Symbol.asyncDispose]();
  }
}

export function given(words: string): Record<string, Given> {
  const texts = Object.entries(filesIn(words).texts);
  const files = texts.map(([name, text = null]): [string, Given] =>
    name.endsWith("*") ? [name.slice(0, -1), { run: text ?? "" }] : [name, text],
  );
  return Object.fromEntries(files);
}

/** Plays a story in a repository of its own, with these files. */
export const tells = async (files: string, story: string) => {
  await using trees = await Trees.open(given(files));
  await trees.play(story);
};
