import { mkdirSync, writeFileSync } from "node:fs";
import { eventually, NEOVIMS, type NeovimOptions, TestNeovim, temporaryFolder } from "#test";
import { join, native } from "../../src/lib/platform";

/* Another plugin for Claude Code beside ours: a message appears, and the two do not mix. */
/** A folder with modules of greggh/claude-code.nvim, which have the names of ours. */
function sameModule(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "lua/claude-code"), { recursive: true });
  for (const name of ["init", "commands"])
    writeFileSync(join(folder, `lua/claude-code/${name}.lua`), "return { setup = function() end }");
  return folder;
}

describe.each(NEOVIMS)("$name", (version) => {
  const start = (options: Partial<NeovimOptions>) => TestNeovim.start({ version, ...options });
  const says = (neovim: TestNeovim, text: string) =>
    eventually(text, async () => expect(await neovim.command("messages")).toContain(text));

  test.each(["before", "behind"])(
    "names a plugin with the same Lua module, %s ours",
    async (where) => {
      const folder = sameModule();
      const [sign, setup] = where === "before" ? ["^=", false as const] : ["+=", "{}"];
      await using neovim = await start({
        setup,
        args: ["--cmd", `set runtimepath${sign}${folder}`],
      });
      if (where === "before") await neovim.command("silent! Claude status");
      await says(neovim, "another plugin has the Lua module claude-code, too");
      await says(neovim, native(folder));
      expect(await neovim.command("messages")).not.toMatch(/E\d+:|traceback/);
    },
  );

  test("names coder/claudecode.nvim", async () => {
    await using neovim = await start({ args: ["--cmd", "lua package.loaded.claudecode = {}"] });
    await says(neovim, "coder/claudecode.nvim is loaded, too");
  });
});
