import { expect } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { eventually } from "../../test/support/eventually";
import { type NeovimVersion, temporaryFolder } from "../../test/support/neovim";
import { Editor, PROPOSED, type Setup, startNeovim, TEXT } from "./editor";
import type { PluginSetup } from "./setups";

type Scenario = (editor: Editor, setup: PluginSetup) => Promise<void>;

/** The time in ms in which a plugin takes the keyboard, and a diff might wrongly appear. */
const TAKE_MS = 500;

/** A diff is on a tab page if there is little room, as for "vertical" here, and else in the place of a window. */
const diffIn =
  (layout: string): Scenario =>
  async (editor, setup) => {
    await editor.layout(layout);
    await diff(editor, setup);
    if (layout !== "vertical") return;
    await editor.screenIs("wide");
    await diff(editor, setup);
    await editor.screenIs("usual");
  };

/**
 * Rejects with `q` and accepts with `:w`. The diff and its keys are visible, and everything is as before afterwards.
 */
const diff: Scenario = async (editor) => {
  const before = await editor.settled();
  const rejected = editor.propose();
  await editor.shown();
  await editor.shows("<CR>");
  await editor.neovim.type("q");
  expect(await rejected).toBe("DIFF_REJECTED");
  await editor.noDiff();
  await editor.same(before);
  const accepted = editor.propose();
  await editor.shown();
  await editor.neovim.type(":w<CR>");
  expect(await accepted).toBe("FILE_SAVED");
  await editor.noDiff();
  await bufferIs(editor, PROPOSED);
  await editor.same(before);
  await putBack(editor);
};

/** Claude runs in the terminal. A diff comes while the user is there; then we hide, show and end the terminal. */
const terminal: Scenario = async (editor) => {
  await editor.layout("vertical");
  const before = await editor.settled();
  await editor.neovim.type(":Claude<CR>");
  await editor.shows("CLAUDE IS UP");
  await editor.waitForMode("t");
  const rejected = editor.propose();
  await editor.shown();
  await editor.shows("<CR>");
  await editor.neovim.type("q");
  expect(await rejected).toBe("DIFF_REJECTED");
  await editor.waitForMode("t");
  await editor.neovim.type("hello<CR>");
  await editor.shows("echo:hello");
  await editor.neovim.command("Claude");
  await editor.same(before);
  await editor.neovim.command("Claude");
  await editor.waitForMode("t");
  await editor.neovim.command("Claude close");
  await editor.same(before);
};

/** The buffer gets Claude's text and the later change by Claude's hook. */
const reload: Scenario = async (editor) => {
  await editor.layout("vertical");
  const before = await editor.settled();
  const accepted = editor.propose();
  await editor.shown();
  await editor.neovim.type("<CR>");
  expect(await accepted).toBe("FILE_SAVED");
  await editor.noDiff();
  const formatted = `${PROPOSED}-- formatted\n`;
  editor.write("src/main.lua", formatted);
  await bufferIs(editor, formatted);
  expect(editor.read("src/main.lua")).toBe(formatted);
  await editor.same(before);
  await putBack(editor);
};

/** A diff does not take the cursor while the plugin has the keyboard. It appears afterwards. */
const keyboard: Scenario = async (editor, { keyboard: plugin }) => {
  if (!plugin) return;
  await editor.layout("vertical");
  await editor.neovim.type(plugin.take);
  await Bun.sleep(TAKE_MS);
  await blockedOr(() => editor.shows(plugin.taken));
  await (plugin.stays ? besideFloat(editor) : waits(editor, plugin.give));
};

/** A diff waits until the plugin returns the keyboard after the keys `give`. */
async function waits(editor: Editor, give: string): Promise<void> {
  const answer = editor.propose();
  await Bun.sleep(TAKE_MS);
  const none = await blockedOr(() =>
    editor.neovim.lua<boolean>('return require("port").no_diff()'),
  );
  await editor.neovim.type(give);
  await editor.shown();
  await editor.waitForMode("n");
  await editor.neovim.lua('require("port").reject()');
  expect(await answer).toBe("DIFF_REJECTED");
  await editor.noDiff();
  if (none === false) throw new Error("the diff took the cursor from the plugin");
}

