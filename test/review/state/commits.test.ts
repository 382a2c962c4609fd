import { realpathSync, rmSync, symlinkSync } from "node:fs";
import { $ } from "bun";
import { eventually, setSystemTime } from "#test";
import { leftBehind } from "../../../src/claude/left-behind";
import { isAlive } from "../../../src/lib/process";
import { committedFiles } from "../../../src/review/git/committed";
import { Git, LIMITS } from "../../../src/review/git/run";
import { Recorder } from "../../../src/review/record/recorder";
import { platformSkip } from "../../support/platform-skip";
import { commitAll, git as run } from "../repository";
import { World } from "./world";

const TEXT = "1\n2\n3\n4\n5\n6\n7\n";
const EDITED = { a: "1\n2\n3\n4\n5\n6\nVII\n" };

let world: World;
beforeEach(() => {
  world = new World();
  world.write("a", TEXT);
  commitAll(world.root, { a: TEXT });
});
afterEach(() => world[Symbol.dispose]());

const git = (...args: string[]) => run(world.root, ...args);
const headNow = async () => (await git("rev-parse", "HEAD")).trim();

async function commit(text: string): Promise<void> {
  await git("add", "-A");
  await git("commit", "-q", "-m", text);
}

/** As hooks record it: with the commit that HEAD names. */
async function prompt(session = "A"): Promise<void> {
  const head = await headNow();
  world.record({ type: "prompt", session, prompt: crypto.randomUUID(), text: "go", head });
}

async function claudeEdits(): Promise<void> {
  await prompt();
  world.claude(EDITED);
}

async function left(service = world.service): Promise<string[]> {
  await service.summary();
  return world.summary();
}

test("what the user commits is kept, the rest is not", async () => {
  await prompt();
  world.claude({ a: "I\n2\n3\n4\n5\n6\nVII\n", b: "new\n" });
  expect(await left()).toEqual(["a changed 1>1@1 1>1@7", "b created 0>1@1"]);
  world.write("a", "I\n2\n3\n4\n5\n6\n7\n");
  await git("commit", "-q", "-m", "a part", "--", "a");
  world.write("a", "I\n2\n3\n4\n5\n6\nVII\n");
  expect(await left()).toEqual(["a changed 1>1@7", "b created 0>1@1"]);
  await commit("the rest");
  expect(await left()).toEqual([]);
});

test("what the user commits on a branch that is another name of one is kept", async () => {
  await git("branch", "real");
  const branch = (await git("symbolic-ref", "HEAD")).trim();
  await git("symbolic-ref", branch, "refs/heads/real");
  await prompt();
  world.claude({ a: "I\n2\n3\n4\n5\n6\nVII\n" });
  expect(await left()).toHaveLength(1);
  await commit("by the user");
  expect(await left()).toEqual([]);
});

test.each(["commits", "stages"])(
  "what the user %s is kept, though git keeps other line ends",
  async (how) => {
    const crlf = TEXT.replaceAll("\n", "\r\n");
    world.write(".gitattributes", "* text=auto\n");
    world.write("a", crlf);
    await commit("attributes");
    await prompt();
    world.claude({ a: crlf.replace("1", "I").replace("7", "VII") });
    expect(await left()).toEqual(["a changed 1>1@1 1>1@7"]);
    world.write("a", crlf.replace("7", "VII"));
    if (how === "commits") await commit("a part");
    else await git("add", "a");
    world.write("a", crlf.replace("1", "I").replace("7", "VII"));
    expect(await left()).toEqual(["a changed 1>1@1"]);
  },
);

test("what the user stages is kept", async () => {
  await claudeEdits();
  expect(await left()).toHaveLength(1);
  await git("add", "a");
  expect(await left()).toEqual([]);
});

test.each([
  ["moved", TEXT],
  ["moved and edited", EDITED.a],
])("a commit keeps a file that Claude %s under both of its names", async (_what, text) => {
  await prompt();
  world.claude({ a: undefined, b: TEXT });
  world.claude({ b: text });
  expect(await left()).not.toEqual([]);
  await commit("by the user");
  expect(await left()).toEqual([]);
});

test("what was committed while no Neovim ran is kept, too", async () => {
  await claudeEdits();
  await commit("by hand");
  await prompt();
  world.claude({ a: "I\n2\n3\n4\n5\n6\nVII\n" });
  expect(await left(world.another())).toEqual(["a changed 1>1@1"]);
});

const CALL = { session: "A", tool: "Bash", use: "u1" } as const;

/** A command of Claude's begins. */
function begin(at?: number): void {
  world.record({ type: "begin", ...CALL, ...(at && { at }) });
}

