import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { cliArguments } from "../../src/claude/cli-arguments";
import { Recorded } from "../review/recorded";
import { Claude } from "../support/claude";
import { Model } from "../support/model";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { EXECUTABLE } from "../support/toolchain";
import { edit, read, say } from "../support/turns";

requireNamespace();

const settings = cliArguments(EXECUTABLE).settings_with_hooks;

test("the model receives with the next prompt what the user has undone, and only with that", async () => {
  using world = new Recorded({ "a.lua": "one\ntwo\n" });
  mkdirSync(join(world.home, "tmp"), { recursive: true });
  using model = new Model();
  const args = ["--permission-mode", "acceptEdits", settings];
  await using claude = await Claude.start({
    ...{ project: world.folder, home: world.home, model, args },
  });
  const path = world.path("a.lua");
  model.script([read(path), edit(path, "two", "TWO"), say("Done.")]);
  await claude.prompt("go");
  await claude.terminal.waitFor(/Done\./);
  await claude.waitForIdle();
  await world.answer("undo", { files: [{ path }] });
  expect(await Bun.file(path).text()).toBe("one\ntwo\n");

  model.script([say("Second."), say("Third.")]);
  await claude.prompt("and now");
  const received = newsText(await model.nextRequest());
  expect(received).toContain("a.lua\nline 2:\n+two\n-TWO");
  expect(received).toContain("Do not make these again unless the user asks for it.");
  await claude.terminal.waitFor(/Second\./);
  await claude.prompt("and again");
  expect(newsText(await model.nextRequest())).not.toContain("Do not make these again");
}, 120_000);
