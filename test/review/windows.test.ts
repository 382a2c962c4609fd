import { expect, test } from "bun:test";
import { Actors } from "./state/actors";

/* When a call of Claude's may have changed files. */

const MINUTE = 60_000;

test.each([
  ["asked for permission, is the user's", MINUTE - 5_000, []],
  ["ran, is the call's", 0, ["a changed 1>1@1"]],
])("what another editor wrote while the call %s", async (_name, began, expected) => {
  using world = new Actors({ a: "one\n" });
  world.turn("A");
  const call = { session: "A", prompt: "A-1", tool: "Bash", use: "u1" };
  const at = Date.now();
  world.record({ type: "begin", ...call });
  world.write("a", "two\n");
  const times = { at: at + MINUTE, began: at + began };
  world.record({ type: "change", ...call, ...times, source: "bash", files: [] });
  world.compare();
  expect(await world.summary()).toEqual(expected);
});
