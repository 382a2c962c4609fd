import { linkSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { claims, outcomeOf, perTest } from "#test";
import { journalPath } from "../../../src/review/journal/append";
import type { ShownDecision } from "../../../src/review/shown";
import { stories } from "../story";
import { base64, World } from "./world";

const world = perTest(() => new World());

const at = (name: string, more: object = {}) => ({ path: world.path(name), ...more });

test("counts the user's prompts, without their tags, as turns, with all that follows a prompt", async () => {
  const tagged = '\n\n<pasted_content id="7">\nfirst\n</pasted_content id="7">\n';
  world.claude({ a: "1\n" }, { prompt: "of a turn that began before the journal" });
  world.claude({ b: "1\n" }, { prompt: world.prompt("A", tagged) });
  world.claude({ c: "1\n" }, { prompt: world.prompt("A", "<task-notification>\n<task-id>x") });
  world.claude({ d: "1\n" }, { prompt: "that no hook has seen" });
  world.claude({ e: "1\n" }, { prompt: world.prompt("A", "second") });
  world.claude({ f: "1\n" }, { session: "B" });
  const names = async (request: object) =>
    (await world.summary({ session: "A", ...request })).map(([name]) => name).join("");
  expect(await names({ scope: "turn" })).toBe("e");
  expect(await names({ scope: "turn", turn: 1 })).toBe("bcd");
  expect(await names({ scope: "since", turn: 1 })).toBe("bcde");
  expect(await names({ scope: "turn", turn: 3 })).toBe("");
  expect(await names({ scope: "turn", turn: 1, session: "none" })).toBe("");
  const { files } = await world.list({ scope: "session", session: "A" });
  const owners = files.map(({ owners: [owner] }) => `${owner?.turn} ${owner?.prompt}`);
  expect(owners).toEqual([["undefined undefined"], Array(3).fill("1 first"), ["2 second"]].flat());
});

test("counts a call to the last prompt before it, also if that was taken into a running turn", async () => {
  const prompt = world.prompt("A", "one");
  world.claude({ a: "1\n" }, { prompt });
  world.record({ type: "begin", session: "A", prompt, tool: "Bash", use: "u" });
  await Bun.sleep(2);
  world.prompt("A", "steer");
  world.claude({ b: "1\n" }, { prompt, tool: "Bash", source: "bash", use: "u" });
  world.claude({ c: "1\n" }, { prompt });
  const names = (turn: number) => world.summary({ scope: "turn", session: "A", turn });
  expect(await names(1)).toEqual(["a created 0>1@1", "b created 0>1@1"]);
  expect(await names(2)).toEqual(["c created 0>1@1"]);
});

test("records an undo of a turn so that an earlier version takes it for the user's edit", async () => {
  world.edited("a", "1\n", "I\n", { prompt: world.prompt() });
  world.edited("a", "I\n", "II\n", { prompt: world.prompt() });
  await world.undo([at("a")], { scope: "turn", turn: 2 });
  expect(world.read("a")).toBe("I\n");
  const journal = journalPath(world.folder);
  const text = readFileSync(journal, "utf8").replaceAll('"type":"restore"', '"type":"unknown"');
  writeFileSync(journal, text);
  world.service = world.another();
  expect(await world.summary()).toEqual(["a changed 1>1@1"]);
  expect(world.service.base(at("a"))?.text.toString()).toBe("1\n");
});

test("lists a change of an unknown text until the user deletes the file", async () => {
  world.write("a", "2\n");
  const [before, after] = [{ withheld: "large" as const }, world.content("2\n")];
  const files = [{ path: "a", before, after }];
  world.record({ type: "change", session: "A", tool: "Edit", source: "tool", files });
  expect(await world.summary()).toEqual(["a unseen"]);
  world.write("a", undefined);
  expect(await world.summary()).toEqual([]);
});

test("decides about a turn in the project that counts it, though another counts one, too", async () => {
  Bun.spawnSync(["git", "init", "-q", world.path("sub")]);
  using sub = new World(world.path("sub"), world.home);
  world.claude({ a: "1\n" }, { prompt: world.prompt() });
  await Bun.sleep(5);
  sub.claude({ b: "1\n" }, { prompt: sub.prompt() });
  const scope = (await world.service.answer("turn", {})) as object;
  for (const kind of ["turn", "since"])
    expect(await world.service.answer("plan", { ...scope, scope: kind })).toMatchObject({
      files: [{ path: sub.path("b") }],
    });
});

test("takes decisions about nested turns back one by one", async () => {
  const files = () => ["a", "new", "del"].map((name) => world.read(name));
  world.write("a", "a\nb\nc\n");
  world.write("del", "1\n2\n");
  world.claude({ a: "a\nB\nc\n", new: "new\n", del: "1\n" }, { prompt: world.prompt() });
  world.claude({ a: "a\nC\nc\n", new: undefined, del: undefined }, { prompt: world.prompt() });
  const before = files();
  const all = ["a", "new", "del"].map((name) => at(name));
  const one = await world.undo(all, { scope: "turn", turn: 2 });
  const between = files();
  const two = await world.undo(all, { scope: "since", turn: 1 });
  expect(files()).toEqual(["a\nb\nc\n", undefined, "1\n2\n"]);
  await world.back({ decision: two.decision });
  expect(files()).toEqual(between);
  await world.back({ decision: one.decision });
  expect(files()).toEqual(before);
});

describe("a plan of turns", () => {
  const planned = async (scope: object) => {
    const { files, plan } = (await world.service.answer("plan", scope)) as {
      files: object[];
      plan: string[];
    };
    return () => world.undo(files, { ...scope, plan });
  };
  const since = { scope: "since", session: "A", turn: 1 };

  test("is not carried out once a turn has begun or a file has changed", async () => {
    world.claude({ a: "1\n" }, { prompt: world.prompt() });
    const early = await planned(since);
    const next = world.prompt();
    expect(await early()).toEqual({ changed: true, files: [] });
    const late = await planned(since);
    world.claude({ a: "2\n" }, { prompt: next });
    expect(await late()).toEqual({ changed: true, files: [] });
    expect(world.read("a")).toBe("2\n");
    await (await planned(since))();
    expect(world.read("a")).toBeUndefined();
  });

  test("includes files that one turn created and a later one removed", async () => {
    world.claude({ a: "1\n", b: "1\n" }, { prompt: world.prompt() });
    world.claude({ a: undefined, b: "2\n" }, { prompt: world.prompt() });
    const before = await world.list({ scope: "all" });
    const { decision } = await (await planned(since))();
    const again = planned({ ...since, turn: 2 });
    expect(await outcomeOf(again)).toThrow("nothing of what Claude changed since");
    await world.back({ decision });
    expect(await world.list({ scope: "all" })).toEqual(before);
    expect([world.read("a"), world.read("b")]).toEqual([undefined, "2\n"]);
  });
});

describe("the question before a restore", () => {
  const since = { scope: "since", session: "A", turn: 1, name: "turn 1" };
  const asked = async () => {
    const { question } = (await world.service.answer("plan", since)) as { question: string };
    return question;
  };

  test("counts what can be restored, and says that agents still run", async () => {
    const prompt = world.prompt();
    const [before, after] = [{ withheld: "large" as const }, world.content("2\n")];
    const files = [{ path: "large", before, after }];
    world.record({ type: "change", session: "A", prompt, tool: "Edit", source: "tool", files });
    world.write("large", "2\n");
    world.record({ type: "stop", session: "A", background: true });
    const notes = ["1 file cannot be restored: :Claude undo says why"];
    notes.push("Claude's agents or commands still run in the background");
    const nothing = "nothing of what Claude changed since turn 1 is left";
    expect(await outcomeOf(asked())).toThrow([nothing, ...notes].join("; "));
    world.claude({ a: "1\n" });
    const said = "Restore 1 file as before turn 1 (+0 −1)?";
    expect(await asked()).toBe([said, ...notes.map((note) => `${note}.`)].join(" "));
  });

  test("says that changes which were kept long ago are no longer known", async () => {
    const at = Date.now() - 8 * 24 * 3_600_000;
    world.record({ type: "prompt", session: "A", text: "one", at });
    world.claude({ a: "1\n" });
    expect(await asked()).toContain("What you kept more than a week ago is no longer known");
  });
});

test("finds the turn of a prompt by its time, and none that began long before", async () => {
  const at = Date.now() - 60_000;
  for (const [i, text] of ["one", "two"].entries()) {
    world.record({ type: "prompt", session: "A", text, at: at + i * 1_000 });
  }
  const turnAt = async (time: number) => {
    const found = world.service.answer("turn", { session: "A", at: time });
    return ((await found) as { turn: number }).turn;
  };
  expect(await turnAt(at - 500)).toBe(1);
  expect(await turnAt(at + 900)).toBe(2);
  expect(await turnAt(at + 3_900)).toBe(2);
  expect(await outcomeOf(turnAt(at + 4_001))).toThrow("this session has no such turn");
});

describe("a decision", () => {
  claims("An undo changes only what you decided about");
  stories(`
# is about files with names that Windows lacks, and about those of a user called Jörg Doe's
  user aux=1; A aux=2, dot.=2, a:b=2, İ=2, i=2, Jörg Doe's=2; stop
  is Jörg Doe's created 0>1@1, a:b created 0>1@1, aux changed 1>1@1, dot. created 0>1@1, i created 0>1@1, İ created 0>1@1
  keep i; undo aux, dot., İ, a:b; disk aux=1, -dot., -İ, -a:b, i=2; is Jörg Doe's created 0>1@1
# includes the old name of a moved file
  user old=same text; A -old, new=same text; keep old; is nothing
  back; undo old, new; disk old=same text, -new; is nothing
# moves back a file that the user has edited only if the user insists
  user a=1 2; A -a, b=1 2 < a; user b=1 mine 2; undo a, b: edited; disk -a, b=1 mine 2
  undo! b; disk a=1 2, b=mine
# is refused for lines that have changed since they were shown
  user a=1 2; A a=1 II; see; user a=1 II III; A a=1 ii III
  undo a#1: has changed since it was shown; disk a=1 ii III
# about one session conflicts with another session's edit of its lines
  user a=1 2; A a=1 II; B a=1 zwei; undo a of A: claude: II; disk a=1 zwei
  undo a; disk a=1 2
# about rows of a hunk that the user edited is a conflict about the hunk
  user a=1 2 3 4 5 6; A a=1 II III 4 V VI; user a=1 II,mine III 4 V VI
  undo a 2-2: > II,mine III; disk a=1 II,mine III 4 V VI
# restores a file that one session created, the user edited, and another session deleted
  B a=1 2; user a=1 mine 2; A -a; is a deleted 1>0@0; see
  undo a; disk a=mine; back; disk -a; same
# is not needed while the user has removed the file, for example with its work tree
  user tree/a=1 2 3; A tree/a=1 II 3, tree/new=new; user -tree; is nothing
  user tree/a=1 II 3; is tree/a changed 1>1@2
# removes a file that the user deleted and Claude created again
  user a=1 2 3; A a=1 II 3; user -a; B a=new; is a created 0>1@1
  undo a; disk -a; is nothing; back; user a=1 II 3; undo a; disk a=1 2 3
# restores a file that one session moved and another created again
  user a=1 2; A -a, b=1 2 < a; B a=new; is a changed 2>1@1, b created 0>2@1
  undo a#1; disk a=1 2; is b created 0>2@1; back; keep a, b; is nothing
# is taken back later in a file where that was impossible
  user a=1, b=1; A a=2, b=2; undo a, b; user -b, b@/dev/null; back; is a changed 1>1@1
  user -b; user b=1; back; disk b=2; is a changed 1>1@1, b changed 1>1@1
# restores a file that became a folder, and a folder that became a file
  user a=1, d/e/f=2; A -a, -d/e/f; user -d; A a/b/c=3, d=4
  is a deleted 1>0@0, a/b/c created 0>1@1, d created 0>1@1, d/e/f deleted 1>0@0; see
  undo a, a/b/c, d, d/e/f; disk a=1, d/e/f=2; is nothing
  back; disk a/b/c=3, d=4; same
# does not mistake a backslash in a name for a folder
  A a\\b=1, a/b=1; undo a\\b; disk -a\\b, a/b=1
# does not write through a symlink
  user dir/a=1; A dir/a=2; see; user -dir/a, dir/a@/etc/hostname
  undo dir/a#1: has changed since it was shown; disk dir/a@/etc/hostname
# leaves a mode that Claude changed when only the hunk is undone
  user a=1 2; chmod a 644; A a=1 II; A chmod a 700; A chmod a 755
  undo a#1; mode a 755; disk a=1 2; back; undo a; mode a 644; disk a=1 2; is nothing
# is not needed about a mode that was changed back
  user a=1; chmod a 644; A chmod a 755; chmod a 644; is nothing; A chmod a 644; is nothing
# is taken back with an executable file's mode
  A new=1; chmod new 700; undo new; disk -new; back; disk new=1; mode new 700
`);

  test("about one of several moved files with the same text moves the listed one", async () => {
    for (const name of ["a", "b"]) world.write(name, "same\n");
    world.claude({ a: undefined, b: undefined, c: "same\n", d: "same\n" });
    const { files } = await world.list();
    const last = files.find(({ path }) => path === world.path("d"));
    await world.undo([at("d")]);
    expect(world.read("d")).toBeUndefined();
    const found = ["a", "b"].filter((name) => world.read(name) !== undefined);
    expect(found.map(world.path, world)).toEqual([last?.from as string]);
    expect(await world.summary()).toEqual(["c renamed 0>1@1"]);
  });

  test("about a file that was moved and edited is one about the whole file", async () => {
    world.edited("a", "1\n2\n3\n4\n5\n", "1\n2\nIII\n4\n5\n");
    world.claude({ a: undefined, b: "1\n2\nIII\n4\n5\n" }, { from: { b: "a" } });
    world.edited("b", "0\n1\n2\nIII\n5\n", "0\n2\nIII\n5\n6\n");
    expect(await world.summary()).toEqual(["b renamed 5>5@1"]);
    const shown = await world.file("b");
    const [hunk] = shown?.hunks ?? [];
    const lines = (words: string) => words.split(" ").map((word) => Buffer.from(word));
    expect(shown).toMatchObject({ kind: "renamed", from: world.path("a") });
    const parts = { added: 2, removed: 2, in_parts: true };
    const texts = { old_lines: lines("0 1 2 3 5"), new_lines: lines("0 2 III 5 6") };
    expect(hunk).toMatchObject({ ...parts, ...texts });
    const before = await world.list();
    const { decision } = await world.undo([at("b", { hunks: [hunk?.id] })], { keep_both: true });
    expect([world.read("a"), world.read("b")]).toEqual(["1\n2\n3\n4\n5\n", "0\n"]);
    await world.back({ decision });
    expect(await world.list()).toEqual(before);
    world.write("b", "0\n2\nIII\n5\n7\n");
    const { files } = await world.keep([at("b", { hunks: [hunk?.id] })]);
    expect(files[0]?.problem).toContain("has changed since it was shown");
  });

  const mode = (name = "a") => statSync(world.path(name)).mode & 0o7777;

  test.each([1, 2])("keeps the mode of a file with %p names, without setuid", async (names) => {
    claims("A read-only file is written only after a `!`");
    world.write("a", "1\n");
    if (names > 1) linkSync(world.path("a"), world.path("b"));
    world.claude({ a: "2\n" });
    world.chmod("a", 0o6750);
    await world.undo([at("a")]);
    expect([world.read(names > 1 ? "b" : "a"), mode()]).toEqual(["1\n", 0o750]);
  });

  test("gives back the mode of a file that Claude deleted, and made again", async () => {
    world.write("run", "#!/bin/sh\n");
    world.chmod("run", 0o750);
    const before = world.content(world.read("run"));
    world.write("run", undefined);
    const file = { path: "run", before, after: world.content(undefined) };
    const files = [{ ...file, mode: [0o750, 0] as [number, number] }];
    world.record({ type: "change", session: "A", tool: "Bash", source: "bash", files });
    await world.undo([at("run")]);
    expect(mode("run")).toBe(0o750);
    await world.back();
    expect(await world.summary()).toEqual(["run deleted 1>0@0"]);
    world.claude({ run: "#!/bin/bash\n" }, { tool: "Write" });
    world.chmod("run", 0o640);
    const again = await world.list();
    expect(again.files).toMatchObject([{ mode: { before: 0o750, after: 0o640 } }]);
    await world.undo([at("run")]);
    expect([mode("run"), await world.summary()]).toEqual([0o750, []]);
    await world.back();
    expect([mode("run"), await world.list()]).toEqual([0o640, again]);
  });

  test("about a mode beside an unsaved text is made at once", async () => {
    world.edited("a", "1\n2\n", "1\nII\n");
    world.chmod("a", 0o644);
    world.claudeChmod("a", 0o644, 0o755);
    const hunks = ["mode", (await world.file("a"))?.hunks[0]?.id];
    await world.undo([at("a", { hunks, text: base64("1\nII\n") })]);
    expect([mode(), world.read("a")]).toEqual([0o644, "1\nII\n"]);
  });

  test("about a file outside of the workspace is taken back with only its id", async () => {
    world.edited("a", "1\n", "2\n");
    const again = world.another();
    again.follow([world.path("elsewhere")]);
    expect(await again.answer("list", {})).toMatchObject({ files: [] });
    const undone = (await again.answer("undo", { files: [at("a")] })) as ShownDecision;
    expect(await again.answer("last", {})).toBeUndefined();
    expect(await outcomeOf(again.answer("back", {}))).toThrow("no decision to take back");
    expect(world.read("a")).toBe("1\n");
    await again.answer("back", { decision: undone.decision });
    expect(world.read("a")).toBe("2\n");
  });
});