/** It ends, and has changed no file by itself. */
function end(head?: string): void {
  world.record({ type: "change", ...CALL, source: "bash", files: [], ...(head && { head }) });
}

/** So long after a call nothing is its doing: times are in whole milliseconds. */
const later = () => Bun.sleep(5);

test.each([true, false])(
  "Esc after Claude's commit: it waits (Neovim looks: %p)",
  async (looks) => {
    await prompt();
    world.claude(EDITED);
    if (looks) expect(await left()).toHaveLength(1);
    begin();
    await commit("by Claude");
    if (looks) await left();
    await prompt();
    world.stop();
    await later();
    expect(await left(world.another())).toHaveLength(1);
    world.write("more", "mine\n");
    await commit("the user's, of another file");
    expect(await left()).toHaveLength(1);
  },
);

test.each(["commit", "add"])("a task in the background that does git %s", async (what) => {
  await claudeEdits();
  begin();
  world.record({ type: "stop", session: "A", background: true });
  expect(await left()).toHaveLength(1);
  await prompt();
  await git("add", "-A");
  if (what === "commit") await git("commit", "-q", "-m", "by the task");
  expect(await left()).toHaveLength(1);
  world.stop();
  expect(await left()).toHaveLength(1);
  await later();
  await git("reset", "-q", "--soft", "HEAD");
  expect(await left()).toHaveLength(1);
});

test.each(["commit", "add"])("a call that is recorded late does git %s: it waits", async (what) => {
  await claudeEdits();
  expect(await left()).toHaveLength(1);
  const at = Date.now();
  await git("add", "-A");
  if (what === "commit") await git("commit", "-q", "-m", "by Claude");
  expect(await left()).toEqual([]);
  begin(at);
  expect(await left()).toHaveLength(1);
  end();
  expect(await left(world.another())).toHaveLength(1);
  await later();
  // What the user has kept stays kept.
  await world.keep([{ path: world.path("a") }]);
  expect(await left()).toEqual([]);
});

test.each(["in the project", "elsewhere"])("a process left %s commits: it waits", async (where) => {
  if (process.platform !== "linux") {
    return platformSkip("another process's environment is seen in Linux's /proc");
  }
  await claudeEdits();
  begin();
  const cli = Bun.spawn(["sleep", "600"]);
  const env = { ...process.env, CLAUDE_PID: `${cli.pid}` };
  const root = realpathSync(world.root);
  const [cwd, file] = where === "elsewhere" ? ["/", `${root}/a`] : [root, "a"];
  const started = $`sh -c ${'(tail -f "$0" >/dev/null 2>&1 & echo $!)'} ${file}`.cwd(cwd).env(env);
  const pid = Number(await started.text());
  try {
    end();
    expect(leftBehind(cli.pid, root)).toEqual([pid]);
    new Recorder(world.root).stop("A", undefined, false, cli.pid);
    await later();
    expect(await left()).toHaveLength(1);
    await commit("by what was left");
    expect(await left()).toHaveLength(1);
  } finally {
    process.kill(pid, "SIGKILL");
    cli.kill();
  }
  await eventually("its end", () => !isAlive(pid));
  expect(await left()).toHaveLength(1);
  await later();
  // A commit of the user's counts again.
  world.claude({ a: "I\n2\n3\n4\n5\n6\nVII\n" });
  expect(await left()).toEqual(["a changed 1>1@1 1>1@7"]);
  await commit("by the user");
  expect(await left()).toEqual([]);
});

test.each(["add", "commit"])("the clock is set back before Claude's git %s", async (what) => {
  await claudeEdits();
  expect(await left()).toHaveLength(1);
  setSystemTime(Date.now() - 3_600_000);
  try {
    begin();
    await git("add", "-A");
    if (what === "commit") await git("commit", "-q", "-m", "by Claude");
    end();
    await later();
    expect(await left()).toHaveLength(1);
  } finally {
    setSystemTime();
  }
});

test("what the user commits after a call that was interrupted is kept", async () => {
  await claudeEdits();
  begin();
  world.stop();
  await later();
  expect(await left()).toHaveLength(1);
  await commit("by the user");
  expect(await left()).toEqual([]);
});

test("a commit of Claude's that is no call's, and then one of the user's, with no Neovim", async () => {
  await claudeEdits();
  begin();
  await commit("by Claude");
  await prompt();
  await later();
  world.write("more", "mine\n");
  await commit("by the user");
  await prompt();
  expect(await left(world.another())).toEqual(["a changed 1>1@7"]);
});

