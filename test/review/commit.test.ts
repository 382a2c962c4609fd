import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import fc from "fast-check";
import { eventually, first, outcomeOf, temporaryFolder } from "#test";
import { basename, join } from "../../src/lib/platform";
import { tries } from "../fuzz/effort";
import { git as run } from "./repository";
import { World } from "./state/world";
import { commitOf, play, stories, textOf, WRITES } from "./story";

const WHO = { GIT_AUTHOR_NAME: "n", GIT_AUTHOR_EMAIL: "a@b" };
const FILTER = "tr a-zA-Z n-za-mN-ZA-M";
const rotated = (text: string) =>
  text.replaceAll(/[a-z]/gi, (letter) => {
    const [code, first] = [letter.charCodeAt(0), letter < "a" ? 65 : 97];
    return String.fromCharCode(first + ((code - first + 13) % 26));
  });

let world: World;
/** An empty `.git`, to be copied. */
const template = temporaryFolder();
beforeAll(() => init(template));
beforeEach(() => {
  world = new World();
  Object.assign(process.env, WHO, { GIT_COMMITTER_NAME: "n", GIT_COMMITTER_EMAIL: "a@b" });
  cpSync(template, world.root, { recursive: true });
});
afterEach(() => world[Symbol.dispose]());

function init(folder: string, ...options: string[]): void {
  Bun.spawnSync(["git", "init", "-q", "-b", "main", "--template=", ...options, folder]);
  // Otherwise each commit would start another git process.
  appendFileSync(join(folder, ".git/config"), "[maintenance]\n\tauto = false\n");
}

const git = (...args: string[]) => run(world.root, ...args);

function firstCommit(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) world.write(name, text);
  git("add", "-A");
  git("commit", "-q", "-m", "first");
}

const commit = (editor?: string, more?: object) => commitOf(world, editor, more);
const tell = (story: string) => play(world, story);

const at = (name: string) => git("cat-file", "blob", `HEAD:${name}`);
const folders = () => readdirSync(world.folder).filter((name) => name.startsWith("commit-"));
const index = () => readFileSync(join(world.root, ".git/index"));
const branch = () => readFileSync(join(world.root, ".git/refs/heads/main"), "latin1");

async function keep(name: string): Promise<void> {
  const { files } = await world.keep([{ path: world.path(name) }]);
  expect(files[0]?.problem).toBeUndefined();
}

interface Item {
  line: string;
  isAtHead: boolean;
  by: "head" | "user" | "claude";
  deletedBy?: "user" | "claude";
}

const EDITS = fc.array(
  fc.record({
    by: fc.constantFrom("claude" as const, "user" as const),
    where: fc.nat(1000),
    how: fc.constantFrom("insert" as const, "replace" as const, "delete" as const),
  }),
  { minLength: 2, maxLength: 10 },
);

const same = (text: string) => text;
const CONFIGURATIONS = {
  plain: { eol: "\n", last: "\n", attributes: "", inGit: same },
  "a filter driver": { eol: "\n", last: "\n", attributes: "* filter=rot\n", inGit: rotated },
  "no last line end": { eol: "\n", last: "", attributes: "", inGit: same },
  CRLF: {
    eol: "\r\n",
    last: "\r\n",
    attributes: "* text eol=crlf\n",
    inGit: (text: string) => text.replaceAll("\r\n", "\n"),
  },
  "CRLF that was committed": { eol: "\r\n", last: "\r\n", attributes: "", inGit: same },
};

