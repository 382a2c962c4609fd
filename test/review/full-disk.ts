/**
 * What happens where the disk of project and state is full, as JSON; in a tmpfs at FOLDER that is
 * mounted for this program alone. The hook is that of EXECUTABLE.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { message } from "../../src/lib/errors";
import { journalPath } from "../../src/review/journal/append";
import { isolatedEnv } from "../support/claude-home";
import { World } from "./state/world";

const [folder, executable] = process.argv.slice(2) as [string, string];
const [home, project, filler] = ["home", "project", "filler"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
for (const path of [home, project]) mkdirSync(path);
const world = new World(project, home);
const text = Array.from({ length: 4_000 }, (_, i) => `${Bun.hash(`${i}`)}\n`).join("");
world.write("a", text);
world.claude({ a: `${text}Claude's\n` });

/** The journal's last block, too: empty lines are none. */
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

async function hook() {
  const input = {
    session_id: "A",
    cwd: project,
    tool_name: "Edit",
    tool_use_id: crypto.randomUUID(),
    tool_input: { file_path: world.path("a") },
    tool_response: { originalFile: text },
  };
  const child = Bun.spawn([executable, "hook", "post-tool-use", "--from-neovim"], {
    cwd: "/",
    env: { ...isolatedEnv(home), CLAUDE_PROJECT_DIR: project },
    stdin: Buffer.from(JSON.stringify(input)),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

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
