import { readFileSync } from "node:fs";
import { Glob } from "bun";
import { ROOT } from "#test";
import { join } from "../../src/lib/platform";

const FOLDERS = ["bench", "lua", "plugin", "scripts", "src", "test"];
const FILES = FOLDERS.flatMap((folder) => [
  ...new Glob(`${folder}/**/*.{lua,ts}`).scanSync({ cwd: ROOT }),
]);

test.each(["ARCHITECTURE.md", "CONTRIBUTING.md"])("%s names files that exist", (page) => {
  const text = readFileSync(join(ROOT, page), "utf8");
  const named = [...text.matchAll(/`([\w./-]+\.(?:lua|ts))`/g)].map(([, name = ""]) => name);
  const missing = named.filter(
    (name) => !isPlaceholder(name) && !FILES.some((file) => `/${file}`.endsWith(`/${name}`)),
  );
  expect(missing).toEqual([]);
});

/** `src/ide/tools/NAME.ts` */
function isPlaceholder(name: string): boolean {
  return /\b(NAME|FIRSTWORD)\b/.test(name);
}