test.each(first(2, Object.entries(CONFIGURATIONS)))(
  "commits HEAD and the kept hunks to the byte: %s",
  async (_name, { eol, last, attributes, inGit }) => {
    const rot = `[filter "rot"]\n\tclean = ${FILTER}\n\tsmudge = ${FILTER}\n[include]\n\tpath = autocrlf\n`;
    appendFileSync(world.path(".git/config"), rot);
    let runs = 0;
    const property = fc.asyncProperty(
      EDITS,
      fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
      async (edits, keeps) => {
        const name = `f${++runs}`;
        const items: Item[] = Array.from({ length: 8 }, (_, i) => ({
          line: `head ${i}`,
          isAtHead: true,
          by: "head",
        }));
        const textOf = (some: Item[]) => {
          const lines = some.map(({ line }) => line);
          return lines.length > 0 ? lines.join(eol) + last : "";
        };
        const present = () => items.filter(({ deletedBy }) => deletedBy === undefined);
        rmSync(world.path(`f${runs - 1}`), { force: true });
        const autocrlf = (is: boolean) =>
          writeFileSync(world.path(".git/autocrlf"), `[core]\n\tautocrlf = ${is}\n`);
        autocrlf(false);
        firstCommit({ [name]: textOf(items), ...(attributes && { ".gitattributes": attributes }) });
        const [textAtHead, head] = [inGit(textOf(items)), branch()];
        if (_name === "CRLF that was committed") autocrlf(true);
        // The user's edits before and after Claude's. Neither author edits lines that the other has inserted.
        const before = edits.filter(({ by }, i) => by === "user" && i % 2 === 0);
        const after = edits.filter(({ by }, i) => by === "user" && i % 2 === 1);
        const claudes = edits.filter(({ by }) => by === "claude");
        let lines = 0;
        const edit = ({ by, where, how }: (typeof edits)[number]) => {
          const free = present().filter((item) => item.by === "head" && !/[67]/.test(item.line));
          const item = free[where % Math.max(free.length, 1)];
          if (!item) return;
          // The review has never seen HEAD's line, so its place among Claude's lines is unknown.
          const what = by === "user" && how === "delete" && before.length > 0 ? "replace" : how;
          if (what !== "insert") item.deletedBy = by;
          const added: Item = { line: `${by} ${++lines}`, isAtHead: false, by };
          if (what !== "delete") items.splice(items.indexOf(item) + 1, 0, added);
        };
        before.forEach(edit);
        world.write(name, textOf(present()));
        for (const one of claudes) {
          edit(one);
          world.claude({ [name]: textOf(present()) });
        }
        after.forEach(edit);
        world.write(name, textOf(present()));
        const file = await world.file(name);
        const kept = (file?.hunks ?? []).filter((_, i) => keeps[i]);
        if (kept.length > 0)
          await world.keep([{ path: world.path(name), hunks: kept.map(({ id }) => id) }]);
        const keptLines = new Set(
          kept.flatMap((hunk) => {
            const { old_lines } = hunk as unknown as Record<string, Uint8Array[]>;
            const old = (old_lines ?? []).map((line) => Buffer.from(line).toString());
            const [first, count] = hunk.new;
            const now = textOf(present())
              .split("\n")
              .slice(first - 1, first - 1 + count);
            return [...old, ...now].map((line) => line.trim());
          }),
        );
        const expected = items.filter(({ line, isAtHead, by, deletedBy }) =>
          isAtHead
            ? !(deletedBy === "claude" && keptLines.has(line))
            : by === "claude" && keptLines.has(line),
        );
        const text = inGit(textOf(expected));
        const isNothing = text === textAtHead;
        const disk = world.read(name);
        const result = await commit().catch((error) => error);
        // The user changed lines next to Claude's earlier: the review has never seen HEAD's version of them.
        const isLeftOut = before.length > 0 && String(result).includes("has lines at HEAD");
        if (isLeftOut) return expect(branch()).toBe(head);
        if (isNothing) expect(String(result)).toContain("you have kept nothing");
        else expect(result).toMatchObject({ notes: [] });
        expect(at(name)).toBe(text);
        expect(world.read(name)).toBe(disk as string);
        expect(git("diff", "--cached", "--name-only")).toBe("");
        return undefined;
      },
    );
    await fc.assert(property, { numRuns: tries(25), endOnFailure: true });
  },
);

const WORDS = "1 2 3 4 5 6 7 8 9 10";
const TEN = textOf(WORDS);
const II = WORDS.replace("2", "II");
/** Claude has changed two lines, and the first change is kept. The user has started to edit another line. */
const HALF = `repository a=${WORDS}, b=${WORDS}; A a=${II.replace("9", "IX")}
  user a=${II.replace("9", "IX").replace("5", "5 mine")}; keep a#1`;
