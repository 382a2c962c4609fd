import { linkSync, lstatSync, rmSync, statSync, symlinkSync } from "node:fs";
import { claims, outcomeOf } from "#test";
import type { ShownDecision } from "../../../src/review/shown";
import { base64, World } from "./world";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world[Symbol.dispose]());

const at = (name: string, more: object = {}) => ({ path: world.path(name), ...more });

describe("what is listed", () => {
  test("a turn is a prompt of the user's: not a notification of the CLI's, and without its tags", async () => {
    const first = world.prompt(
      "A",
      '\n\n<pasted_content id="7">\nfirst\n</pasted_content id="7">\n',
    );
    const note = world.prompt("A", "<task-notification>\n<task-id>x</task-id>");
    world.claude({ a: "1\n" }, { prompt: first });
    world.claude({ b: "1\n" }, { prompt: note });
    world.claude({ c: "1\n" }, { prompt: world.prompt("A", "second") });
    world.claude({ d: "1\n" }, { session: "B" });
    expect(await world.summary()).toHaveLength(4);
    expect(await world.summary({ scope: "turn", session: "A" })).toEqual(["c created 0>1@1"]);
    const { files } = await world.list({ scope: "session", session: "A" });
    const owners = files.map(({ owners: [owner] }) => owner);
    expect(owners.map((owner) => [owner?.turn, owner?.prompt])).toEqual([
      [1, "first"],
      [1, "first"],
      [2, "second"],
    ]);
  });

  test("a change of a text that is not known is none of Claude's once the user deletes the file", async () => {
    world.write("a", "2\n");
    const [before, after] = [{ withheld: "large" as const }, world.content("2\n")];
    const files = [{ path: "a", before, after }];
    world.record({ type: "change", session: "A", tool: "Edit", source: "tool", files });
    expect(await world.summary()).toEqual(["a unseen"]);
    world.write("a", undefined);
    expect(await world.summary()).toEqual([]);
  });
});

