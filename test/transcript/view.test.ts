import { appendFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { claims, rows, temporaryFolder } from "#test";
import { join, resolve } from "../../src/lib/platform";
import { View } from "../../src/transcript/endpoint";
import type { Block } from "../../src/transcript/markdown";
import { tries } from "../fuzz/effort";
import { answer, calls, entry, line, prompt, result } from "./entries";

let folder: string;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, "a.jsonl");
  writeFileSync(path, "");
});

const append = (...entries: object[]) => appendFileSync(path, entries.map(line).join(""));
const system = (content: string) => ({ type: "system", subtype: "local_command", content });
/** The CLI delivers it with the result of a call while Claude works. */
const queued = (words: string) =>
  entry({ type: "attachment", attachment: { type: "queued_command", prompt: words } });
const text = (block: Block | undefined) => block?.lines.join("\n") ?? "";

/** Everything that a view shows, earlier parts first. */
function whole(view: View): Block {
  const lines = [...(view.update()?.block.lines ?? [])];
  for (let part = view.earlier(); part; part = view.earlier()) lines.unshift(...part.lines);
  return { lines, folds: "", marks: [] };
}

describe("a conversation", () => {
  test("shows prompts, texts as Claude wrote them, and calls with their results in folds", () => {
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
      { row: 7, call: "1", path: resolve("/p/src/a.ts"), line: 3, note: "2 lines" },
      { row: 13, call: "2", note: "failed", failed: true },
    ]);
  });

  test("shows an edit as its diff, at the line where it begins", () => {
    const hunk = { oldStart: 7, oldLines: 1, newStart: 8, newLines: 2, lines: ["-a", "+b", "+c"] };
    append(
      calls("1", "Edit", { file_path: "/p/a.ts" }),
      result("1", "done", { structuredPatch: [hunk] }),
    );
    const block = new View(path).update()?.block;
    expect(text(block)).toContain("```diff\n@@ -7,1 +8,2 @@\n-a\n+b\n+c\n```");
    expect(block?.marks).toEqual([
      { row: 0, call: "1", path: resolve("/p/a.ts"), line: 8, note: "+2 −1" },
    ]);
  });

  test("cuts a long result, and makes a fence longer than those in the text", () => {
    const long = Array.from({ length: 1_800 }, (_, i) => `line ${i}`).join("\n");
    append(calls("1", "Grep", { pattern: "x" }), result("1", `\`\`\`\n${long}`));
    const block = new View(path).update()?.block;
    expect(block?.lines[1]).toBe("````");
    expect(block?.lines.slice(-3)).toEqual(["````", "… 801 more lines", ""]);
  });

  test("shows invisible characters as codes, and cuts long lines", () => {
    claims("Invisible characters are shown as codes");
    append(prompt("a\u001b[31mb\u202ec\rd"), answer("x".repeat(9_000)));
    const [first = "", , second = ""] = new View(path).update()?.block.lines ?? [];
    expect(first).toBe("❯ a<1b>[31mb<202e>c<0d>d");
    expect(second).toHaveLength(2_001);
  });

  const meta = (words: string) => ({ ...prompt(words), isMeta: true });
  const makes: Record<string, (words: string) => object> = { prompt, answer, system, queued, meta };
  makes.json = (words) => JSON.parse(words);

  test.each(
    rows([
      "a command | prompt | <command-name>/clear</command-name><command-args>x</command-args> | ❯ /clear x",
      "a command that the CLI executes | system | <command-name>/context</command-name>\\n<command-args></command-args> | ❯ /context",
      "its output | system | <local-command-stdout>\\u001b[1mIt is\\u001b[22m done</local-command-stdout> | *It is done*",
      "an empty output | system | <local-command-stdout></local-command-stdout> |",
      "the CLI's remark on it | meta | <local-command-caveat>run directly</local-command-caveat> |",
      "the user's shell | prompt | <bash-input>ls</bash-input> | ❯ !ls",
      "its output | prompt | <bash-stdout>a\\nb</bash-stdout><bash-stderr>c</bash-stderr> | ▸ *Output*⏎```⏎a⏎b⏎c⏎```⏎",
      "words of the user's while Claude works | queued | go left | ❯ go left",
      "an agent that ends then | queued | <task-notification>\\n<summary>Done</summary></task-notification> | ▸ *Done*",
      "a code block that an interruption has cut | answer | see\\n\\n  ~~~sh\\n```\\necho | see⏎⏎  ~~~sh⏎```⏎echo⏎  ~~~⏎",
      "one at the beginning of a prompt | prompt | ```\\nx\\n``` | ❯ ```⏎x⏎```⏎```⏎",
      "one that holds another, and code that is none | answer | ````md\\n```js\\n````\\n```x``` y | ````md⏎```js⏎````⏎```x``` y⏎",
      "an interruption | prompt | [Request interrupted by user] | *Interrupted*",
      "a hook's words | meta | Stop hook feedback:\\nfix it | ▸ *For Claude*",
      'a compaction | json | {"type":"system","subtype":"compact_boundary","compactMetadata":{"preTokens":7}} | *Compacted (7 tokens)*',
      'an unknown entry | json | {"type":"new-thing","x":1} | ▸ *Entry "new-thing"*',
      'an unknown block | block | {"type":"new","y":2} | ▸ *Block "new"*',
      'thinking | block | {"type":"thinking","thinking":"hm"} | ▸ *Thinking*',
      'the CLI\'s own bookkeeping | json | {"type":"mode","mode":"normal"} |',
      'an image | json | {"type":"user","message":{"content":[{"type":"image"},{"type":"text","text":"see"}]}} | ❯ [Image]',
      "a list | json | [1] | ▸ *A line that is not an entry*",
    ]),
  )("shows %s", (_name, kind = "", words = "", expected = "") => {
    const given = /json|block/.test(kind) ? words : JSON.parse(`"${words}"`);
    append(kind === "block" ? answer([JSON.parse(words)]) : (makes[kind]?.(given) as object));
    const lines = new View(path).update()?.block.lines ?? [];
    expect(expected.includes("⏎") ? lines.join("⏎") : lines[0]).toBe(
      expected || (undefined as never),
    );
  });
});

