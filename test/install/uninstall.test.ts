import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { EXECUTABLE, isolatedEnv, nightly, ROOT, run as runProgram, temporaryFolder } from "#test";
import { join } from "../../src/lib/platform";
import { Publication } from "../support/installer";
import { mayBuild, TestRelease } from "../support/release";

mayBuild();

/** `claude-code-nvim uninstall`, with everything that it may find on a disk. */
let home: string;
let project: string;
let env: Record<string, string>;

beforeEach(() => {
  home = temporaryFolder();
  project = join(home, "work/project");
  mkdirSync(join(project, ".git"), { recursive: true });
  env = {
    ...(isolatedEnv(home) as Record<string, string>),
    PATH: "/usr/bin:/bin",
    XDG_DATA_HOME: join(home, "data"),
    XDG_STATE_HOME: join(home, "state"),
  };
});

const run = (command: string[], cwd = home) => runProgram(command, { cwd, env });

function write(path: string, text = "theirs"): string {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const SCRIPT = join(ROOT, "install.sh");
const stable = () => join(home, "data/claude-code.nvim/bin/claude-code-nvim");

const files = (folder: string) =>
  (readdirSync(folder, { recursive: true, withFileTypes: true }) ?? [])
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

const SETTINGS = '{\n  "permissions": { "allow": ["Bash(ls:*)"] }\n}\n';

async function everything(): Promise<string[]> {
  const theirs = [
    write(join(home, "data/other/file")),
    write(join(home, "data/nvim/site/pack/other/start/x/plugin/x.lua")),
    write(join(home, "state/other/file")),
    write(join(project, ".claude/settings.local.json"), SETTINGS),
    write(join(project, "code.ts")),
  ];
  await using published = await Publication.start(await TestRelease.standIn());
  const args = ["--version", "0.1.0", "--mirror", published.server.url];
  expect((await run(["sh", SCRIPT, ...args])).code).toBe(0);
  expect((await run([EXECUTABLE, "install-hooks", "--yes"], project)).code).toBe(0);
  write(join(home, "state/claude-code.nvim/review/x/journal.jsonl"), "{}");
  return [...theirs].sort();
}

test("lists everything, asks, and changes nothing without an answer", async () => {
  await everything();
  const before = files(home);
  const { code, stdout } = await run([stable(), "uninstall"]);
  expect(code).toBe(1);
  for (const part of [
    `${home}/data/nvim/site/pack/claude-code.nvim/start/claude-code.nvim (a symlink`,
    `${home}/data/claude-code.nvim (the executable`,
    `${home}/state/claude-code.nvim (state`,
    `in ${project}: change ${project}/.claude/settings.local.json: disable the plugin`,
    "Not removed:",
    "Use --yes",
  ]) {
    expect(stdout).toContain(part);
  }
  expect(files(home)).toEqual(before);
});

test("removes everything that it listed, and nothing else", async () => {
  const theirs = await everything();
  const { code, stderr, stdout } = await run([stable(), "uninstall", "--yes"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toEndWith("Done.\n");
  expect(files(home)).toEqual(theirs);
  expect(readFileSync(join(project, ".claude/settings.local.json"), "utf8")).toBe(SETTINGS);
  expect(existsSync(join(home, "data/nvim/site/pack/claude-code.nvim"))).toBe(false);
  expect(existsSync(join(home, "state/claude-code.nvim"))).toBe(false);
  const again = await run([EXECUTABLE, "uninstall", "--yes"]);
  expect([again.code, again.stdout]).toEqual([
    0,
    expect.stringContaining("No part of claude-code"),
  ]);
});

nightly.test("leaves a plugin that another program has put in the same place", async () => {
  await everything();
  const start = join(home, "data/nvim/site/pack/claude-code.nvim/start");
  const foreign = write(join(home, "checkout/init.lua"));
  rmSync(join(start, "claude-code.nvim"));
  symlinkSync(join(foreign, ".."), join(start, "claude-code.nvim"));
  expect((await run([EXECUTABLE, "uninstall", "--yes"])).code).toBe(0);
  expect(existsSync(join(start, "claude-code.nvim/init.lua"))).toBe(true);
  expect(existsSync(stable())).toBe(false);
});

nightly.test("works by install.sh --uninstall, which needs an installation", async () => {
  await everything();
  const { stdout } = await run(["sh", SCRIPT, "--uninstall"]);
  expect(stdout).toContain(`${home}/data/claude-code.nvim (the executable`);
  rmSync(join(home, "data/claude-code.nvim"), { recursive: true });
  const nothing = await run(["sh", SCRIPT, "--uninstall"]);
  expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining("is missing")]);
});

nightly.test("removes everything else if a project's settings cannot be read", async () => {
  await everything();
  const settings = join(project, ".claude/settings.local.json");
  rmSync(settings);
  mkdirSync(settings);
  const { code, stdout } = await run([EXECUTABLE, "uninstall", "--yes"]);
  expect(code).toBe(0);
  expect(stdout).toContain(`The plugin stays enabled in ${project}: ${settings} cannot be read`);
  expect(existsSync(join(home, "data/claude-code.nvim"))).toBe(false);
});