describe("decisions", () => {
  test("the name that a moved file had is decided with the one that it has", async () => {
    world.write("old", "same\ntext\n");
    world.claude({ old: undefined, new: "same\ntext\n" });
    const { decision } = await world.keep([at("old")]);
    expect(await world.summary()).toEqual([]);
    await world.back({ decision });
    await world.undo([at("old"), at("new")]);
    expect([world.read("old"), world.read("new")]).toEqual(["same\ntext\n", undefined]);
    expect(await world.summary()).toEqual([]);
  });

  test("of moved files with the same text each is decided with the one that the list says", async () => {
    for (const name of ["a", "b"]) world.write(name, "same\n");
    world.claude({ a: undefined, b: undefined, c: "same\n", d: "same\n" });
    const { files } = await world.list();
    const last = files.find(({ path }) => path === world.path("d"));
    await world.undo([at("d")]);
    expect(world.read("d")).toBeUndefined();
    expect(["a", "b"].filter((name) => world.read(name) !== undefined)).toEqual([
      (last?.from ?? "").slice(world.root.length + 1),
    ]);
    expect(await world.summary()).toEqual(["c renamed 0>1@1"]);
  });

  test("of a file that was moved and edited only the edit differs, and it is decided as a whole", async () => {
    world.edited("a", "1\n2\n3\n4\n5\n", "1\n2\nIII\n4\n5\n");
    world.claude({ a: undefined, b: "1\n2\nIII\n4\n5\n" }, { from: { b: "a" } });
    world.edited("b", "0\n1\n2\nIII\n5\n", "0\n2\nIII\n5\n6\n");
    expect(await world.summary()).toEqual(["b renamed 5>5@1"]);
    const shown = await world.file("b");
    const text = (lines?: Uint8Array[]) => lines?.map((line) => Buffer.from(line).toString());
    const [hunk] = shown?.hunks ?? [];
    expect(text(hunk?.old_lines)).toEqual(["0", "1", "2", "3", "5"]);
    expect(text(hunk?.new_lines)).toEqual(["0", "2", "III", "5", "6"]);
    expect(shown).toMatchObject({ kind: "renamed", from: world.path("a") });
    expect(hunk).toMatchObject({ added: 2, removed: 2, in_parts: true });
    const before = await world.list();
    const { decision } = await world.undo([at("b", { hunks: [hunk?.id] })], { keep_both: true });
    expect([world.read("a"), world.read("b")]).toEqual(["1\n2\n3\n4\n5\n", "0\n"]);
    await world.back({ decision });
    expect(await world.list()).toEqual(before);
    world.write("b", "0\n2\nIII\n5\n7\n");
    const { files } = await world.keep([at("b", { hunks: [hunk?.id] })]);
    expect(files[0]?.problem).toContain("has changed since it was shown");
  });

  test("a moved file that the user has edited goes back only where that is wanted", async () => {
    world.write("a", "1\n2\n");
    world.claude({ a: undefined, b: "1\n2\n" }, { from: { b: "a" } });
    world.write("b", "1\nmine\n2\n");
    const { decision, files } = await world.undo([at("a"), at("b")]);
    expect([decision, files[0]?.problem]).toEqual([undefined, expect.stringContaining("edited")]);
    expect([world.read("a"), world.read("b")]).toEqual([undefined, "1\nmine\n2\n"]);
    await world.undo([at("b")], { keep_both: true });
    expect([world.read("a"), world.read("b")]).toEqual(["1\n2\n", "mine\n"]);
  });

  test("what has changed since it was shown is refused", async () => {
    claims("An undo changes only what you decided about");
    world.edited("a", "1\n2\n", "1\nII\n");
    const [hunk] = (await world.file("a"))?.hunks ?? [];
    world.edited("a", "1\nII\nIII\n", "1\nii\nIII\n");
    const { decision, files } = await world.undo([at("a", { hunks: [hunk?.id] })]);
    expect(decision).toBeUndefined();
    expect(files[0]?.problem).toContain("has changed since it was shown");
    expect(world.read("a")).toBe("1\nii\nIII\n");
  });

  test("what another session has made of the rows is a conflict of a session's review alone", async () => {
    world.edited("a", "1\n2\n", "1\nII\n", { session: "A" });
    world.claude({ a: "1\nzwei\n" }, { session: "B" });
    const scope = { scope: "session", session: "A" };
    const { files } = await world.undo([at("a")], scope);
    expect(files[0]?.conflicts).toMatchObject([{ by: "claude", claude: [Buffer.from("II")] }]);
    expect(world.read("a")).toBe("1\nzwei\n");
    await world.undo([at("a")]);
    expect(world.read("a")).toBe("1\n2\n");
  });

  test("a part of such a hunk is the same conflict", async () => {
    world.edited("a", "1\n2\n3\n4\n5\n6\n", "1\nII\nIII\n4\nV\nVI\n");
    world.write("a", "1\nII mine\nIII\n4\nV\nVI\n");
    const { decision, files } = await world.undo([at("a", { range: [2, 2] })]);
    expect(decision).toBeUndefined();
    expect(files[0]?.conflicts).toMatchObject([
      { now: [Buffer.from("II mine"), Buffer.from("III")] },
    ]);
    expect(world.read("a")).toBe("1\nII mine\nIII\n4\nV\nVI\n");
    const both = await world.undo([at("a", { range: [3, 5] })]);
    expect(both.files[0]?.conflicts).toHaveLength(1);
    expect(world.read("a")).toBe("1\nII mine\nIII\n4\n5\nVI\n");
  });

  test("a file that one session created, the user wrote into and another session deleted", async () => {
    world.claude({ a: "1\n2\n" }, { session: "B" });
    world.edited("a", "1\nmine\n2\n", undefined);
    const before = await world.list();
    expect(before.files).toMatchObject([{ kind: "deleted" }]);
    await world.undo([at("a")]);
    expect(world.read("a")).toBe("mine\n");
    await world.back();
    expect(world.read("a")).toBeUndefined();
    expect(await world.list()).toEqual(before);
  });

  test("a changed file that the user deletes, as with its work tree, is none of Claude's until it is there again", async () => {
    world.write("tree/a", "1\n2\n3\n");
    world.claude({ "tree/a": "1\nII\n3\n", "tree/new": "new\n" });
    rmSync(world.path("tree"), { recursive: true });
    expect(await world.summary()).toEqual([]);
    world.write("tree/a", "1\nII\n3\n");
    expect(await world.summary()).toEqual(["tree/a changed 1>1@2"]);
  });

  test("a file that the user deleted, and Claude made again, is created, and undoing all removes it", async () => {
    world.edited("a", "1\n2\n3\n", "1\nII\n3\n");
    world.edited("a", undefined, "new\n", { session: "B" });
    expect(await world.summary()).toEqual(["a created 0>1@1"]);
    await world.undo([at("a")]);
    expect(world.read("a")).toBeUndefined();
    expect(await world.summary()).toEqual([]);
    await world.back();
    world.write("a", "1\nII\n3\n");
    await world.undo([at("a")]);
    expect(world.read("a")).toBe("1\n2\n3\n");
  });

  test("a file that one session moved, and another wrote anew, has changed", async () => {
    world.write("a", "1\n2\n");
    world.claude({ a: undefined, b: "1\n2\n" }, { from: { b: "a" } });
    world.claude({ a: "new\n" }, { session: "B" });
    expect(await world.summary()).toEqual(["a changed 2>1@1", "b created 0>2@1"]);
    const hunks = [(await world.file("a"))?.hunks[0]?.id];
    await world.undo([at("a", { hunks })]);
    expect(world.read("a")).toBe("1\n2\n");
    expect(await world.summary()).toEqual(["b created 0>2@1"]);
    await world.back();
    await world.keep([at("a"), at("b")]);
    expect(await world.summary()).toEqual([]);
  });

  test("what cannot be taken back in one file can be taken back there later", async () => {
    for (const name of ["a", "b"]) world.write(name, "1\n");
    world.claude({ a: "2\n", b: "2\n" });
    await world.undo([at("a"), at("b")]);
    world.write("b", undefined);
    symlinkSync("/dev/null", world.path("b"));
    await world.back();
    expect(await world.summary()).toEqual(["a changed 1>1@1"]);
    rmSync(world.path("b"));
    world.write("b", "1\n");
    await world.back();
    expect(world.read("b")).toBe("2\n");
    expect(await world.summary()).toHaveLength(2);
  });

  test("a file that became a folder, and a folder that became a file", async () => {
    world.write("a", "1\n");
    world.write("d/e/f", "2\n");
    world.claude({ a: undefined, "d/e/f": undefined });
    rmSync(world.path("d"), { recursive: true });
    world.claude({ "a/b/c": "3\n", d: "4\n" });
    const before = await world.summary();
    expect(before).toEqual([
      "a deleted 1>0@0",
      "a/b/c created 0>1@1",
      "d created 0>1@1",
      "d/e/f deleted 1>0@0",
    ]);
    const names = ["a", "a/b/c", "d", "d/e/f"];
    const { files } = await world.undo(names.map((name) => at(name)));
    expect(files.filter(({ problem }) => problem)).toEqual([]);
    expect([world.read("a"), world.read("d/e/f")]).toEqual(["1\n", "2\n"]);
    expect(await world.summary()).toEqual([]);
    await world.back();
    expect([world.read("a/b/c"), world.read("d")]).toEqual(["3\n", "4\n"]);
    expect(await world.summary()).toEqual(before);
  });

  test("an undone file keeps its mode and its hard links", async () => {
    world.write("a", "1\n");
    world.chmod("a", 0o640);
    linkSync(world.path("a"), world.path("b"));
    world.claude({ a: "2\n" });
    await world.undo([at("a")]);
    expect([world.read("b"), mode()]).toEqual(["1\n", 0o640]);
  });

  const mode = (name = "a") => statSync(world.path(name)).mode & 0o777;

  describe("a mode that Claude changed beside the text", () => {
    beforeEach(() => {
      world.write("a", "1\n2\n");
      world.chmod("a", 0o644);
      world.claude({ a: "1\nII\n" });
      world.claudeChmod("a", 0o644, 0o700);
      world.claudeChmod("a", 0o700, 0o755);
    });
    const listed = async () => {
      const { files, counts } = await world.list();
      return [counts.hunks, files[0]?.hunks.length, files[0]?.mode?.before, files[0]?.mode?.after];
    };

    test("stays when the hunk is undone, and goes with it when both are chosen", async () => {
      const [hunk] = (await world.file("a"))?.hunks ?? [];
      await world.undo([at("a", { hunks: [hunk?.id] })]);
      expect([mode(), world.read("a")]).toEqual([0o755, "1\n2\n"]);
      await world.back();
      await world.undo([at("a", { hunks: ["mode", hunk?.id], text: base64("1\nII\n") })]);
      expect([mode(), world.read("a")]).toEqual([0o644, "1\nII\n"]);
      world.write("a", "1\n2\n");
      expect(await world.summary()).toEqual([]);
    });

    test("is none after the user or Claude has changed it back", async () => {
      world.chmod("a", 0o644);
      expect(await listed()).toEqual([1, 1, undefined, undefined]);
      world.claudeChmod("a", 0o755, 0o644);
      expect(await listed()).toEqual([1, 1, undefined, undefined]);
    });
  });

  test("a deleted file comes back with its mode, also one that was made again, or undone", async () => {
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
    expect((await world.list()).files).toMatchObject([{ kind: "deleted" }]);

    world.claude({ run: "#!/bin/bash\n" }, { tool: "Write" });
    world.chmod("run", 0o640);
    const again = await world.list();
    expect(again.files).toMatchObject([{ mode: { before: 0o750, after: 0o640 } }]);
    await world.undo([at("run")]);
    expect([mode("run"), await world.summary()]).toEqual([0o750, []]);
    await world.back();
    expect([mode("run"), await world.list()]).toEqual([0o640, again]);

    world.claude({ new: "#!/bin/sh\n" });
    world.chmod("new", 0o700);
    await world.undo([at("new")]);
    await world.back();
    expect([world.read("new"), mode("new")]).toEqual(["#!/bin/sh\n", 0o700]);
  });

  test.each([1, 2])("undone, a file with %p names loses setuid and setgid", async (names) => {
    claims("A read-only file is written only after a `!`");
    world.write("a", "1\n");
    if (names > 1) linkSync(world.path("a"), world.path("b"));
    world.claude({ a: "2\n" });
    world.chmod("a", 0o6755);
    await world.undo([at("a")]);
    expect(world.read("a")).toBe("1\n");
    expect(statSync(world.path("a")).mode & 0o7777).toBe(0o755);
  });

  test("a backslash in a name leads to no other file", async () => {
    world.claude({ "a\\b": "1\n", "a/b": "1\n" });
    await world.undo([at("a\\b")]);
    expect([world.read("a\\b"), world.read("a/b")]).toEqual([undefined, "1\n"]);
  });

  test("nothing outside of the project is written, nor through a symlink", async () => {
    claims("An undo changes only what you decided about");
    world.write("dir/a", "1\n");
    world.claude({ "dir/a": "2\n" });
    const [hunk] = (await world.file("dir/a"))?.hunks ?? [];
    world.write("dir/a", undefined);
    symlinkSync("/etc/hostname", world.path("dir/a"));
    const { files } = await world.undo([at("dir/a", { hunks: [hunk?.id] })]);
    expect(files[0]?.problem).toContain("has changed since it was shown");
    expect(lstatSync(world.path("dir/a")).isSymbolicLink()).toBe(true);
  });

  test("an edit that was accepted in a diff is kept, and what Claude changed before is not", async () => {
    world.edited("a", "1\r\n2\r\n3\r\n", "I\r\n2\r\n3\r\n");
    const request = { path: world.path("a"), text: base64("I\n2\nIII\n") };
    await world.service.answer("accepted", request);
    world.claude({ a: "I\r\n2\r\nIII\r\n" });
    await world.service.summary();
    expect(await world.summary()).toEqual(["a changed 1>1@1"]);
  });

  test("a decision about a file outside of the workspace is taken back by its id alone", async () => {
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

  test("the base text, to the byte", async () => {
    world.edited("a", "\xef\xbb\xbf1\r\n\xff\r2", "1\n");
    expect(await world.service.answer("base", { path: world.path("a") })).toEqual({
      text: Buffer.from("\xef\xbb\xbf1\r\n\xff\r2", "latin1"),
    });
  });
});
