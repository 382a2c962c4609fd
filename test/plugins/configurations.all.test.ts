import { expect, setDefaultTimeout } from "bun:test";
import { CONFIGURATIONS } from "../../bench/plugins/configurations";
import { Editor } from "../../bench/plugins/editor";
import { testWithPlugins } from "../../bench/plugins/only-with-plugins";
import { SCENARIOS, sessionFile } from "../../bench/plugins/scenarios";
import { NEWEST } from "../support/neovim";

/*
 * Whole configurations, many plugins at once, through every scenario in one Neovim.
 * `scripts/test --plugins` tries each plugin by itself.
 */

setDefaultTimeout(120_000);

for (const setup of CONFIGURATIONS) {
  testWithPlugins(`${setup.name}: diffs, terminal, reloads`, async () => {
    await using editor = await Editor.start(NEWEST, setup);
    const { keyboard: _, ...scenarios } = SCENARIOS;
    for (const [name, scenario] of Object.entries(scenarios)) {
      await scenario(editor, setup).catch((error) => {
        throw new Error(`${name}: ${error instanceof Error ? error.message : error}`);
      });
    }
    expect(await editor.errors()).toEqual([]);
  });

  testWithPlugins(`${setup.name}: a session file saved with a diff on screen`, () =>
    sessionFile(NEWEST, setup, "vertical"),
  );
}
