/**
 * The whole matrix, each plugin by itself and whole configurations, in every scenario:
 * `scripts/test --plugins [NAME…]`. With --oldest it runs in the oldest Neovim that we
 * support. Prints a row for each: "–" where there is nothing to try, "fails" for a defect that is still open.
 */
import { NEWEST, OLDEST } from "../../test/support/neovim";
import { fetchPlugins } from "./archives";
import { CONFIGURATIONS } from "./configurations";
import { Editor } from "./editor";
import { NotApplicable, SCENARIOS, sessionFile } from "./scenarios";
import { type PluginSetup, SETUPS } from "./setups";

const COLUMNS = [...Object.keys(SCENARIOS), "session file"];
const WIDTH = 14;

type Row = Record<string, "ok" | "–" | "fails">;

// A proposal nobody waits for any more is no failure of its own.
process.on("unhandledRejection", () => {});
const missing = fetchPlugins();
if (missing) {
  print(`platform skip: ${missing}`);
  process.exit(0);
}
const names = process.argv.slice(2).filter((name) => !name.startsWith("--"));
const isOldest = process.argv.includes("--oldest");
const version = isOldest ? OLDEST : NEWEST;
const setups: PluginSetup[] = [...CONFIGURATIONS, ...SETUPS].filter(
  ({ name, newestOnly }) =>
    (names.length === 0 || names.some((part) => name.includes(part))) && !(isOldest && newestOnly),
);
print(`${"".padEnd(30)}${COLUMNS.map((column) => column.padEnd(WIDTH)).join("")}`);
let failed = false;
for (const setup of setups) {
  const row = await rowOf(setup);
  failed ||= Object.values(row).includes("fails");
  print(`${setup.name.padEnd(30)}${COLUMNS.map((column) => row[column]?.padEnd(WIDTH)).join("")}`);
}
process.exit(failed ? 1 : 0);

async function rowOf(setup: PluginSetup): Promise<Row> {
  const row: Row = {};
  let editor: Editor | undefined;
  const record = async (column: string, work: () => Promise<void>) => {
    try {
      await work();
      row[column] = "ok";
    } catch (error) {
      row[column] = error instanceof NotApplicable ? "–" : "fails";
      if (row[column] === "–") return;
      print(`  ${setup.name}, ${column}: ${error instanceof Error ? error.message : error}`);
      // What it left behind is not the next one's.
      await editor?.[Symbol.asyncDispose]();
      editor = undefined;
    }
  };
  for (const [column, scenario] of Object.entries(SCENARIOS)) {
    await record(column, async () => {
      editor ??= await Editor.start(version, setup);
      await scenario(editor, setup);
      const errors = await editor.errors();
      if (errors.length > 0) throw new Error(errors.join("; "));
    });
  }
  await editor?.[Symbol.asyncDispose]();
  editor = undefined;
  await record("session file", async () => {
    for (const layout of ["vertical", "tab"]) await sessionFile(version, setup, layout);
  });
  return row;
}

/** Not console.log: the neovim package takes the console over. */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
