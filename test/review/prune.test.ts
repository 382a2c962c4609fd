import {
  appendFileSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { claims, expectMode, temporaryFolder } from "#test";
import { IS_WINDOWS, join } from "../../src/lib/platform";
import { append, journalPath } from "../../src/review/journal/append";
import { Blobs } from "../../src/review/journal/blobs";
import { prune } from "../../src/review/journal/prune";
import { JournalReader } from "../../src/review/journal/read";
import type { Content, JournalRecord, NewRecord } from "../../src/review/journal/record";
import { rewriteJournal } from "../../src/review/journal/rewrite";
import { waitingIn } from "../../src/review/state/entry";
import { World } from "./state/world";

const DAY_MS = 24 * 60 * 60_000;

/** Content that hardly compresses. */
const text = (seed: string) => Array.from({ length: 4_000 }, (_, i) => Bun.hash(seed + i)).join();

const nothing = () => false;

/** A project's folder whose records and blobs are this many days old. */
class Past {
  readonly folder = temporaryFolder();
  readonly blobs = new Blobs(this.folder);

  blob(text: string, days = 1): Content {
    const content = this.blobs.put(Buffer.from(text));
    if (!("blob" in content)) throw new Error("it was not kept");
    const time = new Date(Date.now() - days * DAY_MS);
    utimesSync(this.blobs.path(content.blob), time, time);
    return content;
  }

  add(record: NewRecord, days = 1): JournalRecord {
    return append(this.folder, { ...record, at: Date.now() - days * DAY_MS });
  }

  change(path: string, text: string, days = 1, more: object = {}): JournalRecord {
    const file = { path, before: { absent: true } as const, after: this.blob(text, days), ...more };
    const call = { session: "one", tool: "Write", source: "tool" } as const;
    return this.add({ type: "change", ...call, files: [file] }, days);
  }

  keep(path: string, text: string, days = 1): JournalRecord {
    const files = [{ path, text: this.blob(text, days), keep: "all" } as const];
    return this.add({ type: "keep", why: "user", files }, days);
  }

  get sizes(): number[] {
    const blobs = join(this.folder, "blobs");
    const all = readdirSync(blobs, { recursive: true }).map((name) =>
      statSync(join(blobs, `${name}`)),
    );
    return all.filter((stats) => stats.isFile()).map(({ size }) => size);
  }

  get bytes(): number {
    return this.sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Its records, and how many texts there are. */
  get left(): string {
    const { records } = new JournalReader(this.folder).read();
    const all = records.flatMap((record) =>
      "files" in record ? record.files.map(({ path }) => `${record.type} ${path}`) : [record.type],
    );
    return `${all.join(", ")}: ${this.sizes.length}`;
  }
}

describe("pruning", () => {
  test("forgets files untouched for 30 days, and nothing else", () => {
    claims("What hooks record does not pile up");
    const past = new Past();
    past.add({ type: "prompt", session: "one", text: "old" }, 40);
    past.change("old.txt", "old", 40);
    past.change("moved.txt", "first", 40);
    past.change("touched.txt", "first", 40);
    past.change("touched.txt", "second", 2);
    past.change("new.txt", "first", 2, { from: "moved.txt" });
    // A later version writes this, with a text that only it names.
    const { blob } = past.blob("kept by the later version") as { blob: string };
    const later = { v: 9, type: "later", at: 9e15, x: { blob: 1 }, files: [{ chunks: [blob] }] };
    appendFileSync(journalPath(past.folder), `${JSON.stringify(later)}\n`);
    prune(past.folder, nothing);
    expect(past.left).toBe(
      "prompt, change moved.txt, change touched.txt, change touched.txt, change new.txt: 3",
    );
    expect(readFileSync(journalPath(past.folder), "utf8")).toContain('"type":"later"');
    expectMode(journalPath(past.folder), 0o600);
  });

  test("first forgets the files that were touched longest ago if there is too much", () => {
    claims("What hooks record does not pile up");
    const past = new Past();
    for (const name of ["a", "b", "c", "d"]) past.change(name, text(name), name === "c" ? 9 : 5);
    past.keep("b", text("b"), 4);
    const { bytes } = past;
    prune(past.folder, nothing, bytes - 1);
    expect(past.left).toStartWith("change a, change b, change d, keep b:");
    prune(past.folder, nothing, bytes * 0.3);
    expect(past.left).toBe("change b, keep b: 1");
  });

  test("keeps pending changes, however many there are", () => {
    const past = new Past();
    for (const name of ["a", "b", "c"]) past.change(name, text(name), 9);
    prune(past.folder, (path) => path !== "b", past.bytes * 0.1);
    expect(past.left).toBe("change a, change c: 2");
  });

  test("keeps a file that changed after the check for pending changes", () => {
    const past = new Past();
    past.change("old", text("old"), 9);
    past.change("new", text("new"), 1);
    prune(past.folder, nothing, 1, Date.now() - 2 * DAY_MS);
    expect(past.left).toBe("change new: 1");
  });

  test("keeps pending changes if the clock was 40 days ahead", async () => {
    using world = new World();
    const session = "A";
    world.record({ type: "prompt", session: "old", prompt: "p", text: "nothing" });
    world.prompt(session);
    for (const name of ["a", "b", "c"]) world.write(name, "1\n2\n");
    for (const name of ["a", "b", "c"]) world.claude({ [name]: "1\nTWO\n" }, { session });
    const { decision } = await world.keep([{ path: world.path("b") }]);
    await world.back({ decision });
    await world.keep([{ path: world.path("c") }]);
    const comment = { state: "open", path: "a", text: "why?" } as const;
    world.record({ type: "comment", ...comment });
    const shown = async () => {
      const comments = await world.another().answer("comments", { changes: [] });
      return [await world.another().answer("list", {}), comments];
    };
    const before = await shown();
    expect(await world.summary()).toEqual(["a changed 1>1@2", "b changed 1>1@2"]);
    prune(world.folder, waitingIn(world.root), undefined, Date.now() + 40 * DAY_MS);
    expect(await shown()).toEqual(before);
    const journal = readFileSync(journalPath(world.folder), "utf8");
    expect(journal).not.toContain('"path":"c"');
    expect(journal).not.toContain('"session":"old"');
  });

  test("keeps a recently used blob, whose record may be about to be written", () => {
    const past = new Past();
    past.blob("used again");
    past.blobs.put(Buffer.from("used again"));
    past.blob("unused");
    prune(past.folder, nothing);
    expect(past.left).toBe(": 1");
  });
});

describe("rewriting the journal", () => {
  test("loses no record that others append at the same time", async () => {
    const past = new Past();
    const script = `import { append } from "${join(import.meta.dir, "../../src/review/journal/append")}";
      import { existsSync } from "node:fs";
      let count = 0;
      // Until the test has rewritten the journal often enough.
      for (; count < 200 || !existsSync(${JSON.stringify(past.folder)} + ".done"); count++) {
        append(${JSON.stringify(past.folder)}, { type: "prompt", session: "one", text: "x".repeat((count % 200) * 20) });
        if (count > 200) Bun.sleepSync(2);
      }
      console.log(count);`;
    const runs = [1, 2, 3, 4].map(() => Bun.spawn([process.execPath, "-e", script]));
    const counts = runs.map((run) => new Response(run.stdout).text());
    past.add({ type: "end", session: "one" });
    for (let again = 0, running = true; running; again++) {
      try {
        rewriteJournal(past.folder, () => (record) => ({ ...record, again }));
      } catch (error) {
        // Windows refuses to replace an open file.
        if (!IS_WINDOWS || (error as NodeJS.ErrnoException).code !== "EPERM") throw error;
      }
      if (again === 20) writeFileSync(`${past.folder}.done`, "");
      await Bun.sleep(0);
      running = again < 20 || runs.some((run) => run.exitCode === null);
    }
    const count = (await Promise.all(counts)).reduce((sum, text) => sum + Number(text), 0);
    const reader = new JournalReader(past.folder);
    expect(reader.read().records).toHaveLength(1 + count);
    expect(reader.damaged).toBe(0);
    expect(readdirSync(past.folder).sort()).toEqual(["journal.jsonl"]);
  });

  test("keeps late records if it was killed after it had replaced the journal", () => {
    const past = new Past();
    const early = past.add({ type: "end", session: "early" });
    const offset = statSync(journalPath(past.folder)).size;
    linkSync(journalPath(past.folder), join(past.folder, `journal.previous.${offset}`));
    const late = past.add({ type: "end", session: "late" });
    writeFileSync(join(past.folder, "draft"), `${JSON.stringify(early)}\n`);
    renameSync(join(past.folder, "draft"), journalPath(past.folder));
    rewriteJournal(past.folder, () => (record) => record);
    expect(new JournalReader(past.folder).read().records).toEqual([early, late]);
    expect(readdirSync(past.folder)).toEqual(["journal.jsonl"]);
  });
});
