import { readFileSync, writeFileSync } from "node:fs";
import { isolatedEnv, nightly } from "#test";
import { join } from "../../src/lib/platform";
import { runHook } from "../support/hook";
import { base64, World } from "./state/world";
import { play } from "./story";

/** The context that the hook of the next prompt gives Claude, without its first line. */
async function received(world: World, session_id = "A"): Promise<string> {
  const { root, home } = world;
  const { output, code } = await runHook({
    event: "user-prompt-submit",
    input: { session_id, cwd: root, prompt: "go on" },
    cwd: root,
    env: { ...isolatedEnv(home), CLAUDE_PROJECT_DIR: root },
  });
  expect(code).toBe(0);
  const context = (output as { hookSpecificOutput?: { additionalContext: string } } | undefined)
    ?.hookSpecificOutput?.additionalContext;
  if (context === undefined) return "nothing";
  expect(context.length).toBeLessThan(10_000);
  const [head = "", ...rest] = context.split("\n");
  expect(head).toContain("Do not make these again unless the user asks");
  return rest.join("\n").trim();
}

/** Plays a story (story.ts), with lines `receives: text|of lines`, and `B receives` for session B. */
async function tell(world: World, story: string): Promise<void> {
  for (const line of story.trim().split("\n")) {
    const [, session = "A", text] = /^\s*(?:(\w) )?receives: (.*)$/.exec(line) ?? [];
    if (text === undefined) await play(world, line);
    else expect((await received(world, session)).replaceAll("\n", "|")).toBe(text);
  }
}

const UNDONE = "user a=1; A a=2; stop; undo a";

test.each([
  [
    "once lines that are gone, and lines that are back",
    `user a=one two three four five, b ü=x
     A a=one TWO\u00c3\u00bc TWO-B three five, b ü=y; stop
     receives: nothing
     stop; undo a
     receives: a|line 2:|+two|-TWOü|-TWO-B|line 4:|+four
     receives: nothing
     stop; undo b ü
     receives: b ü|line 1:|+x|-y`,
  ],
  [
    "that a file is gone, and one back",
    `user gone=x; A new=1 2, -gone; stop; undo new, gone
     receives: new|the file is gone||gone|the file is back`,
  ],
  [
    "only the session's own edits",
    `user a=1 2 3 4 5; A a=I 2 3 4 5; stop; B a=I 2 3 4 V; undo a
     receives: a|line 1:|+1|-I
     B receives: a|line 5:|+5|-V
     C receives: nothing
     B receives: nothing`,
  ],
  ["nothing of an undo that was taken back", `${UNDONE}; back\nreceives: nothing`],
])("receives %s", async (_name, story) => {
  using world = new World();
  await tell(world, story);
});

test("does not receive an undo that is not saved yet", async () => {
  using world = new World();
  await tell(world, "user b=1; A b=2; stop");
  // In a buffer: the executable gives the edits, and the file stays as it is.
  await world.undo([{ path: world.path("b"), text: base64("2\n") }]);
  await tell(world, "receives: nothing\nuser b=1\nreceives: b|line 1:|+1|-2");
});

nightly.test("receives the names of files beyond what the CLI shows", async () => {
  using world = new World();
  const long = Array.from({ length: 2_000 }, (_, i) => `line-${i}`).join(" ");
  await tell(world, `user a=1, b=1; A a=2; A b=${long}; stop; undo a; undo b`);
  const text = await received(world);
  expect(text).toStartWith("a\nline 1:\n+1\n-2");
  expect(text).toEndWith("And, with too many lines to show: b");
});

test("receives it once from hooks of two installations, even beside damage", async () => {
  using world = new World();
  await tell(world, UNDONE);
  writeFileSync(join(world.folder, "journal.jsonl"), '{"type":"undo","torn', { flag: "a" });
  const both = await Promise.all([received(world), received(world)]);
  expect(both.toSorted()).toEqual(["a\nline 1:\n+1\n-2", "nothing"]);
});

test("does not receive an old undo", async () => {
  using world = new World();
  await tell(world, UNDONE);
  const journal = join(world.folder, "journal.jsonl");
  const month = 31 * 24 * 60 * 60_000;
  const aged = readFileSync(journal, "utf8").replace(
    /("at":)(\d+)(?=[^\n]*"type":"undo")/,
    (_whole, name, at) => `${name}${Number(at) - month}`,
  );
  writeFileSync(journal, aged);
  expect(await received(world)).toBe("nothing");
});
