import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "#test";
import { METHODS } from "../../src/editor/methods";

/** The methods that only `src/neovim/` calls: it says how the others are called. */
const OF_THE_CALL = ["attach", "sync", "task_start", "task_cancel", "when_settled"];

test("the executable and the plugin name the same methods", () => {
  const lua = readFileSync(join(ROOT, "lua/claude-code/editor/init.lua"), "utf8");
  const [, table = ""] = /^local methods = \{\n(.*?)^\}/ms.exec(lua) ?? [];
  const offered = [...table.matchAll(/^ {2}(\w+) = /gm)].map(([, name]) => name as string);
  expect(offered.length).toBeGreaterThan(40);
  expect(offered.toSorted()).toEqual([...OF_THE_CALL, ...Object.keys(METHODS)].toSorted());
});
