import { appendFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { outcomeOf, rows, temporaryFolder } from "#test";
import { join } from "../../src/lib/platform";
import { append, journalPath } from "../../src/review/journal/append";
import { Blobs, MAX_BINARY_BYTES, sameContent } from "../../src/review/journal/blobs";
import { JournalReader } from "../../src/review/journal/read";
import type { NewRecord } from "../../src/review/journal/record";
import { rewriteJournal } from "../../src/review/journal/rewrite";
import { ReviewedProject } from "../../src/review/state/reviewed-project";
import { World } from "./state/world";

const STOP: NewRecord = { type: "stop", session: "one" };
const bytes = (text: string) => new TextEncoder().encode(text);

describe("the journal", () => {
  test("leaves a line that was cut off until it is whole, or sets it aside", () => {
    const folder = temporaryFolder();
    const reader = new JournalReader(folder);
    const line = JSON.stringify(append(folder, STOP));
    appendFileSync(journalPath(folder), '\n{"v":1,"type":"sto');
    expect(reader.read().records.map((record) => JSON.stringify(record))).toEqual([line]);
    expect(reader.damaged).toBe(0);
    const next = append(folder, STOP);
    expect(reader.read().records).toEqual([next]);
    expect(reader.damaged).toBe(1);
    const [name] = readdirSync(join(folder, "set-aside"));
    expect(readFileSync(join(folder, "set-aside", name ?? ""), "utf8")).toContain('"sto\n');
  });

  const LATER = '"id":"x","at":1';
  test.each(
    rows([
      "zeros | \0\0\0\0 | damaged",
      "a list | [1] | damaged",
      "null | null | damaged",
      `a type of a later version | {"v":2,"type":"merge",${LATER}} | skipped`,
      `a queue of an earlier version | {"v":1,"type":"queue",${LATER}} | skipped`,
      `an undo that an earlier version queued | {"v":1,"type":"undo",${LATER},"queued":"q","files":[{"path":"a","undo":{"queued":"q"}}]} | skipped`,
      `a field of a later version | {"v":2,"type":"end",${LATER},"session":"s","new":1} | read`,
      `a known type without its fields | {"v":1,"type":"change",${LATER}} | damaged`,
      `a blob that leads out of its folder | {"v":1,"type":"written",${LATER},"files":[{"path":"a","content":{"blob":"../../etc/passwd"}}]} | damaged`,
    ]),
  )("reads the good lines beside %s", (_name, line, becomes) => {
    const folder = temporaryFolder();
    const before = append(folder, STOP);
    appendFileSync(journalPath(folder), `${line}\n`);
    const after = append(folder, STOP);
    const reader = new JournalReader(folder);
    const ids = reader.read().records.map((record) => record.id);
    expect(ids).toEqual([before.id, ...(becomes === "read" ? ["x"] : []), after.id]);
    expect(reader.damaged).toBe(becomes === "damaged" ? 1 : 0);
  });

  test("reads a journal from its beginning after two rewrites, even if the inode is the same", () => {
    const folder = temporaryFolder();
    for (let i = 0; i < 40; i++) append(folder, { type: "end", session: `old ${i}` });
    const dropFirst = () => {
      let count = 0;
      rewriteJournal(folder, () => (record) => (count++ === 0 ? null : record));
    };
    // The system reuses the inodes of two files alternately.
    dropFirst();
    const reader = new JournalReader(folder);
    expect(reader.read().records).toHaveLength(39);
    dropFirst();
    dropFirst();
    for (let i = 0; i < 5; i++) append(folder, { type: "end", session: `new ${i}` });
    const { restarted, records } = reader.read();
    expect({ restarted, count: records.length, damaged: reader.damaged }).toEqual({
      restarted: true,
      count: 42,
      damaged: 0,
    });
  });
});

test("refuses a journal of more than 128 MB, and leaves it", async () => {
  using world = new World();
  const path = journalPath(world.folder);
  world.record({ type: "end", session: "s" });
  const size = 144 * 1024 * 1024;
  truncateSync(path, size);
  expect(await outcomeOf(new ReviewedProject(world.root).catchUp())).toThrow("move it away");
  expect(Bun.file(path).size).toBe(size);
});

describe("the blobs", () => {
  test("treat a damaged one as missing", () => {
    const blobs = new Blobs(temporaryFolder());
    const content = blobs.put(bytes("one\n"));
    if (!("blob" in content)) throw new Error("it was not kept");
    writeFileSync(blobs.path(content.blob), Bun.zstdCompressSync(bytes("two\n")));
    expect(blobs.get(content.blob)).toBeUndefined();
    writeFileSync(blobs.path(content.blob), "junk");
    expect(blobs.bytes(content)).toBeUndefined();
  });

  test("keep only the hash of a large one", () => {
    const blobs = new Blobs(temporaryFolder());
    const content = blobs.put(new Uint8Array(MAX_BINARY_BYTES + 1));
    expect(content).toMatchObject({ withheld: "large", hash: expect.any(String) });
    expect(sameContent(content, { ...content })).toBe(true);
    expect(sameContent(content, { absent: true })).toBe(false);
    const unknown = { withheld: "unknown" } as const;
    expect(sameContent(unknown, unknown)).toBe(false);
  });
});