const half = () => tell(HALF);

function hook(name: string, text: string): void {
  world.write(`.git/hooks/${name}`, `#!/bin/sh\n${text}\n`);
  chmodSync(world.path(`.git/hooks/${name}`), 0o755);
}

stories(`
# commits Claude's version of a line that you kept and then changed
  repository a=${WORDS}; A a=${II}; keep a; user a=${WORDS.replace("2", "mine")} half-done
  commits; HEAD a=${II}
# commits your version of Claude's line if you changed it before you kept it
  repository a=${WORDS}; A a=${II}; user a=${WORDS.replace("2", "mine")}; keep a
  user a=${WORDS.replace("2", "mine")} half-done; commits; HEAD a=${WORDS.replace("2", "mine")}
# commits Claude's line beside your earlier change of a line
  repository a=1 2 3; user a=1 mine 3; A a=1 mine its 3; keep a; commits; HEAD a=1 2 its 3
# finds no place for Claude's line [where you had removed a line|between lines that replaced one|in place of a line that you had changed]
  repository a=1 2 3; user a=1 [3|mine too 3|mine 3]; A a=1 [its 3|mine its too 3|its 3]; keep a
  commits: has lines at HEAD
# commits a kept line unchanged if you edit a later line by Claude beside it
  repository a=1 2 3; A a=1 II 3; keep a; user a=1 mine 3; A a=1 mine its 3
  user a=1 mine yours 3; commits; HEAD a=1 II 3
# leaves your change of a committed line out of later commits
  repository a=1 2 3; A a=1 II 3; keep a; commits; user a=1 mine 3; A a=1 mine its 3
  user a=1 mine yours 3; A a=mine yours 3; keep a; commits; HEAD a=II yours 3
# leaves out your edit of Claude's later text when you keep the hunk after it
  repository a=1 2 3 4; A a=1 2 4; user a=1 mine 4; A a=its mine 4; user a=yours mine 4
  keep a#2; commits; HEAD a=1 2 4
# commits in each of two commits what is kept by then
  repository a=1 2; A a=1 2 3; keep a; user a=mine 1 2 3; commits; HEAD a=1 2 3
  git diff --cached => ; user a=1 2 3; A a=0 1 2 3; keep a; user a=mine 0 1 2 3; commits
  HEAD a=0 1 2 3; git diff --cached =>
# commits a file in a folder that replaces a file only with that file's removal
  repository a=${WORDS}, b=${WORDS}; A -a; A a/b=new; keep a/b
  commits: git would also commit a, which you have not kept; keep a; commits
  tree 100644 a/b, 100644 b
# commits a file that was added with git add -N
  repository a=${WORDS}; A n=new; user o=mine; git add -N n o; keep n; commits
  tree 100644 a, 100644 n; git status --porcelain =>  A o
# commits a kept removal, but not a file created there later
  repository a=1, b=2, c=3; A -a, -b; keep a, b; A a=waits; user b=mine
  is a created 0>1@1; commits; tree 100644 c
# commits a kept mode although the file's removal is pending
  repository a=${WORDS}; A chmod a 755; keep a; A -a; commits; tree 100755 a
# commits no mode if git ignores modes
  repository a=${WORDS}; git config core.fileMode false; A n=new; chmod n 777; keep n; commits
  tree 100644 a, 100644 n
# commits nothing in the middle of a rebase
  ${HALF}; user .git/rebase-merge=
  commits: a rebase is not finished: end it with git, or abort it, first
# commits nothing in the middle of a merge
  ${HALF}; user .git/MERGE_HEAD=; commits: a merge
`);

