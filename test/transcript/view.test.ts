import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { Block } from "../../src/transcript/markdown";
import { View } from "../../src/transcript/view";
import { tries } from "../fuzz/effort";
import { temporaryFolder } from "../support/neovim";
import { answer, calls, entry, prompt, result } from "./entries";

let folder: string;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, "a.jsonl");
  writeFileSync(path, "");
});
afterEach(() => rmSync(folder, { recursive: true }));

const append = (...entries: object[]) => appendFileSync(path, entries.map(line).join(""));
const line = (value: object) => `${JSON.stringify(value)}\n`;
const text = (block: Block | undefined) => block?.lines.join("\n") ?? "";

/** All that a view shows, the earlier parts in front. */
function whole(view: View): Block {
  const lines = [...(view.update()?.block.lines ?? [])];
  for (let part = view.earlier(); part; part = view.earlier()) lines.unshift(...part.lines);
  return { lines, folds: "", marks: [] };
}

describe("what a conversation looks like", () => {
  test("prompts, texts as Claude wrote them, calls with their results in folds", () => {
    append(
      prompt("change a\nto 2"),
      answer("# Done\n\n`a.ts`"),
      calls("1", "Read", { file_path: "/p/src/a.ts", offset: 3, limit: 2 }),
      result("1", "3\tx\n4\ty", { file: { content: "x\ny\n", startLine: 3 } }),
      calls("2", "Bash", { command: "ls\npwd" }),
      result("2", "boom", {}, true),
    );
    const block = new View(path).update()?.block;
    expect(text(block)).toBe(`❯ change a
to 2

# Done

\`a.ts\`

▸ Read \`src/a.ts:3-4\`  2 lines
\`\`\`ts
x
y
\`\`\`

▸ Bash \`ls …\`  failed
\`\`\`sh
ls
pwd
\`\`\`
\`\`\`
boom
\`\`\`
`);
    expect(block?.folds).toBe(`${"0".repeat(7)}>11110>11111110`);
    expect(block?.marks).toEqual([
      { row: 0, prompt: Date.parse("2026-11-25T12:00:00Z"), rows: 2 },
      { row: 7, call: "1", path: "/p/src/a.ts", line: 3, note: "2 lines" },
      { row: 13, call: "2", note: "failed", failed: true },
    ]);
  });

  test("an edit is its diff, at the line where it begins", () => {
    const hunk = { oldStart: 7, oldLines: 1, newStart: 8, newLines: 2, lines: ["-a", "+b", "+c"] };
    append(
      calls("1", "Edit", { file_path: "/p/a.ts" }),
      result("1", "done", { structuredPatch: [hunk] }),
    );
    const block = new View(path).update()?.block;
    expect(text(block)).toContain("```diff\n@@ -7,1 +8,2 @@\n-a\n+b\n+c\n```");
    expect(block?.marks).toEqual([{ row: 0, call: "1", path: "/p/a.ts", line: 8, note: "+2 −1" }]);
  });

  test("a fence is longer than those in the text; a long result is cut and found whole", () => {
    const long = Array.from({ length: 1_000 }, (_, i) => `line ${i}`).join("\n");
    append(calls("1", "Grep", { pattern: "x" }), result("1", `\`\`\`\n${long}`));
    const view = new View(path);
    const block = view.update()?.block;
    expect(block?.lines[1]).toBe("````");
    expect(block?.lines.slice(-3)).toEqual(["````", "… 802 more lines", ""]);
    expect(block?.marks.at(-1)).toEqual({ row: 202, cut: "1" });
    expect(view.whole("1")).toBe(`\`\`\`\n${long}`);
  });

  test("what nobody would see is shown as codes, and long lines are cut", () => {
    append(prompt("a\u001b[31mb\u202ec\rd"), answer("x".repeat(9_000)));
    const [first = "", , second = ""] = new View(path).update()?.block.lines ?? [];
    expect(first).toBe("❯ a<1b>[31mb<202e>c<0d>d");
    expect(second).toHaveLength(2_001);
  });

  test.each([
    [
      "a command",
      prompt("<command-name>/clear</command-name><command-args>x</command-args>"),
      "❯ /clear x",
    ],
    ["the user's shell", prompt("<bash-input>ls</bash-input>"), "❯ !ls"],
    ["an interruption", prompt("[Request interrupted by user]"), "*Interrupted*"],
    [
      "what a hook said",
      { ...prompt("Stop hook feedback:\nfix it"), isMeta: true },
      "▸ *For Claude*",
    ],
    [
      "a compaction",
      { type: "system", subtype: "compact_boundary", compactMetadata: { preTokens: 7 } },
      "*Compacted (7 tokens)*",
    ],
    ["an unknown entry", { type: "new-thing", x: 1 }, '▸ *Entry "new-thing"*'],
    ["an unknown block", answer([{ type: "new", y: 2 }]), '▸ *Block "new"*'],
    ["thinking", answer([{ type: "thinking", thinking: "hm" }]), "▸ *Thinking*"],
    [
      "an image",
      prompt([
        { type: "image", source: {} },
        { type: "text", text: "see" },
      ]),
      "❯ [Image]",
    ],
    ["the CLI's own bookkeeping", { type: "mode", mode: "normal" }, undefined],
    ["a list", [1], "▸ *A line that is no entry*"],
  ])("%s", (_name, one, expected) => {
    append(one as object);
    expect(new View(path).update()?.block.lines[0]).toBe(expected as string);
  });
});

