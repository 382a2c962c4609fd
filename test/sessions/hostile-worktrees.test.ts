import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { commitAll, git } from "#review";
import { claims, lacks, temporaryFolder } from "#test";
import { realPath } from "../../src/lib/paths";
import { join } from "../../src/lib/platform";
import { worktreesAround, worktreesOf } from "../../src/sessions/worktrees";

/* Hostile contents of the `.git` of a folder from the internet, against the work trees that are read there. */
const huge = (path: string) => {
  writeFileSync(path, "gitdir: ");
  truncateSync(path, 20 * 2 ** 30);
};

const MAX_MS = 1_000;

const HOSTILE: Record<string, (git: string) => unknown> = {
  "a .git of 20 GB without a line end": huge,
  "a HEAD and a work tree's file of 20 GB": (git) => {
    mkdirSync(join(git, "worktrees/one"), { recursive: true });
    huge(join(git, "HEAD"));
    huge(join(git, "worktrees/one/gitdir"));
  },
  "600 work trees": (git) => {
    for (let i = 0; i < 600; i++) {
      mkdirSync(join(git, `worktrees/${i}`), { recursive: true });
      writeFileSync(join(git, `worktrees/${i}/gitdir`), "/tmp/x/.git\n");
    }
  },
};
if (!lacks("FIFOs")) {
  HOSTILE["a .git that leads to itself"] = (git) => symlinkSync(".git", git);
  HOSTILE["a .git that is a FIFO"] = (git) => Bun.spawnSync(["mkfifo", git]);
}

test.each(Object.entries(HOSTILE))("reads %s within a second", (_what, make) => {
  const project = temporaryFolder();
  make(join(project, ".git"));
  const since = performance.now();
  expect(JSON.stringify(worktreesOf(project)).length).toBeLessThan(5_000);
  expect(performance.now() - since).toBeLessThan(MAX_MS);
  rmSync(project, { recursive: true, force: true });
});

test("does not take another project for the work tree that a project names", () => {
  claims("A project cannot claim another project's conversations");
  const folder = realPath(temporaryFolder());
  const [work, hostile, linked] = ["work", "hostile", "linked"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  for (const one of [work, hostile]) {
    mkdirSync(one);
    commitAll(one, {});
  }
  git(work, "worktree", "add", "-q", linked);
  const of = (one: string) => worktreesOf(one).map(({ path }) => path);
  expect([of(work), of(linked)]).toEqual([
    [work, linked],
    [work, linked],
  ]);
  mkdirSync(join(hostile, ".git/worktrees/x"), { recursive: true });
  for (const target of [`${work}/.git`, `${linked}/.git`, "/.git"]) {
    writeFileSync(join(hostile, ".git/worktrees/x/gitdir"), `${target}\n`);
    expect([of(hostile), worktreesAround(hostile)]).toEqual([[hostile], [hostile]]);
  }
  rmSync(join(hostile, ".git"), { recursive: true });
  writeFileSync(join(hostile, ".git"), `gitdir: ${work}/.git/worktrees/linked\n`);
  expect([of(hostile), worktreesAround(hostile)]).toEqual([[], [hostile]]);
  rmSync(folder, { recursive: true, force: true });
});
