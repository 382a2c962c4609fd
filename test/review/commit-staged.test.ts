import { realpathSync } from "node:fs";
import { commitKept } from "../../src/review/commit/commit";
import { ReviewedProject } from "../../src/review/state/reviewed-project";
import { RecordedHere } from "./recorded";
import { git } from "./repository";

/* `:Claude commit` where something is staged already: by Claude's commands, by the user, by both. */

const TEXT = "1\n2\n3\n4\n5\n6\n7\n8\n";
const CLAUDES = "sed -i s/2/II/ a";
const WHO = ["AUTHOR", "COMMITTER"].flatMap((who) => [
  [`GIT_${who}_NAME`, "n"],
  [`GIT_${who}_EMAIL`, "a@b"],
]);

let world: RecordedHere;
beforeEach(() => {
  world = new RecordedHere({ a: TEXT, b: "b\n" });
});
afterEach(() => world[Symbol.dispose]());

interface Case {
  /** Commands of the user's before the turn, of Claude's in it, and of the user's after it. */
  before?: string;
  claude: string[];
  after?: string;
  /** Rows of `a` in which the user undoes what Claude has changed. */
  undo?: [number, number];
  isTakenBack?: boolean;
  /** The committed names, else the message. */
  commit: string[] | string;
  notes?: string;
  status: string;
  diff?: string;
}

const CASES: Record<string, Case> = {
  "git mv, and an edit after it": {
    claude: ["git mv a c", "sed -i s/2/II/ c"],
    commit: ["D\ta", "A\tc"],
    status: "",
  },
  "git rm": { claude: ["git rm -q a"], commit: ["D\ta"], status: "" },
  "git add of an edited file and a new one": {
    claude: [`${CLAUDES} && echo n > new`, "git add -A"],
    commit: ["M\ta", "A\tnew"],
    status: "",
  },
  "git rm --cached, which leaves the file as it is": {
    claude: ["git rm -q --cached a"],
    commit: ["D\ta"],
    status: "?? a\n",
  },
  "git mv that the CLI reports whole": {
    claude: ["git mv a c && git status"],
    commit: ["D\ta", "A\tc"],
    status: "",
  },
  "a folder in the place of a file": {
    claude: ["git rm -q a && mkdir a && echo n > a/n && git add a"],
    commit: ["D\ta", "A\ta/n"],
    status: "",
  },
  "the user's files are staged by Claude: they are not committed, and named": {
    before: "echo mine > mine; echo mine >> b",
    claude: [CLAUDES, "git add -A"],
    commit: ["M\ta"],
    notes: "Claude has staged b, mine, of which you have kept nothing: it stays so",
    status: "M  b\nA  mine\n",
  },
  "the user's lines are staged by Claude: they stay the user's": {
    before: "echo mine >> a",
    claude: [`${CLAUDES}; git add -A`],
    commit: ["M\ta"],
    status: " M a\n",
    diff: "+mine",
  },
  "the user has staged before": {
    before: "echo mine > mine; git add mine",
    claude: [`${CLAUDES}; git add -A`],
    commit: "git's index differs from HEAD already: commit or unstage mine first",
    status: "M  a\nA  mine\n",
  },
  "the user has staged before, in Claude's file": {
    before: "echo mine >> a; git add a",
    claude: [CLAUDES, "git add -A"],
    commit: "git's index differs from HEAD already: commit or unstage a first",
    status: "M  a\n",
  },
  "a hunk that Claude has staged was undone": {
    claude: [`${CLAUDES}; sed -i s/7/VII/ a`, "git add -A"],
    undo: [6, 8],
    commit: ["M\ta"],
    status: "",
  },
  "the undo of a hunk that Claude has staged was taken back": {
    claude: [`${CLAUDES}; sed -i s/7/VII/ a`, "git add -A"],
    undo: [6, 8],
    isTakenBack: true,
    commit: ["M\ta"],
    status: "",
  },
  "the user has staged since, also in Claude's file": {
    claude: [CLAUDES, "git add a"],
    after: "echo mine >> a; git add a; echo mine > mine; git add mine",
    commit: "git's index differs from HEAD already: commit or unstage a, mine first",
    status: "M  a\nA  mine\n",
  },
  "the user stages what Claude has changed": {
    claude: [CLAUDES],
    after: "git add a",
    commit: "git's index differs from HEAD already: commit or unstage a first",
    status: "M  a\n",
  },
  "Claude takes out of the index what the user has staged": {
    before: "echo mine > mine; git add mine",
    claude: [CLAUDES, "git reset -q && git add a"],
    commit: ["M\ta"],
    status: "?? mine\n",
  },
};

test.each(Object.entries(CASES))("%s", async (_what, one) => {
  const { before, claude, after, undo, isTakenBack, ...expected } = one;
  if (before) world.sh(before);
  await world.prompt();
  for (const command of claude) await world.bash(command);
  await world.stop();
  if (after) world.sh(after);
  const range = { files: [{ path: world.path("a"), range: undo }] };
  if (undo) await world.answer("undo", range);
  if (isTakenBack) await world.answer("back", {});
  const { files } = await world.list();
  await world.answer("keep", { files: files.map(({ path }) => ({ path })) });
  const root = realpathSync(world.folder);
  const made = await world.inside(async () => {
    Object.assign(process.env, Object.fromEntries(WHO));
    const project = new ReviewedProject(root);
    await project.catchUp();
    const request = { draft: false, texts: new Map() };
    return await commitKept(project, request, "echo by the test >").catch((error) => error);
  });
  if (typeof expected.commit === "string") expect(made.message).toStartWith(expected.commit);
  else expect(made).toMatchObject({ notes: expected.notes ? [expected.notes] : [] });
  const committed = await git(root, "show", "--format=", "--name-status", "--no-renames", "HEAD");
  if (typeof expected.commit !== "string")
    expect(committed.trim().split("\n")).toEqual(expected.commit);
  expect(await git(root, "status", "--porcelain", "-uall")).toBe(expected.status);
  if (expected.diff) expect(await git(root, "diff")).toContain(expected.diff);
});
