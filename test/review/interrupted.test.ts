import { mkdirSync, writeFileSync } from "node:fs";
import { deadPid, perTest, restoresEnv, temporaryFolder } from "#test";
import { join } from "../../src/lib/platform";
import { ownProcess } from "../../src/lib/process";
import { ReviewedProject } from "../../src/review/state/reviewed-project";
import { endInterrupted } from "../../src/review/state/sessions";
import { World } from "./state/world";

const DOMAIN = ownProcess().domain;

const world = perTest(() => new World());
restoresEnv("CLAUDE_CONFIG_DIR");

const MINUTE = 60_000;

test.each([
  ["idle since Esc", process.pid, { status: "idle", statusUpdatedAt: Date.now() + MINUTE }, true],
  ["idle since the turn before", process.pid, { status: "idle", statusUpdatedAt: 1 }, false],
  ["idle since an unknown time", process.pid, { status: "idle" }, false],
  ["busy", process.pid, { status: "busy", statusUpdatedAt: Date.now() + MINUTE }, false],
  ["asking", process.pid, { status: "waiting", statusUpdatedAt: Date.now() + MINUTE }, false],
  ["killed", undefined, { status: "busy", pidDomain: DOMAIN }, true],
  ["in another container", undefined, { status: "busy", pidDomain: "linux:x:pid:[1]" }, false],
])("judges a turn of a CLI that is %s", async (_name, pid, state, isEnded) => {
  const prompt = world.prompt("A");
  world.record({ type: "begin", session: "A", prompt, tool: "Bash", use: "u1" });
  await Bun.sleep(2);
  const config = temporaryFolder();
  process.env.CLAUDE_CONFIG_DIR = config;
  mkdirSync(join(config, "sessions"));
  const entry = { sessionId: "A", pidDomain: DOMAIN, ...state };
  writeFileSync(join(config, "sessions", `${pid ?? deadPid()}.json`), JSON.stringify(entry));
  const project = new ReviewedProject(world.root);
  project.refresh();
  expect(endInterrupted(project)).toBe(isEnded);
  expect(project.sessions.isWorking("A")).toBe(!isEnded);
  expect(endInterrupted(project)).toBe(false);
});
