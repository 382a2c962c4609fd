/**
 * The whole matrix, each plugin by itself and whole configurations, in every scenario:
 * `scripts/test --plugins [NAME…]`. Prints the table, and puts it into CONTRIBUTING.md with --write.
 * With --oldest it runs in the oldest Neovim that we support, and writes nothing.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NEWEST, OLDEST, ROOT } from "../../test/support/neovim";
import { fetchPlugins } from "./archives";
import { CONFIGURATIONS } from "./configurations";
import { Editor } from "./editor";
import { NotApplicable, SCENARIOS, sessionFile } from "./scenarios";
import { type PluginSetup, SETUPS } from "./setups";

const MARKS = ["<!-- plugins: begin -->", "<!-- plugins: end -->"] as const;
const COLUMNS = [...Object.keys(SCENARIOS), "session file"];

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
const rows = new Map<string, Row>();
for (const setup of setups) {
  const row = await rowOf(setup);
  rows.set(setup.name, row);
  print(`${setup.name.padEnd(30)}${COLUMNS.map((column) => row[column]?.padEnd(8)).join("")}`);
}
print(`\n${tableOf(rows, [])}`);
if (process.argv.includes("--write") && !isOldest) writeTable(rows);
process.exit([...rows.values()].some((row) => Object.values(row).includes("fails")) ? 1 : 0);

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

/** In the order of the setups; `old` has the lines of those that were not run now. */
function tableOf(found: Map<string, Row>, old: string[]): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const rowLines = [...CONFIGURATIONS, ...SETUPS].flatMap(({ name }) => {
    const row = found.get(name);
    if (!row) return old.filter((one) => one.startsWith(`| ${name} |`));
    return [line([name, ...COLUMNS.map((column) => row[column] ?? "")])];
  });
  const head = ["plugin", ...COLUMNS];
  return [line(head), line(head.map(() => "---")), ...rowLines].join("\n");
}

function writeTable(found: Map<string, Row>): void {
  const path = join(ROOT, "CONTRIBUTING.md");
  const [begin, end] = MARKS;
  const page = readFileSync(path, "utf8");
  const [before, rest] = page.split(begin);
  const [old, after] = rest?.split(end) ?? [];
  if (old === undefined || after === undefined)
    throw new Error(`CONTRIBUTING.md has no ${begin} … ${end}`);
  const table = tableOf(found, old.split("\n"));
  writeFileSync(path, `${before}${begin}\n\n${table}\n\n${end}${after}`);
}

/** Not console.log: the neovim package takes the console over. */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