describe("an odd entry hides no other, and costs no more than its length", () => {
  const nested = (count: number) => "[".repeat(count) + "]".repeat(count);
  const called = (id: string, input: string) =>
    `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"${id}","name":"mcp__a__b","input":${input}}]}}`;
  const patch = (hunk: object) =>
    line(calls("1", "Edit", { file_path: "/a" })) +
    line(result("1", "ok", { structuredPatch: [hunk] }));
  const ran = (text: string) =>
    line(calls("1", "Bash", { command: "x" })) + line(result("1", text));
  const deep = `{"a":${nested(40_000)}}`;
  const content = (one: string) => `{"type":"user","message":{"content":[${one}]}}`;
  const held = `{"type":"tool_result","tool_use_id":"1","content":[${nested(9)},${deep}]}`;
  const tags = `<command-name>x</command-name>${"<command-args>".repeat(300_000)}`;
  const numbers = { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1 };

  test.each([
    ["an entry that is nested deeply", `{"type":"new","a":${nested(40_000)}}`],
    [
      "a block that is",
      content(`{"type":"new","a":${nested(40_000)}}`).replace("user", "assistant"),
    ],
    ["a result that is", content(held)],
    ["an input that is", `${called("1", deep)}\n${line(result("1", "r"))}`],
    ["halves of characters in it", content(`"\\ud800",${nested(40_000)}`)],
    ["empty lines", ran(`${"\n".repeat(1_000_000)}x`)],
    ["700,000 lines of a result", ran("x\n".repeat(700_000))],
    ["700,000 lines of a prompt", line(prompt("x\n".repeat(700_000)))],
    ["700,000 lines of an answer", line(answer("x\n".repeat(700_000)))],
    ["tags without an end", line(prompt(tags))],
    ["summaries without an end", line(prompt(`<task-notification>${"<summary>".repeat(300_000)}`))],
    ["a server's name without an end", line(calls("1", `mcp__a${"__".repeat(300_000)}\n`, {}))],
    ["a patch of numbers", patch({ ...numbers, lines: [1, null] })],
    ["a patch without its place", patch({ newStart: 1, lines: ["+a"] })],
    ["a title of two lines", line({ type: "a\nb" })],
  ])("%s", (_what, entries) => {
    appendFileSync(path, `${line(prompt("before"))}${entries}\n${line(prompt("behind"))}`);
    const { lines } = whole(new View(path));
    expect(lines[0]).toBe("❯ before");
    expect(lines.slice(-2)).toEqual(["❯ behind", ""]);
    expect(lines.length).toBeLessThan(2_010);
    expect(lines.filter((one) => one.includes("\n"))).toEqual([]);
  });

  test.each([
    ["a prompt", prompt("x\n".repeat(3_000)), 1_999, "… 1000 more lines"],
    ["an answer", answer("x\n".repeat(3_000)), 1_999, "… 1000 more lines"],
    ["a note", { type: "system", content: `x${"\ny".repeat(3_000)}` }, 1_001, "… 2000 more lines"],
  ])("shows the first of many lines of %s", (_what, one, row, more) => {
    append(one);
    const { lines = [], marks } = new View(path).update()?.block ?? {};
    expect(lines.slice(row + 1)).toEqual([...(row < 1_500 ? ["```"] : []), more, ""]);
    expect(marks?.[0]?.rows ?? 2_000).toBe(2_000);
  });

  test("shows no half characters, whether a cut or the file makes them", () => {
    append(
      answer(`a${"😀".repeat(1_500)}`),
      calls("1", "Bash", { command: `a${"😀".repeat(3_000)}` }),
    );
    appendFileSync(path, '{"type":"user","message":{"content":"a\\ud800b"}}\n');
    const shown = text(new View(path).update()?.block);
    expect(shown.isWellFormed()).toBe(true);
    expect(shown).toContain("❯ a\ufffdb");
  });

  test.each([
    [{ offset: 3, limit: 2 }, "a.ts:3-4", 3],
    [{ offset: 0, limit: 2 }, "a.ts:1-2", 1],
    [{ limit: 5 }, "a.ts:1-5", 1],
    [{ offset: 3, limit: -9 }, "a.ts:3", 3],
    [{ offset: 1.5, limit: 1e300 }, "a.ts:1-2147483647", 1],
    [{ offset: 1e300, limit: 1e300 }, "a.ts:2147483647-2147483647", 2 ** 31 - 1],
    [{ offset: -5, limit: "2" }, "a.ts", undefined],
  ])("shows a Read of %j as one of %s", (lines, shown, at) => {
    append(calls("1", "Read", { file_path: "/p/a.ts", ...lines }));
    const block = new View(path).update()?.block;
    expect(block?.lines[0]).toBe(`▸ Read \`${shown}\``);
    expect(block?.marks[0]?.line).toBe(at);
  });
});

