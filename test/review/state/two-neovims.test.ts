import { writeFileSync } from "node:fs";
import { eventually, nightly, perTest } from "#test";
import { join } from "../../../src/lib/platform";
import { keep } from "../../../src/review/decide/keep";
import { JournalReader } from "../../../src/review/journal/read";
import type { JournalRecord } from "../../../src/review/journal/record";
import { ReviewedProject } from "../../../src/review/state/reviewed-project";
import { base64, World } from "./world";

const world = perTest(() => new World());

const at = (name: string, more: object = {}) => ({ path: world.path(name), ...more });

function records<T extends JournalRecord["type"]>(type: T) {
  const all = new JournalReader(world.folder).read().records;
  return all.filter((record): record is Extract<JournalRecord, { type: T }> => {
    return record.type === type;
  });
}

describe("at the same time", () => {
  nightly.test("undoes the same hunks in two processes once", async () => {
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

  test("takes a decision back once", async () => {
    world.edited("a", "1\n", "2\n");
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

  test("keeps nothing in a file that changes at that moment, and reports it", async () => {
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
    world.edited("a", "1\n2\n3\n", "1\nII\n3\n");
    const unsaved = base64("0\n1\nII\n3\n");
    world.claude({ a: "1\nII\n3\nIV\n" });
    await world.keep([at("a", { text: unsaved })]);
    expect(await world.summary()).toEqual(["a changed 0>1@4"]);
  });
});