test("says where git cannot write, for example on a full disk, and changes nothing", async () => {
  firstCommit({ a: "one\n" });
  world.claude({ a: "one\ntwo\n" });
  await keep("a");
  const before = [index(), branch()];
  for (let one = 0; one < 256; one++) {
    const name = join(world.root, ".git/objects", one.toString(16).padStart(2, "0"));
    if (!existsSync(name)) writeFileSync(name, "");
  }
  expect(await outcomeOf(commit())).toThrow(/^nothing is committed: .*unable to create/s);
  expect([index(), branch()]).toEqual(before);
});

test("commits files that come, go, move, get a mode or are links; names what it cannot", async () => {
  await tell(`repository .gitignore=ignored, gone=gone, old=${WORDS}, run=run, target=, late=${WORDS}
    user link@target`);
  world.write("binary", "\0a");
  await tell("commit; user untracked=mine; A -gone, new=new, folder/empty=, ignored=x, not-kept=y");
  world.claude({ binary: "\0b" });
  await tell(`A -old, moved=${WORDS} < old; A untracked=mine its, late=0 ${WORDS}
    chmod new 755; A chmod run 755; user -link; user link@new`);
  const texts = { before: world.content("target"), after: world.content("new") };
  const call = { session: "A", tool: "Bash", source: "bash" } as const;
  world.record({ type: "change", ...call, files: [{ path: "link", ...texts, symlink: true }] });
  const { files } = await world.list();
  const kept = files.filter(({ path }) => !/late$|not-kept$/.test(path));
  await world.keep(kept.map(({ path }) => ({ path })));
  expect((await commit()).notes).toEqual([
    "untracked is left out: it is not in git yet: add it, and commit again",
  ]);
  const regular = "100644 .gitignore, 100644 binary, 100644 folder/empty, 100644 late";
  await tell(`tree ${regular}, 120000 link, 100644 moved, 100755 new, 100755 run, 100644 target
    HEAD moved=${WORDS}, new=new, folder/empty=, late=${WORDS}
    git status --porcelain =>  M late|?? not-kept|?? untracked; commits: you have kept nothing`);
  expect([at("binary"), at("link")]).toEqual(["\0b", "new"]);
});

test("names a change that is kept in an unsaved buffer alone", async () => {
  await half();
  const text = Buffer.from(world.read("a") ?? "");
  world.write("a", TEN);
  const result = await commit(WRITES, { texts: new Map([["a", new Uint8Array(text)]]) }).catch(
    (error) => error,
  );
  expect(String(result)).toContain("a has a kept change in its buffer only: write it");
});

test("commits what a pre-commit hook adds, and updates the index", async () => {
  await half();
  hook("pre-commit", "echo formatted > b && git add b");
  await commit();
  expect([at("a"), at("b")]).toEqual([TEN.replace("2\n", "II\n"), "formatted\n"]);
  expect(git("status", "--porcelain")).toBe(" M a\n");
});

test.each([
  ["a hook that fails", "pre-commit", "echo no >&2; exit 1", WRITES, "nothing is committed: no"],
  ["a hook that ends git", "commit-msg", "kill -9 $PPID", WRITES, "nothing is committed"],
  ["an editor that fails", "none", "", "false", undefined],
])(
  "leaves HEAD and the index as they were after %s",
  async (_what, name, text, editor, problem) => {
    await half();
    hook(name, text);
    const [before, head] = [index(), git("rev-parse", "HEAD")];
    const result = await commit(editor).catch((error) => error.message);
    if (problem) expect(result).toStartWith(problem);
    else expect(result).toEqual({ notes: [] });
    expect(index().equals(before)).toBe(true);
    expect(git("rev-parse", "HEAD")).toBe(head);
    rmSync(world.path(".git/hooks"), { recursive: true });
    await commit();
    expect(at("a")).toBe(TEN.replace("2\n", "II\n"));
  },
);