describe("a conversation that grows", () => {
  const updates = (view: View) => {
    const all = [];
    for (let next = view.update(); next; next = view.update()) all.push(next);
    return all;
  };

  test("waits for the end of a torn line; shows a result below its call", () => {
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
    const block = { lines: ["```", "ok", "```"], folds: "111", marks: [] };
    expect(update?.results).toEqual([{ call: "1", block, about: { note: "1 line" } }]);
  });

  test.each([
    ["is replaced", () => renameSync(join(folder, "b"), path)],
    ["becomes shorter", () => truncateSync(path, 0)],
  ])("reads a file anew that %s", (_name, change) => {
    append(prompt("old"));
    const view = new View(path);
    view.update();
    writeFileSync(join(folder, "b"), line(prompt("new")));
    change();
    const update = view.update();
    expect(update?.restarted).toBe(true);
    expect(text(update?.block)).not.toContain("old");
  });

  test("shows the end first, then the parts before it; calls find their results", () => {
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

  test("counts a line of 20 MB, and shows the lines beside it", () => {
    append(prompt("before"));
    appendFileSync(path, `${"x".repeat(20_000_000)}\n`);
    append(prompt("behind"));
    expect(text(whole(new View(path)))).toBe(
      "❯ before\n\n*An entry of 20 MB is not shown*\n\n❯ behind\n",
    );
  });

  test("shows any file in any pieces, and ends with the same text", () => {
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
          for (const { block } of updates(view)) {
            expect(block.folds).toHaveLength(block.lines.length);
            expect(block.lines.join("")).not.toInclude("\n");
          }
        }
        expect(view.update()).toBeUndefined();
      }),
      { numRuns: tries(300) },
    );
  });
});
