import { rows } from "#test";
import { RecordedHere } from "./recorded";
import { git } from "./repository";
import { commitOf } from "./story";

/* `:Claude commit` when something is already staged: by Claude's commands, by the user, or by both. */

const WHO = ["AUTHOR", "COMMITTER"].flatMap((who) => [
  [`GIT_${who}_NAME`, "n"],
  [`GIT_${who}_EMAIL`, "a@b"],
]);
const II = "perl -pi -e s/2/II/ a";
const VII = "perl -pi -e s/7/VII/ a";
const STAGED = "git's index differs from HEAD already: commit or unstage";
const LEFT = "Claude has staged b, mine, but you have kept none of these changes: they stay staged";

/**
 * The columns: the user's commands before the turn (or none), Claude's commands in it, and the user's after it, before
 * everything is kept; the names that are committed, or why none is; and git's status afterwards.
 */
const CASES = `
git mv, and an edit after it       |  | git mv a c, perl -pi -e s/2/II/ c |  | D a, A c |
git rm                             |  | git rm -q a                       |  | D a      |
git add of an edited and a new file |  | ${II} && echo n > new, git add -A |  | M a, A new |
git rm --cached, which leaves the file |  | git rm -q --cached a          |  | D a      | ?? a
git mv that the CLI reports whole  |  | git mv a c && git status          |  | D a, A c |
a folder in place of a file    |  | git rm -q a && mkdir a && echo n > a/n && git add a |  | D a, A a/n |
Claude stages the user's files     | echo mine > mine; echo mine >> b | ${II}, git add -A |  | M a; ${LEFT} | M  b, A  mine
Claude stages the user's lines     | echo mine >> a | ${II}; git add -A  |  | M a      |  M a
the user has staged before         | echo mine > mine; git add mine | ${II}; git add -A |  | ${STAGED} mine first | M  a, A  mine
the user has staged before, in Claude's file | echo mine >> a; git add a | ${II}, git add -A |  | ${STAGED} a first | M  a
a hunk that Claude has staged was undone |  | ${II}; ${VII}, git add -A | undo 6-8 | M a |
that undo was taken back           |  | ${II}; ${VII}, git add -A | undo 6-8, back | M a |
the user has staged since, even in Claude's file |  | ${II}, git add a | echo mine >> a; git add a; echo mine > mine; git add mine | ${STAGED} a, mine first | M  a, A  mine
the user stages what Claude has changed |  | ${II} | git add a | ${STAGED} a first | M  a
Claude unstages the user's file    | echo mine > mine; git add mine | ${II}, git reset -q && git add a |  | M a | ?? mine`;
test.each(rows(CASES))("%s", async (_title, ...cells) => {
  const [before = "", claude = "", after = "", expected = "", status = ""] = cells;
  using world = new RecordedHere({ a: "1\n2\n3\n4\n5\n6\n7\n8\n", b: "b\n" });
  if (before) world.sh(before);
  await world.prompt();
  for (const command of claude.split(", ")) await world.bash(command);
  await world.stop();
  const range = { files: [{ path: world.path("a"), range: [6, 8] }] };
  if (after.startsWith("undo")) await world.answer("undo", range);
  else if (after) world.sh(after);
  if (after.endsWith("back")) await world.answer("back", {});
  const { files } = await world.list();
  await world.answer("keep", { files: files.map(({ path }) => ({ path })) });
  const { root } = world;
  Object.assign(process.env, Object.fromEntries(WHO));
  const made = await commitOf({ root }).catch((error) => error);
  const [names, note] = expected.split("; ");
  const committed = git(root, "show", "--format=", "--name-status", "--no-renames", "HEAD");
  const isRefused = expected.startsWith(STAGED);
  if (isRefused) expect(made.message).toStartWith(expected);
  else expect(made).toMatchObject({ notes: note ? [note] : [] });
  if (!isRefused)
    expect(committed.trim().replaceAll("\t", " ").split("\n").join(", ")).toBe(names as string);
  expect(git(root, "status", "--porcelain", "-uall").trimEnd().split("\n").join(", ")).toBe(status);
  if (status === " M a") expect(git(root, "diff")).toContain("+mine");
});
