import { describe, expect, test } from "bun:test";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal } from "./in-terminal";
import { settings } from "./settings";

/* The genuine CLI in the mode of the project's settings, and a user who wants no diff. */
requireNamespace();
describe.each(NEOVIMS)("the user's own way in $name", (version) => {
  const claude = new InTerminal().inBlock(version, {
    files: { "main.lua": "return 1\n" },
    terminal: "permission_mode = false",
    setup: `diff = { open = "never" }`,
    prepare: () => settings(claude.project, "settings.json", "default"),
  });

  test("Claude asks in its terminal; then the change is in the review, and the way is said", async () => {
    await claude.command("Claude");
    await claude.showing(/manual mode on/);
    await claude.connected();
    const path = claude.path("main.lua");
    claude.model.script([read(path), edit(path, "return 1", "return 2"), say("Done.")]);
    await claude.send("change it");
    await claude.showing(/Do you want to make this edit to main\.lua\?/);
    await claude.says('Claude shows no diff; in its /config, set "Diff tool" to "terminal"');
    expect(await claude.neovim.diff()).toBe(null);
    expect(await claude.onDisk("main.lua")).toBe("return 1\n");
    await claude.confirm(async () => (await claude.onDisk("main.lua")) === "return 2\n");
    await claude.showing(/Done\./);
    const review = "1 change in 1 file to review";
    await claude.says(review);
    const way = "Claude asks before each edit; other way: :help claude-code-two-ways";
    await claude.says(way);
    const messages = await claude.messages();
    expect(messages.indexOf(way)).toBeGreaterThan(messages.indexOf(review));
    const status = () => claude.neovim.lua<string>("return require('claude-code').statusline()");
    await eventually(async () => (await status()).includes("1 to review"), true);
  });
});