/** A diff is visible despite the plugin's float, which is unchanged afterwards. */
async function besideFloat(editor: Editor): Promise<void> {
  const tabs = () => editor.neovim.lua<number>("return #vim.api.nvim_list_tabpages()");
  const float = () => editor.neovim.lua("return vim.api.nvim_get_current_win()");
  const [tabsBefore, floatBefore] = [await tabs(), await float()];
  const answer = editor.propose();
  await editor.shown();
  await editor.shows("<CR>");
  expect(await tabs()).toBe(tabsBefore + 1);
  await editor.neovim.type("q");
  expect(await answer).toBe("DIFF_REJECTED");
  await editor.noDiff();
  expect([await tabs(), await float()]).toEqual([tabsBefore, floatBefore]);
}

/** The features that work; undefined while Neovim waits for a key and does not answer. */
async function blockedOr<T>(work: () => Promise<T>): Promise<T | undefined> {
  return Promise.race([work(), Bun.sleep(2_000).then(() => undefined)]);
}

export const SCENARIOS: Record<string, Scenario> = {
  vertical: diffIn("vertical"),
  horizontal: diffIn("horizontal"),
  tab: diffIn("tab"),
  inline: diffIn("inline"),
  terminal,
  reload,
  keyboard,
};

/**
 * Neovim ends while a diff is on screen, and a plugin that was loaded before ours saves the windows. The file has the
 * user's windows, and nothing of the diff.
 */
export async function sessionFile(
  version: NeovimVersion,
  setup: Setup,
  layout: string,
): Promise<void> {
  const home = temporaryFolder();
  const saver = `vim.api.nvim_create_autocmd("VimLeavePre", {
    callback = function() vim.cmd("mksession! ${join(home, "Session.vim")}") end })\n`;
  const saving = setup.savesSessions ? setup : withInit(setup, saver);
  // Start without a file's name: with one, auto-session saves nothing.
  const neovim = await startNeovim(version, saving, home, []);
  try {
    await using editor = await Editor.attach(neovim, home);
    await editor.layout(layout);
    void editor.propose().catch(() => {});
    await editor.shown();
    await neovim.quit();
    const files = [...new Glob("**/*.vim").scanSync({ cwd: home, dot: true, absolute: true })];
    const saved = files.filter((path) => readFileSync(path, "utf8").includes("SessionLoad"));
    expect(saved).not.toEqual([]);
    for (const path of saved) expectUsersWindows(readFileSync(path, "utf8"));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function expectUsersWindows(saved: string): void {
  expect(saved.split("\n").filter((line) => /claude-code:|diffthis/.test(line))).toEqual([]);
  const windows = saved.match(/\bedit \S*src\/\w+\.lua/g)?.map((edit) => edit.replace(/.*\//, ""));
  expect(windows?.sort()).toEqual(["main.lua", "other.lua"]);
  expect(saved).not.toContain("tabnew");
}

function withInit(setup: Setup, lua: string): Setup {
  if (setup.init) return { ...setup, init: lua + setup.init };
  return { ...setup, lua: lua + (setup.lua ?? "") };
}

async function bufferIs(editor: Editor, text: string): Promise<void> {
  await eventually("the text in the buffer", async () => {
    const lines = await editor.neovim.lua<string[]>(
      'return vim.api.nvim_buf_get_lines(vim.fn.bufnr("src/main.lua"), 0, -1, false)',
    );
    return `${lines.join("\n")}\n` === text;
  });
}

/** Restores the file for the next scenario. */
async function putBack(editor: Editor): Promise<void> {
  editor.write("src/main.lua", TEXT);
  await editor.neovim.command("checktime");
  await bufferIs(editor, TEXT);
  await editor.neovim.command("normal! 30Gzt");
}