test.each([
  ["before git's message", "pre-commit", false],
  ["once HEAD has moved", "post-commit", true],
])("updates the index at the next start if killed %s", async (_what, name, isMade) => {
  await half();
  hook(name, "kill -9 $COMMITTER_PID");
  const before = index();
  // `edit --commit` does the same: the process that would finish the commit is gone.
  const editor = isMade ? WRITES : "while kill -0 $COMMITTER_PID; do sleep 0.01; done; false";
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "commit-once.ts"), world.root, editor],
    { env: process.env },
  );
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
  await eventually(
    "git's end",
    () =>
      !existsSync(world.path(".git/HEAD.lock")) &&
      git("rev-list", "--count", "HEAD").trim() === (isMade ? "2" : "1"),
  );
  if (isMade) world.write(".git/index.lock", "");
  expect((await world.service.summary()).waits).toBe(isMade);
  rmSync(world.path(".git/index.lock"), { force: true });
  // After a failure, the review does not run git for some seconds.
  await eventually("its end", async () => !(await world.service.summary()).waits);
  if (!isMade) expect(index().equals(before)).toBe(true);
  expect(git("status", "--porcelain")).toBe(" M a\n");
  expect(at("a")).toBe(isMade ? TEN.replace("2\n", "II\n") : TEN);
  expect(folders().length).toBe(isMade ? 0 : 1);
  if (isMade) return;
  hook(name, "");
  await commit();
  await world.service.summary();
  expect(folders()).toEqual([]);
  expect(git("status", "--porcelain")).toBe(" M a\n");
});

describe("git's index", () => {
  test("names what is staged, even while it makes the blobs, and commits nothing", async () => {
    await half();
    world.write("b", "staged\n");
    git("add", "b");
    const before = index();
    expect(await outcomeOf(commit())).toThrow("commit or unstage b first");
    expect(index().equals(before)).toBe(true);
    git("reset", "-q");
    git("config", "filter.late.clean", "unset GIT_INDEX_FILE; git add b; cat");
    world.write(".git/info/attributes", "a filter=late\n");
    expect(await outcomeOf(commit())).toThrow("git would also commit b, which you have not kept");
    expect(git("rev-list", "--count", "HEAD")).toBe("1\n");
  });

  test("keeps the index's flags, and what the user stages while the message is open", async () => {
    await half();
    git("update-index", "--assume-unchanged", "b");
    await commit(
      `echo c > '${world.path("c")}' && git -C '${world.root}' add c && unset GIT_INDEX_FILE && git -C '${world.root}' add c && ${WRITES}`,
    );
    expect(git("show", "--format=", "--name-only", "HEAD").trim()).toBe("a");
    expect(git("status", "--porcelain")).toBe(" M a\nA  c\n");
    expect(git("ls-files", "-v", "b")).toBe("h b\n");
  });

  test("waits for another git's lock, and commits nothing while a stale lock exists", async () => {
    await half();
    const lock = world.path(".git/index.lock");
    writeFileSync(lock, "");
    expect(await outcomeOf(commit())).toThrow("index.lock exists");
    expect(git("rev-list", "--count", "HEAD")).toBe("1\n");
    rmSync(lock);
    await commit(`: > '${lock}' && (sleep 0.3; rm '${lock}') & ${WRITES}`);
    expect(git("status", "--porcelain")).toBe(" M a\n");
  });
});

test.each([
  ["LF where git would write CRLF", "true", "\n"],
  ["CRLF where git would write LF", "input", "\r\n"],
])(
  "commits a file with the line ends that it was written with: %s",
  async (_what, autocrlf, eol) => {
    git("config", "core.autocrlf", autocrlf);
    const onDisk = (text: string) => text.replaceAll("\n", eol);
    firstCommit({ a: onDisk(TEN), b: onDisk(TEN) });
    world.claude({ a: onDisk(TEN.replace("2\n", "II\n")), b: onDisk(TEN.replace("2\n", "")) });
    await keep("a");
    await keep("b");
    expect((await commit()).notes).toEqual([]);
    expect([at("a"), at("b")]).toEqual([TEN.replace("2\n", "II\n"), TEN.replace("2\n", "")]);
  },
);

test.each([
  ["1\r\n2\n", "1\n2\n"],
  ["1\n2\n", "1\r\n2\r\n"],
])("commits line ends that Claude has changed", async (before, after) => {
  firstCommit({ a: before });
  world.claude({ a: after });
  await keep("a");
  await commit();
  expect(at("a")).toBe(after);
});

