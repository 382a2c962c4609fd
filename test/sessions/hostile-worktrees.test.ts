import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LONGEST_MS, watchComputing } from "../support/computing";
import { NEOVIMS, TestNeovim, temporaryFolder } from "../support/neovim";

/* What a folder from the internet may bring in its `.git`, against the work trees that Neovim reads. */
setDefaultTimeout(60_000);

const huge = (path: string) => {
  writeFileSync(path, "gitdir: ");
  truncateSync(path, 20 * 2 ** 30);
};

const folders: [what: string, make: (git: string) => void][] = [
  ["a .git of 20 GB without a line end", huge],
  [
    "a HEAD and a work tree's file of 20 GB",
    (git) => {
      mkdirSync(join(git, "worktrees/one"), { recursive: true });
      huge(join(git, "HEAD"));
      huge(join(git, "worktrees/one/gitdir"));
    },
  ],
  [
    "600 work trees",
    (git) => {
      for (let i = 0; i < 600; i++) {
        mkdirSync(join(git, `worktrees/${i}`), { recursive: true });
        writeFileSync(join(git, `worktrees/${i}/gitdir`), "/tmp/x/.git\n");
      }
    },
  ],
  ["a .git that leads to itself", (git) => symlinkSync(".git", git)],
  [".git is a FIFO", (git) => Bun.spawnSync(["mkfifo", git])],
];

test.each(
  NEOVIMS.flatMap((version) => folders.map((one) => [version.name, ...one, version] as const)),
)("%s, %s", async (_name, _what, make, version) => {
  const project = temporaryFolder();
  make(join(project, ".git"));
  await using neovim = await TestNeovim.start({
    version,
    cwd: project,
    setup: "{ auto_start = false }",
  });
  const computed = await watchComputing(neovim);
  const found = await neovim.lua<object>(
    `local worktrees = require("claude-code.sessions.worktrees")
      worktrees.of(...)
      return worktrees.at(...)`,
    project,
  );
  expect(JSON.stringify(found).length).toBeLessThan(5_000);
  expect(await computed()).toBeLessThan(LONGEST_MS);
  rmSync(project, { recursive: true });
});
