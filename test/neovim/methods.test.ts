import { readFileSync } from "node:fs";
import { ROOT } from "#test";
import { METHODS, type Method } from "../../src/editor/methods";
import { join } from "../../src/lib/platform";

test("checks each parameter that is a path", () => {
  const checks = readFileSync(join(ROOT, "lua/claude-code/editor/path_params.lua"), "utf8");
  const [, list = ""] = /^local PATHS = \{(.*)\}/m.exec(checks) ?? [];
  const checked = [...list.matchAll(/"(\w+)"/g)].map(([, name]) => name as string);
  const entries = (method: Method) =>
    Object.keys((method.params as { entries?: object }).entries ?? {});
  const paths = Object.values(METHODS)
    .flatMap(entries)
    .filter((name) => /(^|_)path$/.test(name));
  expect([...new Set(paths)].toSorted()).toEqual(checked.toSorted());
});
