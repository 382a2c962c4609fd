import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { git, World } from "#review";
import { claims, NEOVIMS } from "#test";
import { join } from "../../src/lib/platform";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { say } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal } from "./in-terminal";

requireNamespace();
describe.each(NEOVIMS)("the message of a commit in $name", (version) => {
  const claude = new InTerminal().inBlock(version, {
    files: { a: "1\n2\n3\n", ".env": "SECRET=hush\n" },
    prepare: () => {
      writeFileSync(join(claude.home, ".gitconfig"), "[user]\nname = n\nemail = a@b\n");
      git(claude.project, "init", "-q", "-b", "main");
      git(claude.project, "add", "a");
      git(claude.project, "commit", "-q", "-m", "Count to three");
    },
  });
  const { keys, lua, lines } = claude;

  test("is requested with a key, comes from what will be committed, and is an undo step", async () => {
    claims("A private file's text and name stay in Neovim");
    const { model, project, home } = claude;
    const world = new World(project, home);
    world.prompt();
    world.claude({ a: "I\n2\n3\n", b: "waits\n" });
    world.stop();
    await world.keep([{ path: world.path("a") }]);
    // git's own hook adds what Claude may not see.
    world.write(".git/hooks/pre-commit", "#!/bin/sh\ngit add .env\n");
    chmodSync(world.path(".git/hooks/pre-commit"), 0o755);
    await eventually(() => lua("return require('claude-code.editor.review').count()"), 1);
    await claude.command("Claude commit");
    await eventually(() => lua("return vim.bo.filetype"), "gitcommit");

    model.script([say("```\nSay one in Roman\n\nAs Caesar\u202e did.\n```")]);
    await keys("gm");
    const message = ["Say one in Roman", "", "As Caesar<202e> did.", ""];
    await eventually(async () => (await lines()).slice(0, 4), message);
    const request = await model.nextRequest();
    expect(request.tools ?? []).toEqual([]);
    const asked = newsText(request);
    expect(asked).toContain("Count to three");
    expect(asked).toContain("-1\n+I\n");
    for (const unwanted of ["hush", ".env", "waits"]) expect(asked).not.toContain(unwanted);

    await keys("u");
    await eventually(async () => (await lines())[0], "");
    await keys("iMine<Esc>");
    model.script([say("Another")]);
    await keys(":Claude commit message<CR>");
    await eventually(async () => (await lines()).slice(0, 3), ["Another", "", "Mine"]);
    await keys("u");
    await eventually(async () => (await lines())[0], "Mine");
    await keys("<C-r>:wq<CR>");
    await claude.says("] Another, 2 files changed");
    // No part of it is in the review or in the list of conversations.
    expect(await world.summary()).toEqual(["b created 0>1@1"]);
    expect(existsSync(join(home, ".claude/projects"))).toBe(false);
    world[Symbol.dispose]();
  });
});