test("follows git's configuration of the environment, as the user's shell does", async () => {
  await half();
  hook("pre-commit", "git config --get commit.mine > value");
  process.env.GIT_CONFIG_GLOBAL = world.path(".git/mine");
  world.write(".git/mine", "[commit]\nmine = yes\n");
  await commit().finally(() => delete process.env.GIT_CONFIG_GLOBAL);
  expect(world.read("value")).toBe("yes\n");
});

test.each([
  ["while a hook still runs", ":"],
  [
    "after a hook that amends",
    "[ -e .git/once ] || { touch .git/once; git rm -q b; git commit -q --amend --no-edit; }",
  ],
])("updates the index %s", async (_what, text) => {
  await half();
  const wait = "for i in $(seq 200); do git diff --cached --quiet && break; sleep 0.02; done";
  const seen = "git status --porcelain > .git/seen";
  hook("post-commit", `unset GIT_INDEX_FILE; ${text}; ${wait}; ${seen}`);
  await commit();
  expect(world.read(".git/seen")).toBe(" M a\n");
  expect(git("status", "--porcelain")).toBe(" M a\n");
});

test("commits to the current file's repository, and names what is kept in others", async () => {
  await half();
  world.write(".git/info/exclude", "lib/\n");
  const inner = (...args: string[]) => git("-C", "lib", ...args);
  init(world.path("lib"));
  world.write("lib/s", TEN);
  inner("add", "s");
  inner("commit", "-q", "-m", "lib");
  world.claude({ "lib/s": TEN.replace("5\n", "V\n"), "lib/t": "new\n" });
  await keep("lib/s");
  const outer = branch();
  const { commit: said, notes } = await commit(WRITES, { folder: "lib" });
  expect(said).toMatch(
    /^\[main \w+\] by the test, 1 file changed, 1 insertion\(\+\), 1 deletion\(-\)$/,
  );
  const here = basename(world.root);
  const elsewhere = "run :Claude commit from a file there";
  expect(notes).toEqual([`1 kept change in ${here}/ is in another repository: ${elsewhere}`]);
  expect([branch(), inner("status", "--porcelain")]).toEqual([outer, "?? t\n"]);
  await keep("lib/t");
  expect((await commit()).notes).toEqual([
    `1 kept change in lib/ is in another repository: ${elsewhere}`,
  ]);
  expect(await outcomeOf(commit())).toThrow("1 kept change in lib/ is in another");
});

test("updates the index even if git is killed after the commit", async () => {
  await half();
  hook("post-commit", "kill -9 $PPID");
  expect((await commit()).commit).toBe("git was killed after it");
  expect(git("status", "--porcelain")).toBe(" M a\n");
});

test("commits nothing in an invalid .git folder inside another repository", async () => {
  firstCommit({ a: TEN });
  const outer = world;
  world = new World(outer.path("inner"), join(outer.root, ".."));
  world.write(".git/keep", "");
  world.claude({ a: "new\n" });
  await world.keep([{ path: world.path("a") }]);
  outer.write("a", "mine\n");
  expect(await outcomeOf(commit())).toThrow("is not in a git repository");
  world[Symbol.dispose]();
  world = outer;
});

test("commits in a linked work tree", async () => {
  await half();
  const main = world;
  git("worktree", "add", "-q", `${main.root}-linked`);
  world = new World(`${main.root}-linked`, join(main.root, ".."));
  world.claude({ a: TEN.replace("3\n", "III\n") });
  await keep("a");
  await commit();
  expect(at("a")).toBe(TEN.replace("3\n", "III\n"));
  expect(git("status", "--porcelain")).toBe("");
  world[Symbol.dispose]();
  world = main;
});

test.each(["sha1", "sha256"])("makes the first commit with objects made by %s", async (format) => {
  rmSync(world.path(".git"), { recursive: true });
  init(world.root, `--object-format=${format}`);
  await tell("A born=1; keep born; commits; tree 100644 born; git status --porcelain => ");
});
