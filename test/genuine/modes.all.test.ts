import { mkdirSync, writeFileSync } from "node:fs";
import { NEOVIMS } from "#test";
import { join } from "../../src/lib/platform";
import { requireNamespace } from "../support/namespace";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal } from "./in-terminal";

/* The mode in which the genuine CLI starts, and what an edit does to the user's windows. */
const MAIN = "return 1\n";

requireNamespace();
describe.each(NEOVIMS)("in $name", (version) => {
  describe("without the option", () => {
    const claude = new InTerminal().inBlock(version, {
      files: { "main.lua": MAIN },
      terminal: "permission_mode = false",
    });
    let n = 0;

    test.each([
      ["none: the CLI's own", () => {}, /auto mode on/],
      [
        "the user's",
        () => settings(claude.home, "settings.json", "acceptEdits"),
        /accept edits on/,
      ],
      ["the project's", () => settings(claude.project, "settings.json", "plan"), /plan mode on/],
      [
        "the local ones",
        () => settings(claude.project, "settings.local.json", "default"),
        /manual mode on/,
      ],
    ] as const)("starts in the mode of the settings: %s", async (_, write, shown) => {
      write();
      await claude.command("Claude new");
      await claude.showing(shown, ++n);
    });
  });

  describe("with the option", () => {
    const claude = new InTerminal().inBlock(version, {
      files: { "main.lua": MAIN },
      terminal: `permission_mode = "acceptEdits"`,
      prepare: () => settings(claude.project, "settings.json", "plan"),
    });

    test("wins, and lets Claude edit at once", async () => {
      await claude.command("Claude");
      await claude.showing(/accept edits on/);
      const path = claude.path("main.lua");
      claude.model.script([read(path), edit(path, "return 1", "return 2"), say("Done.")]);
      await claude.send("change it");
      await claude.showing(/Done\./);
      expect(await claude.onDisk("main.lua")).toBe("return 2\n");
      await claude.says("1 change in 1 file to review");
    });
  });

  describe.each(["always", "waits"])('with diff.open "%s"', (open) => {
    const claude = new InTerminal().inBlock(version, {
      files: { "main.lua": MAIN },
      setup: `diff = { open = "${open}" }`,
    });
    const status = () => claude.neovim.lua<string>("return require('claude-code').statusline()");
    const windows = async () => (await claude.neovim.layout()).tree;

    test("shows the edit in a diff, and writes it once it is accepted", async () => {
      await claude.begin();
      await claude.connected();
      await claude.command("wincmd p");
      const before = await windows();
      const path = claude.path("main.lua");
      claude.model.script([read(path), edit(path, "return 1", "return 2"), say("Done.")]);
      await claude.send("change it");
      await claude.showing(/Do you want to make this edit to main\.lua\?/);
      if (open === "waits") {
        await eventually(async () => (await status()).includes("1 edit waits"), true);
        await claude.neovim.terminal.waitFor("◇ return 1");
        expect(await windows()).toEqual(before);
        await claude.command("Claude diff");
      }
      const diff = await claude.neovim.waitForDiff("return 2\n");
      expect(await claude.onDisk("main.lua")).toBe(MAIN);
      await claude.neovim.focus(diff.proposed.window);
      await claude.neovim.terminal.press("Enter");
      await claude.showing(/Done\./);
      expect(await claude.onDisk("main.lua")).toBe("return 2\n");
      await eventually(windows, before);
    });
  });
});

function settings(folder: string, file: string, defaultMode: string): void {
  mkdirSync(join(folder, ".claude"), { recursive: true });
  const content = { permissions: { defaultMode } };
  writeFileSync(join(folder, ".claude", file), JSON.stringify(content));
}

/* The genuine CLI in the mode of the project's settings, and a user who wants no diff. */
describe.each(NEOVIMS)("the user's own way in $name", (version) => {
  const claude = new InTerminal().inBlock(version, {
    files: { "main.lua": MAIN },
    terminal: "permission_mode = false",
    setup: `diff = { open = "never" }`,
    prepare: () => settings(claude.project, "settings.json", "default"),
  });

  test("asks in its terminal, and then lists the change in the review", async () => {
    await claude.command("Claude");
    await claude.showing(/manual mode on/);
    await claude.connected();
    const path = claude.path("main.lua");
    claude.model.script([read(path), edit(path, "return 1", "return 2"), say("Done.")]);
    await claude.send("change it");
    await claude.showing(/Do you want to make this edit to main\.lua\?/);
    expect(await claude.neovim.diff()).toBe(null);
    expect(await claude.onDisk("main.lua")).toBe(MAIN);
    await claude.confirm(async () => (await claude.onDisk("main.lua")) === "return 2\n");
    await claude.showing(/Done\./);
    await claude.says("1 change in 1 file to review");
    const status = () => claude.neovim.lua<string>("return require('claude-code').statusline()");
    await eventually(async () => (await status()).includes("1 to review"), true);
  });
});
