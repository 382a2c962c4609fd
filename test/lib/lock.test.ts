import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "#test";
import { tryLock } from "../../src/lib/lock";
import { join } from "../../src/lib/platform";

/** Beyond the ids that Linux gives to processes. */
const NOBODY = "4194305";

/** The lock of a process that was killed; `more` changes what the process wrote. */
function abandoned(more = (holder: string) => holder): string {
  const path = join(temporaryFolder(), "a.lock");
  tryLock(path);
  writeFileSync(path, more(readFileSync(path, "utf8").replace(/^\d+/, NOBODY)));
  return path;
}

test("leaves that of a process in another container alone for ten minutes", () => {
  const path = abandoned((holder) => holder.replace(/ \S+/, " elsewhere"));
  expect(tryLock(path)).toBeUndefined();
  const before = new Date(Date.now() - 11 * 60_000);
  utimesSync(path, before, before);
  using lock = tryLock(path);
  expect(lock).toBeDefined();
});

test("does not give back the lock of another process after ten minutes", () => {
  const path = join(temporaryFolder(), "a.lock");
  const late = tryLock(path);
  const before = new Date(Date.now() - 11 * 60_000);
  utimesSync(path, before, before);
  using lock = tryLock(path);
  late?.[Symbol.dispose]();
  expect([lock !== undefined, tryLock(path)]).toEqual([true, undefined]);
});

test("is never held twice when many take it over, and leaves nothing", async () => {
  const path = abandoned();
  const folder = join(path, "..");
  const [inside, both, end] = ["inside", "both", "end"].map((name) => join(folder, name));
  const script = `
    import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
    import { tryLock } from "${join(import.meta.dir, "../../src/lib/lock")}";
    const [path, inside, both, end] = ${JSON.stringify([path, inside, both, end])};
    while (!existsSync(end)) {
      const lock = tryLock(path);
      if (!lock) continue;
      try { writeFileSync(inside, "", { flag: "wx" }); } catch { writeFileSync(both, ""); }
      rmSync(inside, { force: true });
      // It was killed, in most cases.
      if (Math.random() < 0.2) lock[Symbol.dispose]();
      else writeFileSync(path, readFileSync(path, "utf8").replace(/^\\d+/, "${NOBODY}"));
    }`;
  const runs = Array.from({ length: 4 }, () => Bun.spawn([process.execPath, "-e", script]));
  await Bun.sleep(1_000);
  writeFileSync(end as string, "");
  expect(await Promise.all(runs.map((run) => run.exited))).toEqual([0, 0, 0, 0]);
  expect(existsSync(both as string)).toBe(false);
  expect(readdirSync(folder).filter((name) => !["a.lock", "end"].includes(name))).toEqual([]);
});
