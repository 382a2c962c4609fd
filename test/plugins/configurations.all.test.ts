import { NEWEST, setDefaultTimeout } from "#test";
import { testWithPlugins } from "../../bench/plugins/archives";
import { CONFIGURATIONS } from "../../bench/plugins/configurations";
import { Editor } from "../../bench/plugins/editor";
import { SCENARIOS, sessionFile } from "../../bench/plugins/scenarios";
import { type PluginSetup, SETUPS } from "../../bench/plugins/setups";

/* Each plugin alone, and whole configurations, through every scenario in one Neovim. */

setDefaultTimeout(120_000);

for (const setup of [...CONFIGURATIONS, ...SETUPS] as PluginSetup[]) {
  testWithPlugins(`${setup.name}: diffs, terminal, reloads, keyboard`, async () => {
    await using editor = await Editor.start(NEWEST, setup);
    for (const [name, scenario] of Object.entries(SCENARIOS)) {
      await scenario(editor, setup).catch((error) => {
        throw new Error(`${name}: ${error instanceof Error ? error.message : error}`);
      });
    }
    expect(await editor.errors()).toEqual([]);
  });

  testWithPlugins(`${setup.name}: a session file saved with a diff on screen`, async () => {
    for (const layout of ["vertical", "tab"]) await sessionFile(NEWEST, setup, layout);
  });
}
