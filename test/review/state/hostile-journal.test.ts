import { existsSync, mkdirSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { claims, lacks, outcomeOf, perTest } from "#test";
import { journalPath } from "../../../src/review/journal/append";
import { ensureReviewFolder } from "../../../src/review/journal/folder";
import { prune } from "../../../src/review/journal/prune";
import type { NewRecord } from "../../../src/review/journal/record";
import type { Listed } from "../../../src/review/service";
import { World } from "./world";

const world = perTest(() => new World());
beforeEach(() => {
  world.edited("good", "one\n", "two\n");
});

function change(path: string): void {
  const texts = { before: world.content("a\n"), after: world.content("b\n") };
  const call = { session: "A", tool: "Edit", source: "tool" } as const;
  world.record({ type: "change", ...call, files: [{ path, ...texts }] } as NewRecord);
}

const names: [what: string, name: string][] = [
  ["a NUL", "a\0b"],
  ["nothing", ""],
  ["5,000 bytes", "x".repeat(5_000)],
  ["a part of 300 bytes", `a/${"x".repeat(300)}`],
  ["a way out", "../out"],
  ["another root", "/etc/passwd"],
];
test.each(names)("lists and undoes other files beside a path with %s", async (_what, name) => {
  claims("Damaged records and lock files break nothing else");
  change(name);
  const { files } = await world.list();
  expect(files.map(({ path }) => path)).toContain(world.path("good"));
  await world.service.answer("undo", { files: [{ path: world.path("good") }] });
  expect(world.read("good")).toBe("one\n");
});

const swaps: [what: string, swap: (path: string) => void][] = [
  ["a folder", (path) => mkdirSync(path)],
  ["a file of 3 GB", (path) => Bun.write(path, "x").then(() => truncateSync(path, 3e9))],
];
if (!lacks("FIFOs")) {
  swaps.push(
    ["a FIFO", (path) => Bun.spawnSync(["mkfifo", path])],
    ["an endless device", (path) => symlinkSync("/dev/zero", path)],
  );
}
test.each(swaps)("treats a text as missing that was replaced by %s", async (_what, swap) => {
  claims("Damaged records and lock files break nothing else");
  const { blob } = world.content("one\n") as { blob: string };
  rmSync(world.blobs.path(blob));
  await swap(world.blobs.path(blob));
  const { files } = (await world.another().answer("list", {})) as Listed;
  expect(files).toHaveLength(1);
  await world.another().answer("undo", { files: [{ path: world.path("good") }] });
  expect(world.read("good")).toBe("two\n");
});

test.each(swaps)("fails with an explanation if the journal is %s", async (_what, swap) => {
  rmSync(journalPath(world.folder));
  await swap(journalPath(world.folder));
  expect(await outcomeOf(world.another().answer("list", {}))).toThrow(/journal/);
});

test("removes no texts while the journal cannot be read", () => {
  const { blob } = world.content("one\n") as { blob: string };
  rmSync(journalPath(world.folder));
  mkdirSync(journalPath(world.folder));
  const tomorrow = Date.now() + 24 * 60 * 60_000;
  expect(() => prune(world.folder, () => false, undefined, tomorrow)).toThrow();
  expect(existsSync(world.blobs.path(blob))).toBe(true);
});

test.each(["the journal", "its folder"])(
  "tells a running Neovim that %s was removed",
  async (what) => {
    expect((await world.service.summary()).incomplete).toBe(false);
    rmSync(what === "the journal" ? journalPath(world.folder) : world.folder, { recursive: true });
    expect((await world.service.summary()).counts.files).toBe(0);
    // The hook at the end of the command that did it.
    ensureReviewFolder(world.root);
    world.stop();
    expect((await world.service.summary()).incomplete).toBe(true);
    expect((await world.list()).incomplete).toEqual([expect.stringContaining("was removed")]);
    await world.service.answer("done", {});
    expect((await world.service.summary()).incomplete).toBe(false);
  },
);
