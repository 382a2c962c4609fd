import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../support/eventually";
import { NEOVIMS, TestNeovim, temporaryFolder } from "../support/neovim";

/* Past conversations in :Claude sessions: resumed where they were, and never twice. */

const ID = "00000000-0000-4000-8000-000000000001";
const GONE = "00000000-0000-4000-8000-000000000002";

describe.each([...NEOVIMS])("past conversations in the list of Neovim $name", (version) => {
  const home = temporaryFolder();
  const project = temporaryFolder();
  const below = join(project, "below");
  const calls = join(home, "calls");
  let neovim: TestNeovim;

  beforeAll(async () => {
    const claude = join(home, "claude");
    writeFileSync(claude, `#!/bin/sh\necho "$PWD $*" >> ${calls}\nexec cat\n`, { mode: 0o755 });
    mkdirSync(below);
    write(ID, below, "rename the parser");
    write(GONE, join(project, "gone"), "in a folder that is gone");
    neovim = await TestNeovim.start({
      ...{ version, home, cwd: project },
      setup: `{ terminal = { command = [[${claude}]] } }`,
    });
    await neovim.lua(`
      vim.ui.select = function(rows, options, callback)
        CHOICES = vim.tbl_map(options.format_item, rows)
        CHOOSE = function(index) callback(rows[index]) end
      end`);
  });
  afterAll(async () => {
    await neovim[Symbol.asyncDispose]();
    for (const path of [home, project]) rmSync(path, { recursive: true, force: true });
  });

  function write(id: string, cwd: string, content: string): void {
    const folder = join(home, ".claude/projects", cwd.replaceAll(/[^a-zA-Z0-9]/g, "-"));
    mkdirSync(folder, { recursive: true });
    const entry = { type: "user", message: { role: "user", content }, cwd, gitBranch: "main" };
    writeFileSync(join(folder, `${id}.jsonl`), `${JSON.stringify(entry)}\n`);
  }

  /** Opens the list, and chooses the first line that has this text. */
  async function choose(text: string): Promise<string[]> {
    await neovim.lua("CHOICES = nil");
    await neovim.command("Claude sessions");
    await eventually("the list", () => neovim.lua<boolean>("return CHOICES ~= nil"));
    const choices = await neovim.lua<string[]>("return CHOICES");
    await neovim.lua("CHOOSE(...)", choices.findIndex((choice) => choice.includes(text)) + 1);
    return choices;
  }

  /** Whole lines; the last one may be half written. */
  const started = () =>
    existsSync(calls) ? readFileSync(calls, "utf8").split("\n").slice(0, -1) : [];

  test("one is resumed in its own folder, and never a second time", async () => {
    const choices = await choose("rename the parser");
    const index = choices.findIndex((choice) => choice.includes("rename the parser")) + 1;
    expect(choices).toContain("  ↺ rename the parser: 0.0 MB, now, main (past)");
    await eventually("its start", () => started().length === 1);
    expect(started()[0]).toStartWith(`${below} `);
    expect(started()[0]).toContain(`--resume ${ID}`);
    await eventually("its row", () =>
      neovim.lua<boolean>(`return require("claude-code").sessions()[1].id == "${ID}"`),
    );
    // In a list that was opened before.
    await neovim.lua("CHOOSE(...)", index);
    await Bun.sleep(300);
    expect(started()).toHaveLength(1);
    const after = await choose("in a folder that is gone");
    expect(after.filter((choice) => choice.includes("rename the parser"))).toEqual([]);
  });

  test("of one whose folder is gone the user reads why it is not resumed", async () => {
    await choose("in a folder that is gone");
    await eventually("the message", async () =>
      (await neovim.command("messages")).includes("and that folder is gone"),
    );
    expect(started()).toHaveLength(1);
  });
});
