import { existsSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { Recorded } from "#review";
import { NEWEST } from "#test";
import { join } from "../../src/lib/platform";
import { isAlive } from "../../src/lib/process";
import type { Listed } from "../../src/review/service";
import { Claude, pluginArguments } from "../support/claude";
import { Model } from "../support/model";
import { requireNamespace } from "../support/namespace";
import { bash, edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { lockFiles } from "./lock-file";
import { Neovim } from "./neovim";

/* The steps follow each other. */

requireNamespace();

const ARGS = ["--permission-mode", "acceptEdits", "--allowedTools=Bash", ...pluginArguments()];
/** The user's own hook, which holds up the CLI after our hooks have ended. */
const SLOW_HOOK = {
  hooks: {
    PostToolUse: [
      { matcher: "Write", hooks: [{ type: "command", command: "touch hooked; sleep 4" }] },
    ],
  },
};

const model = new Model();
let world: Recorded;
let clis = 0;

beforeAll(() => {
  world = new Recorded({ "a.txt": "a\n", "mine.txt": "mine\n", ".gitignore": ".claude\nhooked\n" });
  world.write(".claude/settings.json", JSON.stringify(SLOW_HOOK));
  mkdirSync(join(world.home, "tmp"), { recursive: true });
  mkdirSync(join(world.home, "run"), { recursive: true });
});
afterAll(() => {
  model.stop();
  world[Symbol.dispose]();
});

const text = (name: string) => Bun.file(world.path(name)).text();

function start(port?: number): Promise<Claude> {
  const options = { project: world.root, home: world.home, model, args: ARGS };
  const further = clis++ > 0 && { further: `${clis}.log` };
  return Claude.start({ ...options, ...further, ...(port !== undefined && { port }) });
}

function kill(): void {
  const folder = join(world.home, ".claude/sessions");
  for (const name of readdirSync(folder)) {
    const pid = Number(name.split(".")[0]);
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
  }
}

async function listed(): Promise<string[]> {
  const { files } = (await world.answer("list", {})) as Listed;
  const root = world.root;
  return files.map(({ path, kind }) => `${path.slice(root.length + 1)} ${kind}`);
}

const decide = (method: string, name: string) =>
  world.answer(method, { files: [{ path: realpathSync(world.path(name)) }] });

async function next(prompt: string): Promise<void> {
  await using claude = await start();
  model.script([say("Here again.")]);
  await claude.prompt(prompt);
  await claude.terminal.waitFor(/Here again\./);
  await claude.waitForIdle();
  await world.compared();
}

test("lists with the next prompt what a command had changed", async () => {
  {
    await using claude = await start();
    model.script([bash("echo half >> a.txt; sleep 3"), say("never")]);
    await claude.prompt("go");
    await eventually(() => text("a.txt"), "a\nhalf\n");
    kill();
  }
  await next("again");
  await eventually(listed, ["a.txt changed"]);
  await decide("undo", "a.txt");
  expect(await text("a.txt")).toBe("a\n");
  await world.answer("back", { files: [] });
  expect(await text("a.txt")).toBe("a\nhalf\n");
  await decide("keep", "a.txt");
  expect(await listed()).toEqual([]);
});

test("lists at once an edit whose hooks still ran, and one of the next CLI", async () => {
  {
    await using claude = await start();
    const main = world.path("a.txt");
    const content = "new\n";
    model.script([
      read(main),
      edit(main, "half", "HALF"),
      [{ tool: "Write", input: { file_path: world.path("new.txt"), content } }],
      say("never"),
    ]);
    await claude.prompt("go");
    await eventually(async () => existsSync(world.path("hooked")), true);
    await eventually(listed, ["a.txt changed", "new.txt created"]);
    kill();
  }
  world.write("mine.txt", "mine, after the kill\n");
  await next("again");
  expect(await listed()).toEqual(["a.txt changed", "new.txt created"]);
  await decide("undo", "new.txt");
  await decide("undo", "a.txt");
  expect([await text("a.txt"), existsSync(world.path("new.txt"))]).toEqual(["a\nhalf\n", false]);
});

test("lists Claude's changes without another prompt beside Neovim, and none of the user's", async () => {
  const { root: project, home } = world;
  const neovim = await Neovim.start({ version: NEWEST, project, home, files: [] });
  await using _ = { [Symbol.asyncDispose]: () => neovim.close() };
  await eventually(async () => (await lockFiles(home)).length, 1, 20_000);
  const count = () => neovim.lua<number>(`return require("claude-code.editor.review").count()`);
  {
    const [lock] = await lockFiles(home);
    await using claude = await start(lock?.port ?? 0);
    await claude.waitForEditor();
    model.script([bash("echo more >> a.txt; sleep 3"), say("never")]);
    await claude.prompt("go");
    await eventually(() => text("a.txt"), "a\nhalf\nmore\n");
    kill();
  }
  await eventually(count, 1);
  world.write("mine.txt", "mine, after another kill\n");
  await next("again");
  expect(await listed()).toEqual(["a.txt changed"]);
  await neovim.lua("vim.cmd('edit a.txt | %Claude undo!') return true");
  await eventually(() => text("a.txt"), "a\nhalf\n");
  await eventually(count, 0);
});
