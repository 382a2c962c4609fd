import { eventually } from "../test/support/eventually";
import lua from "./cursor.lua" with { type: "text" };
import { Editor } from "./editor";
import type { Scenario } from "./scenario";

/** The cost of a cursor movement, compared with an autocommand that does nothing. */
export const cursor: Scenario = {
  name: "cursor",

  // Measured together with the value, in the same Neovim.
  floor: async () => ({}),

  async measure(machine, subject) {
    await using editor = await Editor.start(machine.nvim, subject);
    const { nvim } = editor;
    await nvim.lua("vim.cmd.edit('text.txt')");
    await nvim.lua("CURSOR = loadstring(...)()", lua);
    using _ = await editor.setUp(subject);
    const follows = await eventually("the plugin to follow the cursor", () =>
      nvim.lua<boolean>("return #CURSOR.added() > 0"),
    ).catch(() => false);
    if (!follows) return { values: {} };
    const { empty, added } = await nvim.lua<{ empty: number; added: number }>(
      "return CURSOR.measure(...)",
      machine.effort,
    );
    return { values: { cursor: added - empty }, floors: { cursor: empty } };
  },
};
