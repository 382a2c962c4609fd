/**
 * Prints as JSON what happens when the disk of project and state is full: a tmpfs at FOLDER, mounted for this program
 * alone.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { message } from "../../src/lib/errors";
import { join } from "../../src/lib/platform";
import { journalPath } from "../../src/review/journal/append";
import { isolatedEnv } from "../support/claude-home";
import { runHook } from "../support/hook";
import { World } from "./state/world";

const folder = process.argv[2] as string;
const [home, project, filler] = [join(folder, "home"), join(folder, "project"), join(folder, "f")];
for (const path of [home, project]) mkdirSync(path);
const world = new World(project, home);
const text = Array.from({ length: 4_000 }, (_, i) => `${Bun.hash(`${i}`)}\n`).join("");
world.write("a", text);
world.claude({ a: `${text}Claude's\n` });

/** The journal's last block, too: empty lines are not records. */
function fill(): void {
  for (const path of [filler, journalPath(world.folder)]) {
    for (let size = 65_536; size >= 1; size = Math.floor(size / 2)) {
      try {
        for (;;) writeFileSync(path, "\n".repeat(size), { flag: "a" });
      } catch {
        // Half of it may fit.
      }
    }
  }
}

const hook = () =>
  runHook({
    event: "post-tool-use",
    input: {
      session_id: "A",
      cwd: project,
      tool_name: "Edit",
      tool_use_id: crypto.randomUUID(),
      tool_input: { file_path: world.path("a") },
      tool_response: { originalFile: text },
    },
    cwd: "/",
    env: { ...isolatedEnv(home), CLAUDE_PROJECT_DIR: project },
  });

const decided = async (method: string) => {
  const answer = world.service.answer(method, { files: [{ path: world.path("a") }] });
  return await answer.then((done) => JSON.stringify(done), message);
};

fill();
const full = {
  hook: await hook(),
  keep: await decided("keep"),
  undo: await decided("undo"),
  isWhole: world.read("a") === `${text}Claude's\n`,
  list: await world.list(),
  isReported: (await world.service.summary()).incomplete,
};
rmSync(filler);
const free = { undo: await decided("undo"), isUndone: world.read("a") === text };
console.log(JSON.stringify({ full, free }));
