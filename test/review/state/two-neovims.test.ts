import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keep } from "../../../src/review/decide/keep";
import { JournalReader } from "../../../src/review/journal/read";
import type { JournalRecord } from "../../../src/review/journal/record";
import type { ShownDecision } from "../../../src/review/shown";
import { ReviewedProject } from "../../../src/review/state/reviewed-project";
import { eventually } from "../../support/eventually";
import { nightly } from "../../support/toolchain";
import { base64, World } from "./world";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world[Symbol.dispose]());

const at = (name: string, more: object = {}) => ({ path: world.path(name), ...more });

function records<T extends JournalRecord["type"]>(type: T) {
  const all = new JournalReader(world.folder).read().records;
  return all.filter((record): record is Extract<JournalRecord, { type: T }> => {
    return record.type === type;
  });
}

/** Claude works, changes the second line of `a`, and the user has that undone at the end of the turn. */
async function queued(): Promise<string> {
  world.write("a", "1\n2\n");
  world.claude({ a: "1\nII\n" }, { prompt: world.prompt() });
  const { decision } = await world.undo([at("a")]);
  return decision as string;
}

describe("an undo that waits for the end of the turn", () => {
  test("does nothing to what the other Neovim has kept, and reports that", async () => {
    const decision = await queued();
    const other = world.another();
    const kept = (await other.answer("keep", { files: [at("a")] })) as ShownDecision;
    world.stop();
    expect((await world.service.summary()).due).toHaveLength(1);
    const { files } = await world.undo([at("a")], { queued: decision });
    expect(files).toEqual([
      at("a", { problem: "a was not undone, because you have kept it in the meantime" }),
    ]);
    expect(world.read("a")).toBe("1\nII\n");
    expect(await world.summary()).toEqual([]);
    expect((await other.summary()).due).toEqual([]);
    const last = await world.service.answer("last", {});
    expect(last).toMatchObject({ type: "keep", decision: kept.decision });
  });

  test("is carried out by one of two Neovims", async () => {
    const decision = await queued();
    world.stop();
    const request = { queued: decision, files: [at("a")] };
    const answers = (await Promise.all(
      [world.service, world.another()].map((service) => service.answer("undo", request)),
    )) as ShownDecision[];
    expect(answers.flatMap(({ files }) => files)).toEqual([at("a")]);
    expect(world.read("a")).toBe("1\n2\n");
    expect(records("undo")).toHaveLength(1);
    await world.back();
    expect(world.read("a")).toBe("1\nII\n");
  });

  test("leaves alone what came to the disk after the text that the user saw", async () => {
    world.write("a", "1\n2\n3\n");
    const prompt = world.prompt();
    world.claude({ a: "1\nII\n3\n" }, { prompt });
    const seen = base64("0\n1\nII\n3\n");
    world.claude({ a: "1\nII\n3\nIV\n" }, { prompt });
    const { decision } = await world.undo([at("a", { text: seen })]);
    world.stop();
    await world.undo([at("a")], { queued: decision });
    expect(world.read("a")).toBe("1\n2\n3\nIV\n");
  });

  test("brings the mode back, too", async () => {
    world.write("a", "1\n");
    world.chmod("a", 0o755);
    const same = world.content("1\n");
    const call = { session: "A", prompt: world.prompt(), tool: "Bash", source: "bash" } as const;
    const mode: [number, number] = [0o644, 0o755];
    world.record({
      type: "change",
      ...call,
      files: [{ path: "a", before: same, after: same, mode }],
    });
    const { decision } = await world.undo([at("a")]);
    world.stop();
    await world.undo([at("a")], { queued: decision });
    expect(statSync(world.path("a")).mode & 0o777).toBe(0o644);
    expect(await world.summary()).toEqual([]);
    await world.back();
    expect(statSync(world.path("a")).mode & 0o777).toBe(0o755);
  });
});

describe("at the same time", () => {
  nightly.test("an undo of the same hunks by two processes is one undo", async () => {
    const names = Array.from({ length: 60 }, (_, i) => `f${i}`);
    for (const name of names) world.write(name, "1\n2\n");
    for (const name of names) world.claude({ [name]: "1\nII\n" });
    const script = `
      import { ReviewService } from "${join(import.meta.dir, "../../../src/review/service")}";
      const service = new ReviewService();
      service.follow([${JSON.stringify(world.root)}]);
      await service.answer("list", {});
      console.log("ready");
      while (!(await Bun.file(${JSON.stringify(world.path("go"))}).exists())) await Bun.sleep(1);
      for (const path of ${JSON.stringify(names.map((name) => world.path(name)))}) {
        await service.answer("undo", { files: [{ path }] });
      }`;
    const runs = [1, 2].map(() => {
      return Bun.spawn([process.execPath, "-e", script], { env: process.env, stdout: "pipe" });
    });
    await Promise.all(runs.map((run) => run.stdout.getReader().read()));
    writeFileSync(world.path("go"), "");
    await eventually("their end", () => runs.every((run) => run.exitCode === 0));
    const undone = records("undo").flatMap(({ files }) => files.map(({ path }) => path));
    expect(undone.sort()).toEqual(names.sort());
    for (const name of names) expect(world.read(name)).toBe("1\n2\n");
  });

  test("taking a decision back is done once", async () => {
    world.write("a", "1\n");
    world.claude({ a: "2\n" });
    const { decision } = await world.undo([at("a")]);
    const answers = await Promise.allSettled(
      [world.service, world.another()].map((service) => service.answer("back", { decision })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(records("back")).toHaveLength(1);
    expect(world.read("a")).toBe("2\n");
  });
});

describe("a keep that comes too late", () => {
  /** A Neovim that has not read yet what hooks record from now on. */
  function unaware(): ReviewedProject {
    const project = new ReviewedProject(world.root);
    project.refresh();
    return project;
  }

  test("keeps nothing of a file that has changed at that moment, and reports it", async () => {
    for (const name of ["a", "b"]) world.write(name, "1\n2\n");
    world.claude({ a: "1\nII\n", b: "1\nII\n" });
    const project = unaware();
    world.claude({ a: "1\nII\nIII\n" });
    const { decision, files } = keep(project, [{ path: "a" }, { path: "b" }]);
    expect(files).toEqual([
      { path: "a", problem: "a has changed since it was shown: look at it again" },
      { path: "b" },
    ]);
    expect(project.decisions.map(({ id }) => id)).toEqual([decision as string]);
    expect(await world.summary()).toEqual(["a changed 1>2@2"]);
  });

  test("keeps what the buffer showed, and not what came to the disk since", async () => {
    world.write("a", "1\n2\n3\n");
    world.claude({ a: "1\nII\n3\n" });
    const unsaved = base64("0\n1\nII\n3\n");
    world.claude({ a: "1\nII\n3\nIV\n" });
    await world.keep([at("a", { text: unsaved })]);
    expect(await world.summary()).toEqual(["a changed 0>1@4"]);
  });
});
