import { lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { needs, setDefaultTimeout, temporaryFolder } from "#test";
import { sweepStaleLocks } from "../../src/ide/lock-file";
import { join } from "../../src/lib/platform";
import { FUZZ_TIMEOUT_MS, tries } from "./effort";

setDefaultTimeout(FUZZ_TIMEOUT_MS);

const root = temporaryFolder();

/** The only kind that may be removed: the lock file of a dead Neovim. No process has such an id. */
const DEAD_PID = 2 ** 30;
const STALE = JSON.stringify({ pid: DEAD_PID, ideName: "Neovim", authToken: "x" });

const name = fc.oneof(
  fc.integer({ min: 1, max: 65_535 }).map((port) => `${port}.lock`),
  fc.constantFrom("10.lock.bak", "x.lock", ".1-2.tmp", "10.LOCK", "1 0.lock", "-5.lock", "lock"),
);
const content = fc.oneof(
  fc.constant(STALE),
  fc.json(),
  fc.string({ unit: "binary" }),
  fc
    .record(
      {
        pid: fc.oneof(
          fc.constantFrom(process.pid, 1, 0, -1, DEAD_PID, 1.5, 2 ** 53, -DEAD_PID),
          fc.jsonValue(),
        ),
        ideName: fc.oneof(fc.constantFrom("Neovim", "VS Code", "neovim"), fc.jsonValue()),
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
);
const kind = fc.constantFrom("file", "file", "file", "folder", "link", "broken link");
const entries = fc.uniqueArray(fc.record({ name, content, kind }), {
  selector: (entry) => entry.name,
  maxLength: 12,
});

function isStale(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    const { pid, ideName } = value as { pid?: unknown; ideName?: unknown };
    return pid === DEAD_PID && ideName === "Neovim";
  } catch {
    return false;
  }
}

let count = 0;

needs("symlinks")("removes what dead Neovims left, and nothing else", () => {
  fc.assert(
    fc.property(entries, (list) => {
      const folder = join(root, String(count++));
      mkdirSync(folder);
      for (const entry of list) {
        const path = join(folder, entry.name);
        if (entry.kind === "folder") mkdirSync(path);
        else if (entry.kind === "broken link") symlinkSync(join(folder, "nowhere"), path);
        else if (entry.kind === "link") symlinkSync("/etc/hostname", path);
        else writeFileSync(path, entry.content);
      }
      const mayGo = list
        .filter((entry) => entry.kind === "file" && /^\d+\.lock$/.test(entry.name))
        .filter((entry) => isStale(entry.content))
        .map((entry) => join(folder, entry.name));
      expect(sweepStaleLocks(folder).sort()).toEqual(mayGo.sort());
      const left = readdirSync(folder).map((entry) => join(folder, entry));
      const wanted = list.map((entry) => join(folder, entry.name));
      expect(left.sort()).toEqual(wanted.filter((path) => !mayGo.includes(path)).sort());
      for (const path of left) lstatSync(path);
    }),
    { numRuns: tries(300) },
  );
});
