import { mkdirSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claims, first, NEOVIMS, TestNeovim, temporaryFolder } from "#test";
import { worktreesAround } from "../../src/sessions/worktrees";
import { commitAll, git } from "../review/repository";
import { MAX_MS, watchComputing } from "../support/computing";

/* What a folder from the internet may bring in its `.git`, against the work trees that Neovim reads. */
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
  ["a .git that leads to itself", (git) => symlinkSync(".git", git)],
  [".git is a FIFO", (git) => Bun.spawnSync(["mkfifo", git])],
  [
    "600 work trees",
    (git) => {
      for (let i = 0; i < 600; i++) {
        mkdirSync(join(git, `worktrees/${i}`), { recursive: true });
        writeFileSync(join(git, `worktrees/${i}/gitdir`), "/tmp/x/.git\n");
      }
    },
  ],
];

test.each(
  NEOVIMS.flatMap((version) =>
    first(4, folders).map((one) => [version.name, ...one, version] as const),
  ),
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
  expect(await computed()).toBeLessThan(MAX_MS);
  rmSync(project, { recursive: true });
});

test.each(NEOVIMS)(
  "$name: a project that names another one as its work tree does not get it",
  async (version) => {
    claims("A project cannot claim another project's conversations");
    const folder = realpathSync(temporaryFolder());
    const [work, hostile, linked] = ["work", "hostile", "linked"].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    for (const one of [work, hostile]) {
      mkdirSync(one);
      commitAll(one, {});
    }
    git(work, "worktree", "add", "-q", linked);
    await using neovim = await TestNeovim.start({
      version,
      cwd: hostile,
      setup: "{ auto_start = false }",
    });
    const of = (one: string) =>
      neovim.lua<string[]>(
        `return vim.tbl_map(function(tree) return tree.path end, require("claude-code.sessions.worktrees").of(...))`,
        one,
      );
    expect([await of(work), await of(linked)]).toEqual([
      [work, linked],
      [work, linked],
    ]);
    expect([worktreesAround(work), worktreesAround(linked).sort()]).toEqual([
      [work, linked],
      [linked, work].sort(),
    ]);
    mkdirSync(join(hostile, ".git/worktrees/x"), { recursive: true });
    for (const target of [`${work}/.git`, `${linked}/.git`, "/.git"]) {
      writeFileSync(join(hostile, ".git/worktrees/x/gitdir"), `${target}\n`);
      expect([await of(hostile), worktreesAround(hostile)]).toEqual([[hostile], [hostile]]);
    }
    rmSync(join(hostile, ".git"), { recursive: true });
    writeFileSync(join(hostile, ".git"), `gitdir: ${work}/.git/worktrees/linked\n`);
    expect([(await of(hostile)).includes(work), worktreesAround(hostile)]).toEqual([
      false,
      [hostile],
    ]);
    rmSync(folder, { recursive: true });
  },
);