describe("a conversation that grows", () => {
  test("a torn line waits for its end; a result comes below its call", () => {
    append(prompt("go"));
    const view = new View(path);
    view.update();
    append(calls("1", "Bash", { command: "sleep 3" }));
    expect(text(view.update()?.block)).toContain("▸ Bash `sleep 3`");
    const ended = line(result("1", "ok"));
    appendFileSync(path, ended.slice(0, 20));
    expect(view.update()).toBeUndefined();
    appendFileSync(path, ended.slice(20));
    const update = view.update();
    expect(update?.block.lines).toEqual([]);
    expect(update?.results).toEqual([
      {
        call: "1",
        block: { lines: ["```", "ok", "```"], folds: "111", marks: [] },
        about: { note: "1 line" },
      },
    ]);
  });

  test.each([
    ["is replaced", () => renameSync(join(folder, "b"), path)],
    ["becomes shorter", () => truncateSync(path, 0)],
  ])("a file that %s is read anew", (_name, change) => {
    append(prompt("old"));
    const view = new View(path);
    view.update();
    writeFileSync(join(folder, "b"), line(prompt("new")));
    change();
    const update = view.update();
    expect(update?.restarted).toBe(true);
    expect(text(update?.block)).not.toContain("old");
  });

  test("a file that goes, or is none, is an error and no wait", () => {
    const view = new View(path);
    view.update();
    rmSync(path);
    expect(() => view.update()).toThrow("ENOENT");
    mkdirSync(path);
    expect(() => view.update()).toThrow("not a regular file");
  });

  test("the end comes first, and parts before it make the whole; calls find their results", () => {
    const entries = Array.from({ length: 400 }, (_, i) => [
      prompt(`prompt ${i} ${"x".repeat(500)}`),
      calls(String(i), "Bash", { command: `echo ${i}` }),
      result(String(i), `out ${i}`),
    ]).flat();
    append(...entries);
    const first = new View(path).update()?.block;
    expect(text(first)).toContain("prompt 399");
    expect(text(first)).not.toContain("prompt 0 ");
    const all = whole(new View(path)).lines;
    expect(all.filter((one) => one.startsWith("❯"))).toHaveLength(400);
    expect(all.filter((one) => one.startsWith("out "))).toHaveLength(400);
  });

  test("a line of 20 MB is counted, and what is beside it is shown", () => {
    append(prompt("before"));
    appendFileSync(path, `${"x".repeat(20_000_000)}\n`);
    append(prompt("behind"));
    expect(text(whole(new View(path)))).toBe(
      "❯ before\n\n*An entry of 20 MB is not shown*\n\n❯ behind\n",
    );
  });

  test("whatever the file holds, in whatever pieces it comes: it is shown, and the end is the same", () => {
    const one = fc.oneof(
      fc.string().map((content) => prompt(content)),
      fc.string().map((content) => answer(content)),
      fc.jsonValue().map((value) => entry({ type: "user", message: value })),
      fc.jsonValue().map((value) => entry({ type: "assistant", message: { content: value } })),
      fc.jsonValue().map((value) => ({ value })),
      fc.nat(3).map((id) => calls(String(id), "Bash", { command: "x" })),
      fc.nat(3).map((id) => result(String(id), "y", {})),
    );
    fc.assert(
      fc.property(fc.array(one), fc.array(fc.nat(200)), (entries, cuts) => {
        const bytes = Buffer.from(entries.map(line).join(""));
        writeFileSync(path, "");
        const view = new View(path);
        view.update();
        let from = 0;
        for (const cut of [...cuts, bytes.length]) {
          appendFileSync(path, bytes.subarray(from, from + cut));
          from = Math.min(bytes.length, from + cut);
          const update = view.update();
          const { lines, folds } = update?.block ?? { lines: [], folds: "" };
          expect(folds).toHaveLength(lines.length);
          expect(lines.join("")).not.toInclude("\n");
        }
        expect(view.update()).toBeUndefined();
      }),
      { numRuns: tries(300) },
    );
  });
});