test("a row that was never committed, and that Claude deleted, still shows after a commit", async () => {
  await prompt();
  world.write("a", "1\n2\nmine\n3\n4\n5\n6\n7\n");
  world.claude(EDITED);
  world.write("a", "1\n2\n3\n4\n5\n6\nVII\nmore\n");
  await git("add", "a");
  world.write("a", "0\n1\n2\n3\n4\n5\n6\nVII\nmore\n");
  await git("commit", "-q", "-m", "without the first row");
  expect(await left()).toEqual(["a changed 1>0@3"]);
});

/** What stands on the branch `other`: a row more above, and another file. */
async function branchOff(): Promise<void> {
  await git("switch", "-q", "-c", "other");
  world.write("a", "0\n1\n2\n3\n4\n5\n6\n7\n");
  world.write("b", "other's\n");
  await commit("other");
  await git("switch", "-q", "-");
}

const MOVED = `0\n${EDITED.a}`;
test.each([
  ["a new branch", ["switch -q -c new"], EDITED.a, ["a changed 1>1@7"]],
  ["a worktree", ["worktree add -q tree other"], EDITED.a, ["a changed 1>1@7"]],
  ["stash", ["stash -q"], TEXT, []],
  ["stash and back", ["stash -q", "stash pop -q"], EDITED.a, ["a changed 1>1@7"]],
  ["checkout of the file", ["checkout -q -- a"], TEXT, []],
  ["reset --hard", ["reset -q --hard"], TEXT, []],
  ["another branch by force", ["switch -q -f other"], "0\n1\n2\n3\n4\n5\n6\n7\n", []],
  ["another branch, with the changes", ["switch -q -m other"], MOVED, ["a changed 1>1@8"]],
  ["rebase on another branch", ["rebase -q --autostash other"], MOVED, ["a changed 1>1@8"]],
  ["rebase of a commit of the user's", ["commit -q -a -m mine", "rebase -q other"], MOVED, []],
])("git moves: %s", async (_name, commands, text, expected) => {
  await branchOff();
  await claudeEdits();
  world.stop();
  const before = await world.list();
  expect(await left()).toEqual(["a changed 1>1@7"]);
  for (const command of commands) {
    await git(...command.split(" "));
    await left();
  }
  expect(world.read("a")).toBe(text);
  expect(await left()).toEqual(expected);
  expect(await left(world.another())).toEqual(expected);
  // What was shown before is refused where the text is another one now; what is shown now is undone.
  const path = world.path("a");
  const old = await world.undo([{ path, hunks: before.files[0]?.hunks.map(({ id }) => id) ?? [] }]);
  if (old.decision === undefined) expect(world.read("a")).toBe(text);
  if (expected.length > 0) await world.undo([{ path }]);
  expect(world.read("a")).toBe(expected.length > 0 ? text.replace("VII", "7") : text);
  expect(await left()).toEqual([]);
});

test("waits with what Claude commits itself until the user moves HEAD over it", async () => {
  await branchOff();
  await prompt();
  expect(await left()).toEqual([]);
  world.claude(EDITED);
  expect(await left()).toHaveLength(1);
  begin();
  await commit("by Claude");
  expect(await left()).toHaveLength(1);
  end(await headNow());
  expect(await left()).toEqual(["a changed 1>1@7"]);
  await git("rebase", "-q", "other");
  expect(await left()).toEqual([]);
});

const endless = "while :; do echo 0123456789; done";
test.each([
  ["hangs", "sleep 60"],
  ["starts what hangs", "sleep 60 & sleep 60"],
  ["never stops writing", endless],
])("a git that %s keeps nobody else waiting", async (_what, script) => {
  await claudeEdits();
  world.write("bin/git", `#!/bin/sh\n${script}\n`);
  world.chmod("bin/git", 0o755);
  const path = process.env.PATH;
  const { ms } = LIMITS;
  process.env.PATH = `${world.path("bin")}:${path}`;
  LIMITS.ms = 1_000;
  try {
    let [last, longest] = [performance.now(), 0];
    const tick = () => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    };
    const timer = setInterval(tick, 10);
    const news = await world.service.summary();
    clearInterval(timer);
    tick();
    expect(news.counts).toMatchObject({ files: 1 });
    // Who waits for a command serves nobody else until its end.
    expect(longest).toBeLessThan(LIMITS.ms);
  } finally {
    process.env.PATH = path;
    LIMITS.ms = ms;
  }
});

test("files of a commit are read one by one where git has lost one, or a name has two lines", async () => {
  symlinkSync("a", world.path("link"));
  for (const [name, text] of Object.entries({ "two\nlines": "two\n", b: "b\n", c: "c" })) {
    world.write(name, text);
  }
  await commit("all");
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
});
