import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { ROOT } from "#test";
import { neovimRequests } from "../../src/commands/neovim-requests";
import { EVENTS, METHODS, type Method } from "../../src/editor/methods";

/* The tables of src/editor/methods.ts and src/commands/neovim-requests.ts are what the plugin has. */

/** The methods that only `src/neovim/` calls: it says how the others are called. */
const OF_THE_CALL = ["attach", "sync", "task_start", "task_cancel", "when_settled"];
/** Sent to a program that waits for a task, not to the server. */
const OF_A_TASK = ["settled"];

const files = [...new Glob("lua/**/*.lua").scanSync({ cwd: ROOT })];
const sources = files.map((file) => readFileSync(join(ROOT, file), "utf8"));

test("lists the methods that the plugin has", () => {
  const lua = readFileSync(join(ROOT, "lua/claude-code/editor/init.lua"), "utf8");
  const [, table = ""] = /^local methods = \{\n(.*?)^\}/ms.exec(lua) ?? [];
  const listed = [...table.matchAll(/^ {2}(\w+) = /gm)].map(([, name]) => name as string);
  const modules = files.flatMap((file) => /editor\/methods\/(\w+)\.lua$/.exec(file)?.[1] ?? []);
  const own = modules.filter((name) => !table.includes(`"editor.methods.${name}"`));
  const offered = [...listed, ...own];
  expect(offered.toSorted()).toEqual([...OF_THE_CALL, ...Object.keys(METHODS)].toSorted());
});

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

test("lists the events that Neovim sends", () => {
  const sent = sources.flatMap((text) =>
    [...text.matchAll(/(?:\bnotify\(|"claude_code", )"(\w+)"/g)].map(([, name]) => name as string),
  );
  expect([...new Set(sent)].toSorted()).toEqual([...OF_A_TASK, ...Object.keys(EVENTS)].toSorted());
});

test("answers each request of Neovim's, and no other", () => {
  const editor = { state: { folders: [] }, on: () => {} };
  const { areas } = neovimRequests(editor as never, {} as never, {} as never, 0);
  const answered = Object.entries(areas).flatMap(([area, { requests }]) =>
    Object.keys(requests).map((name) => `${area}/${name}`),
  );
  const literal = new RegExp(`"((?:${Object.keys(areas).join("|")})/\\w+)"`, "g");
  const asked = sources.flatMap((text) => [...text.matchAll(literal)].map(([, name]) => name));
  const isPutTogether = (method: string) => {
    const [area, name] = method.split("/");
    return sources.some((text) => text.includes(`"${area}/" ..`) && text.includes(`"${name}"`));
  };
  expect(asked.filter((method) => !answered.includes(method as string))).toEqual([]);
  expect(answered.filter((method) => !asked.includes(method) && !isPutTogether(method))).toEqual(
    [],
  );
});
