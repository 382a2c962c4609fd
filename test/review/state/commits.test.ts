import { realpathSync, rmSync, symlinkSync } from "node:fs";
import { $ } from "bun";
import { eventually, needs, perTest, setSystemTime } from "#test";
import { leftBehind } from "../../../src/claude/left-behind";
import { isAlive } from "../../../src/lib/process";
import { committedFiles } from "../../../src/review/git/committed";
import { Git } from "../../../src/review/git/run";
import { Recorder } from "../../../src/review/record/recorder";
import { platformSkip } from "../../support/platform-skip";
import { commitAll, git as run } from "../repository";
import { play, stories, textOf } from "../story";
import { World } from "./world";

const SEVEN = "1 2 3 4 5 6 7";
const EDIT = "1 2 3 4 5 6 VII";
const EDITS = "I 2 3 4 5 6 VII";
const TEXT = textOf(SEVEN);
const world = perTest(() => new World());
beforeEach(() => {
  world.write("a", TEXT);
  commitAll(world.root, { a: TEXT });
});

const git = (...args: string[]) => run(world.root, ...args);
const tell = (story: string) => play(world, story);
const WAITS = "is a changed 1>1@7";
/** The branch `other` has one more row above, and another file. */
const OTHER = `git switch -q -c other; user a=0 ${SEVEN}, b=other's; commit; git switch -q -`;

test("restores a turn's files that were committed since, and says so first", async () => {
  world.claude({ a: textOf(EDIT) }, { prompt: world.prompt() });
  await play(world, "stop; later; is a changed 1>1@7; commit; is nothing");
  const scope = { scope: "since", turn: 1 };
  const plan = (await world.service.answer("plan", scope)) as { files: object[]; question: string };
  expect(plan.question).toContain("1 file changed in commits, which stay.");
  await world.undo(plan.files, scope);
  await play(world, `disk a=${SEVEN}; back; disk a=${EDIT}; is nothing`);
});

stories(
  `repository a=${SEVEN}`,
  `
# keeps what the user commits, and not the rest
  prompt; A a=${EDITS}, b=new; is a changed 1>1@1 1>1@7, b created 0>1@1
  user a=I 2 3 4 5 6 7; git commit -q -m part -- a; user a=${EDITS}
  is a changed 1>1@7, b created 0>1@1; commit; is nothing
# keeps what the user commits on a branch that is an alias of another
  git branch real; git symbolic-ref refs/heads/main refs/heads/real
  prompt; A a=${EDITS}; is a changed 1>1@1 1>1@7; commit; is nothing
# keeps what the user stages
  prompt; A a=${EDIT}; ${WAITS}; git add a; is nothing
# keeps a file that Claude moved[| and edited] under both of its names
  prompt; A -a, b=${SEVEN}; [|A b=${EDIT}]; is [b renamed 0>7@1|a deleted 7>0@0, b created 0>7@1]
  commit; is nothing
# keeps what was committed while no Neovim ran
  prompt; A a=${EDIT}; commit; prompt; A a=${EDITS}; restart; is a changed 1>1@1
# does not keep what Claude committed before Esc[|, even if Neovim checks meanwhile]
  prompt; A a=${EDIT}; [|${WAITS}]; begin; commit; [|${WAITS}]; prompt; stop; later; restart
  ${WAITS}; user more=mine; commit; ${WAITS}
# does not keep what a background task [stages|commits]
  prompt; A a=${EDIT}; begin; stop in the background; ${WAITS}; prompt
  git add -A; [|git commit -q -m task]; ${WAITS}; stop; ${WAITS}; later
  git reset -q --soft HEAD; ${WAITS}
# keeps what the user commits after a call that was interrupted
  prompt; A a=${EDIT}; begin; stop; later; ${WAITS}; commit; is nothing
# does not keep Claude's commit if the user's commit follows while no Neovim runs
  prompt; A a=${EDIT}; begin; commit; prompt; later; user more=mine; commit; prompt
  restart; ${WAITS}
# does not keep what Claude's [git add -A|commit] includes if the call is recorded late
  prompt; A a=${EDIT}; ${WAITS}; mark; [git add -A|commit]; is nothing; begin at mark; ${WAITS}
  end; restart; ${WAITS}; later; keep a; is nothing
# does not keep what Claude commits until the user rebases it
  ${OTHER}; prompt; is nothing; A a=${EDIT}; ${WAITS}; begin; commit; ${WAITS}; end at HEAD
  ${WAITS}; git rebase -q other; is nothing
# still shows after a commit that Claude deleted a row that was never committed
  prompt; user a=1 2 mine 3 4 5 6 7; A a=${EDIT}; user a=${EDIT} more; git add a
  user a=0 ${EDIT} more; git commit -q -m part; is a changed 1>0@3
`,
);

