import { mkdirSync, writeFileSync } from "node:fs";
import { restoresEnv, SLEEP, spyOn } from "#test";
import { join } from "../../src/lib/platform";
import { ownProcess } from "../../src/lib/process";
import { JournalReader } from "../../src/review/journal/read";
import { RecordedProject } from "../../src/review/record/recorded-project";
import { Recorder } from "../../src/review/record/recorder";
import { snapshotFile } from "../../src/review/record/snapshot";
import { Sessions } from "../../src/review/state/sessions";
import { hunk, Recorded } from "./recorded";
import { Actors, APART_MS } from "./state/actors";
import { World } from "./state/world";

/* The times at which one of Claude's calls may have changed files. */

const MINUTE = 60_000;
restoresEnv("CLAUDE_CONFIG_DIR");

const call = (use: string) => ({ session: "A", prompt: "A-1", tool: "Bash", use });

test.each([
  ["asked for permission, is the user's", MINUTE - 5_000, []],
  ["ran, is the call's", 0, ["a changed 1>1@1"]],
])("judges what another editor wrote while the call %s", async (_name, began, expected) => {
  using world = new Actors({ a: "one\n" });
  world.turn("A");
  const at = Date.now();
  world.record({ type: "begin", ...call("u1") });
  world.write("a", "two\n");
  const times = { at: at + MINUTE, began: at + began };
  world.record({ type: "change", ...call("u1"), ...times, source: "bash", files: [] });
  world.compare();
  expect(await world.summary()).toEqual(expected);
});

test("attributes to the user what another editor wrote after Esc", async () => {
  using world = new Actors({ a: "one\n", b: "one\n" });
  await world.run("A", "interrupted", [() => world.write("a", "two\n")], []);
  process.env.CLAUDE_CONFIG_DIR = join(world.folder, "claude");
  const folder = join(process.env.CLAUDE_CONFIG_DIR, "sessions");
  mkdirSync(folder, { recursive: true });
  const who = { sessionId: "A", pidDomain: ownProcess().domain };
  const state = { ...who, status: "idle", statusUpdatedAt: Date.now() };
  writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(state));
  await Bun.sleep(APART_MS);
  world.write("b", "mine\n");
  world.turn("A");
  expect(await world.summary()).toEqual(["a changed 1>1@1"]);
});

test.each([
  ["a command", "now", "two\n", ["a changed 1>1@1"]],
  ["a command, long ago", "long ago", "mine\n", []],
  ["a command in the background", "background", "two\n", ["a changed 1>1@1"]],
] as const)(
  "attributes changes to the user after the CLI was killed while %s ran",
  async (...one) => {
    const [, how, text, expected] = one;
    using world = new Actors({ a: "one\n", b: "one\n" });
    await using claude = Bun.spawn(SLEEP);
    const cli = { pid: claude.pid, pidDomain: ownProcess().domain };
    world.turn("A");
    const at = Date.now() - (how === "long ago" ? 60 * MINUTE : 0);
    if (how === "long ago") world.record({ type: "prompt", session: "A", text: "", at });
    world.record({ type: "begin", ...call("u1"), cli, at });
    if (how === "background") world.stopped("A", true);
    world.write("a", text);
    claude.kill("SIGKILL");
    await claude.exited;
    world.compare();
    await Bun.sleep(APART_MS);
    world.write("b", "mine\n");
    world.compare();
    expect(await world.summary()).toEqual([...expected]);
  },
);

/* The CLI does not wait for the hook at the beginning of a call: on a busy machine, the hook records it late. */

const recordsOf = (world: Actors) => new JournalReader(world.folder).read().records;

test("attributes to a command what it changed before its start was recorded", async () => {
  using world = new Recorded({ "a.txt": "one\n" });
  await world.prompt();
  await world.failing("echo x >> a.txt", { hookMs: 300 });
  await world.stop();
  expect(world.files).toEqual(['a.txt: "one\\n" > "one\\nx\\n"']);
});

test("treats a call as ended if its start is recorded after its end", async () => {
  using world = new Actors({ a: "one\n", b: "one\n" });
  world.turn("A");
  const started = Date.now();
  world.write("a", "two\n");
  const recorder = new Recorder(world.root, started);
  recorder.failed({ ...call("u1"), durationMs: 1 });
  recorder.begin(call("u1"));
  await world.program(() => world.write("b", "mine\n"));
  world.compare();
  world.stopped("A");
  expect(await world.summary()).toEqual(["a changed 1>1@1"]);
  expect(Sessions.of(recordsOf(world)).isInCall()).toBe(false);
});

test("attributes a deletion to the next call, whose hook is late", async () => {
  using world = new Actors({ a: "one\n", b: "one\n" });
  await world.run("A", "diff", [() => world.write("a", "two\n")], ["a"]);
  // Claude is thinking.
  await Bun.sleep(APART_MS);
  const started = Date.now();
  world.write("b", undefined);
  // The first call's start is recorded late.
  world.compare();
  const recorder = new Recorder(world.root, started);
  recorder.begin(call("u9"));
  const filePath = world.path("b");
  const files = [{ filePath, hunks: [hunk(1, 1, 0, 0, "-one")], deleted: true }];
  const response = { bashEditDiff: { files, changedFiles: [filePath] } };
  recorder.change({ ...call("u9"), response, durationMs: 5 }, true);
  world.stopped("A");
  const changes = recordsOf(world).filter((one) => one.type === "change");
  const deletions = changes.filter(({ files }) => files.some(({ path }) => path === "b"));
  expect(deletions.map(({ use }) => use)).toEqual(["u9"]);
});

test("treats a file as deleted if it is removed between the check and the read", () => {
  using world = new World();
  world.write("a", "one\n");
  const project = new RecordedProject(world.root);
  spyOn(project.privacy, "isPrivate").mockImplementation(() => {
    world.write("a", undefined);
    return false;
  });
  expect(snapshotFile(project, "a")).toMatchObject({ content: { absent: true } });
});
