/**
 * Prints how big the code is, and how much of it is loaded: `bun scripts/measure-code.ts`. With a built
 * executable (`bun run build`) it also starts the newest Neovim with a client and a diff.
 * `--list` prints the names of what it counts, too.
 */
import { existsSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { mutableVariables } from "./measure/mutable-variables";

const ROOT = dirname(import.meta.dir);
const isListed = process.argv.includes("--list");

const lua = sources("{lua,plugin}/**/*.lua");
const src = sources("src/**/*.ts");
const variables = lua.flatMap(({ path, text }) =>
  mutableVariables(text).map(({ name, line }) => `${path}:${line} ${name}`),
);

print("Lua files", lua.length);
print("Lua lines", linesOf(lua));
print("TypeScript files", src.length);
print("TypeScript lines", linesOf(src));
print("mutable variables of Lua modules", variables.length, variables);
print("places that make autocommands", count(lua, /\bnvim_create_autocmd\(/g));
if (existsSync(join(ROOT, "dist/claude-code-nvim"))) await printLoaded();
else say("(no executable is built: what a Neovim loads is not measured)");
process.exit(0);

function sources(pattern: string): { path: string; text: string }[] {
  return [...new Glob(pattern).scanSync({ cwd: ROOT })]
    .sort()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}

function linesOf(files: readonly { text: string }[]): number {
  return count(files, /\n/g);
}

function count(files: readonly { text: string }[], pattern: RegExp): number {
  return files.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0);
}

function print(what: string, figure: number, details: string[] = []): void {
  say(`${String(figure).padStart(6)}  ${what}`);
  if (isListed) for (const detail of details) say(`          ${detail}`);
}

/** The client for Neovim replaces console.log. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

/** What a Neovim with one client has loaded, and then with a diff on screen. */
async function printLoaded(): Promise<void> {
  const { TestClient } = await import("../test/support/client");
  const { eventually } = await import("../test/support/eventually");
  const { NEWEST, TestNeovim } = await import("../test/support/neovim");
  await using neovim = await TestNeovim.start({ version: NEWEST, ui: { width: 160, height: 48 } });
  const file = join(neovim.cwd, "a.lua");
  writeFileSync(file, "return 1\n");
  const modules = () =>
    neovim.lua<string[]>(`
      return vim.tbl_filter(function(name)
        return vim.startswith(name, "claude-code")
      end, vim.tbl_keys(package.loaded))`);
  using client = await TestClient.open(await neovim.lock(), "claude-code");
  await eventually("the answer of a tool", () => client.json("getOpenEditors"));
  const connected = await modules();
  print("modules that a connected client loads", connected.length, connected.sort());
  void client
    .texts("openDiff", {
      old_file_path: file,
      new_file_path: file,
      new_file_contents: "return 2\n",
      tab_name: "a diff",
    })
    .catch(() => {});
  await eventually("the diff", () => neovim.lua<boolean>("return #vim.api.nvim_list_wins() > 1"));
  const shown = await modules();
  print("modules that a first diff has loaded", shown.length, shown.sort());
}
