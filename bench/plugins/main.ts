/**
 * Each plugin by itself, and whole configurations, in every scenario: `scripts/test --plugins [NAME…]`.
 * With --oldest it runs in the oldest Neovim that we support.
 */
import { NEWEST, OLDEST } from "../../test/support/neovim";
import { fetchPlugins } from "./archives";
import { CONFIGURATIONS } from "./configurations";
import { Editor } from "./editor";
import { NotApplicable, SCENARIOS, sessionFile } from "./scenarios";
import { type PluginSetup, SETUPS } from "./setups";

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
let failures = 0;
for (const setup of setups) {
  let editor: Editor | undefined;
  for (const [column, scenario] of Object.entries(SCENARIOS)) {
    const isSound = await tried(setup, column, async () => {
      editor ??= await Editor.start(version, setup);
      await scenario(editor, setup);
      const errors = await editor.errors();
      if (errors.length > 0) throw new Error(errors.join("; "));
    });
    if (isSound) continue;
    // What it left behind is not the next one's.
    await editor?.[Symbol.asyncDispose]();
    editor = undefined;
  }
  await editor?.[Symbol.asyncDispose]();
  await tried(setup, "session file", async () => {
    for (const layout of ["vertical", "tab"]) await sessionFile(version, setup, layout);
  });
}
process.exit(failures > 0 ? 1 : 0);

async function tried(
  setup: PluginSetup,
  column: string,
  work: () => Promise<void>,
): Promise<boolean> {
  try {
    await work();
    print(`${setup.name}, ${column}: ok`);
  } catch (error) {
    if (error instanceof NotApplicable) return true;
    failures++;
    print(`${setup.name}, ${column}: FAILS: ${error instanceof Error ? error.message : error}`);
    return false;
  }
  return true;
}

/** Not console.log: the neovim package takes the console over. */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
