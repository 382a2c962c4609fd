import { appendFileSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "#test";
import { join, resolve } from "../../src/lib/platform";
import { trailOf } from "../../src/transcript/trail";
import { WatchedTranscript } from "../../src/transcript/watched";
import { answer, calls, line, prompt, result } from "./entries";

let folder: string;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, "a.jsonl");
  writeFileSync(path, "");
});

const append = (...entries: object[]) => appendFileSync(path, entries.map(line).join(""));

const hunk = {
  ...{ oldStart: 5, oldLines: 4, newStart: 5, newLines: 5 },
  lines: [" a", "-b", "+B", "+C", " d", " e"],
};

describe("the trail", () => {
  beforeEach(() =>
    append(
      prompt("first"),
      calls("1", "Read", { file_path: "/p/a.ts", offset: 3, limit: 10 }),
      result("1", "x"),
      calls("2", "Grep", { pattern: "foo", path: resolve("/p/src") }),
      result("2", "x"),
      prompt("second"),
      calls("3", "Edit", { file_path: "b.ts" }),
      result("3", "ok", { structuredPatch: [hunk] }),
      calls("4", "Bash", { command: "ls" }),
      calls("5", "Read", { file_path: "/p/gone" }),
      result("5", "no such file", {}, true),
    ),
  );

  const FIRST = [
    { act: "read", path: resolve("/p/a.ts"), subject: "a.ts:3-12", first: 3, last: 12 },
    { act: "searched", path: resolve("/p/src"), subject: "foo in src" },
  ];
  const SECOND = [{ act: "edited", path: resolve("/p/b.ts"), subject: "b.ts", first: 6, last: 7 }];

  test.each([
    ["last", SECOND],
    ["all", [...FIRST, ...SECOND]],
    [1, FIRST],
    [2, SECOND],
    [3, []],
  ] as const)("has the steps of turn %p", (turn, expected) => {
    expect<object>(trailOf(path, turn)).toEqual({ steps: [...expected], hidden: 0, left_out: 0 });
  });

  test("has the last thousand steps, and how many were before", () => {
    append(
      ...Array.from({ length: 1_500 }, (_, i) => calls(`n${i}`, "Read", { file_path: `/p/${i}` })),
    );
    const { steps, left_out } = trailOf(path, "all");
    expect([steps[0]?.path, steps.at(-1)?.path]).toEqual([resolve("/p/500"), resolve("/p/1499")]);
    expect([steps.length, left_out]).toEqual([1_000, 503]);
  });

  test("is in order in a file of many parts", () => {
    const text = "x".repeat(100_000);
    for (let i = 0; i < 40; i++) {
      append(calls(`n${i}`, "Read", { file_path: `/p/${i}` }), result(`n${i}`, text, {}, i === 7));
    }
    const read = trailOf(path, 2).steps.slice(1);
    const all = Array.from({ length: 40 }, (_, i) => `/p/${i}`)
      .filter((one) => one !== "/p/7")
      .map((one) => resolve(one));
    expect(read.map((step) => step.path)).toEqual(all);
  });
});

describe("a conversation that is watched", () => {
  const usage = (input: number) => ({
    ...{ input_tokens: input, cache_read_input_tokens: 1_000, output_tokens: 10 },
  });

  test("reports how full the context is, where its size is known", () => {
    append(prompt("x"), answer("y", usage(99_000), "claude-new"));
    const watched = new WatchedTranscript(path);
    expect(watched.news()).toEqual({ tokens: 100_000, steps: [] });
    append(answer("y", usage(199_001), "claude-sonnet-4-5"));
    expect(watched.news()).toEqual({ tokens: 200_001, steps: [] });
    append(answer("z", usage(1e300)));
    expect(watched.news()).toBeUndefined();
  });

  // As `context_window.used_percentage` of the CLI (2.1.330) for the same numbers.
  test.each([
    ["claude-sonnet-4-5", "claude-sonnet-4-5", 0.75],
    ["claude-sonnet-4-5", "claude-sonnet-4-5[1m]", 0.15],
    ["claude-3-5-haiku-20241022", undefined, 0.75],
    ["claude-opus-4-6", undefined, 0.75],
    ["claude-opus-4-8", undefined, 0.15],
    ["claude-opus-5-5", undefined, 0.15],
  ])("is as full as the CLI says: %s, called %s", (model, modelId, share) => {
    const named = { type: "attachment", attachment: { type: "model", identity: { modelId } } };
    append(...(modelId ? [named] : []), prompt("x"), answer("y", usage(149_000), model));
    const watched = new WatchedTranscript(path);
    expect(watched.news()).toEqual({ tokens: 150_000, share, steps: [] });
  });

  test("reports each step when it begins, and the lines of an edit when they are known", () => {
    append(prompt("x"), calls("0", "Read", { file_path: "/p/old" }));
    const watched = new WatchedTranscript(path);
    expect(watched.news()).toBeUndefined();
    append(calls("1", "Edit", { file_path: "/p/b.ts" }));
    const edit = { act: "edited", path: resolve("/p/b.ts"), subject: "b.ts" } as const;
    expect(watched.news()).toEqual({ steps: [edit] });
    append(result("1", "ok", { structuredPatch: [hunk] }));
    expect(watched.news()).toEqual({ steps: [{ ...edit, first: 6, last: 7 }] });
    append(...Array.from({ length: 90 }, (_, i) => calls(`n${i}`, "Read", { file_path: `/${i}` })));
    expect(watched.news()?.steps.map(({ path }) => path)).toEqual(
      Array.from({ length: 50 }, (_, i) => resolve(`/${40 + i}`)),
    );
  });

  test("reports the ends of calls, and marks failed and background ones", () => {
    const ended: string[] = [];
    const watched = new WatchedTranscript(path, ({ use, isVague }) =>
      ended.push(isVague ? `${use}?` : use),
    );
    const now = new Date(Date.now() + 1_000).toISOString();
    const called = (id: string, timestamp = now) => ({ ...calls(id, "Bash", {}), timestamp });
    append(prompt("x"), called("copied", "2026-01-01T00:00:00Z"), result("copied", "ok"));
    append(called("failed"), result("failed", "no", {}, true), called("runs"));
    append(called("background"), result("background", "ok", { backgroundTaskId: "1" }));
    append(called("well"), result("well", "ok"));
    watched.news();
    append(result("runs", "ok"), result("runs", "ok"));
    watched.news();
    expect(ended).toEqual(["failed?", "background?", "well", "runs"]);
  });
});