test.each(["commit", "git add a"])(
  "keeps what `%s` takes with line ends that differ from git's",
  async (how) => {
    const crlf = TEXT.replaceAll("\n", "\r\n");
    world.write(".gitattributes", "* text=auto\n");
    world.write("a", crlf);
    await tell("commit; prompt");
    world.claude({ a: crlf.replace("1", "I").replace("7", "VII") });
    await tell("is a changed 1>1@1 1>1@7");
    world.write("a", crlf.replace("7", "VII"));
    await tell(how);
    world.write("a", crlf.replace("1", "I").replace("7", "VII"));
    await tell("is a changed 1>1@1");
  },
);

test.each(["in the project", "elsewhere"])(
  "does not keep changes that a leftover process %s commits",
  async (where) => {
    if (process.platform !== "linux") {
      return platformSkip("another process's environment is seen in Linux's /proc");
    }
    await tell(`prompt; A a=${EDIT}; begin`);
    const cli = Bun.spawn(["sleep", "600"]);
    const env = { ...process.env, CLAUDE_PID: `${cli.pid}` };
    const root = realpathSync(world.root);
    const [cwd, file] = where === "elsewhere" ? ["/", `${root}/a`] : [root, "a"];
    const started = $`sh -c ${'(tail -f "$0" >/dev/null 2>&1 & echo $!)'} ${file}`
      .cwd(cwd)
      .env(env);
    const pid = Number(await started.text());
    try {
      await tell("end");
      expect(leftBehind(cli.pid, root)).toEqual([pid]);
      new Recorder(world.root).stop("A", undefined, false, cli.pid);
      await tell(`later; ${WAITS}; commit; ${WAITS}`);
    } finally {
      process.kill(pid, "SIGKILL");
      cli.kill();
    }
    await eventually("its end", () => !isAlive(pid));
    // A commit by the user counts again.
    await tell(`${WAITS}; later; A a=${EDITS}; is a changed 1>1@1 1>1@7; commit; is nothing`);
  },
);

test.each(["git add -A", "commit"])(
  "does not keep changes on Claude's own %s after the clock was set back",
  async (how) => {
    await tell(`prompt; A a=${EDIT}; ${WAITS}`);
    setSystemTime(Date.now() - 3_600_000);
    try {
      await tell(`begin; ${how}; end; later; ${WAITS}`);
    } finally {
      setSystemTime();
    }
  },
);

const MOVED = `0 ${EDIT}`;
test.each([
  ["a new branch", ["switch -q -c new"], EDIT, WAITS],
  ["a worktree", ["worktree add -q tree other"], EDIT, WAITS],
  ["stash", ["stash -q"], SEVEN, "is nothing"],
  ["stash and back", ["stash -q", "stash pop -q"], EDIT, WAITS],
  ["checkout of the file", ["checkout -q -- a"], SEVEN, "is nothing"],
  ["reset --hard", ["reset -q --hard"], SEVEN, "is nothing"],
  ["another branch by force", ["switch -q -f other"], `0 ${SEVEN}`, "is nothing"],
  ["another branch, with the changes", ["switch -q -m other"], MOVED, "is a changed 1>1@8"],
  ["rebase on another branch", ["rebase -q --autostash other"], MOVED, "is a changed 1>1@8"],
  ["rebase of the user's commit", ["commit -q -a -m mine", "rebase -q other"], MOVED, "is nothing"],
])("follows what git moves: %s", async (_name, commands, text, listed) => {
  await tell(`${OTHER}; prompt; A a=${EDIT}; stop`);
  const [before] = (await world.list()).files;
  await tell(WAITS);
  for (const command of commands) {
    await git(...command.split(" "));
    await world.service.summary();
  }
  await tell(`disk a=${text}; ${listed}; restart; ${listed}`);
  // A hunk shown before is refused where the text differs now; one shown now is undone.
  const hunks = before?.hunks.map(({ id }) => id) ?? [];
  const old = await world.undo([{ path: world.path("a"), hunks }]);
  if (old.decision === undefined) {
    await tell(`disk a=${text}${listed === "is nothing" ? "" : "; undo a"}`);
  }
  const undone = listed === "is nothing" ? text : text.replace("VII", "7");
  await tell(`disk a=${undone}; is nothing`);
});

needs("symlinks")(
  "reads the files of a commit one by one if git has lost one, or a name has two lines",
  async () => {
    symlinkSync("a", world.path("link"));
    for (const [name, text] of Object.entries({ "two\nlines": "two\n", b: "b\n", c: "c" })) {
      world.write(name, text);
    }
    await tell("commit");
    const lost = (await git("rev-parse", "HEAD:b")).trim();
    rmSync(world.path(`.git/objects/${lost.slice(0, 2)}/${lost.slice(2)}`));
    const texts = (...names: string[]) => {
      const found = Git.in(world.root)?.wait(committedFiles("HEAD", names));
      return names.map((name) => {
        const bytes = found?.get(name)?.bytes;
        return bytes && Buffer.from(bytes).toString();
      });
    };
    expect(texts("b", "c", "link", "missing")).toEqual([undefined, "c", "a", undefined]);
    expect(texts("c", "two\nlines")).toEqual(["c", "two\n"]);
  },
);
