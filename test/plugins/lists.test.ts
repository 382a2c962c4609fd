import { beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { eventually } from "../support/eventually";
import { onEachNeovim } from "../support/session";
import { fetchPlugins, folderOf, type PluginName } from "./archives";

/* :ClaudeAtMention in lists of other plugins. */
const missing = fetchPlugins();
if (missing) console.log(`platform skip: ${missing}`);

const TEXT = "local a = 1\nlocal b = 2\nreturn a + b\n";

describe.skipIf(missing !== undefined)("mentions from lists", () => {
  onEachNeovim((session) => {
    const path = (name: string) => session.path(name);

    beforeEach(async () => {
      await session.reset();
      for (const name of ["src/a.lua", "src/b.lua"]) session.write(name, TEXT);
      await session.edit(path("src/a.lua"));
    });

    const load = (...names: PluginName[]) =>
      session.neovim.lua(
        `for _, folder in ipairs({ ... }) do
          vim.opt.runtimepath:append(folder)
          for _, file in ipairs(vim.fn.glob(folder .. "/plugin/*", true, true)) do
            vim.cmd.source(file)
          end
        end`,
        ...names.map(folderOf),
      );

    /** Puts the cursor on the first line with this text, once it is there. */
    const goTo = (text: string) =>
      eventually(`a line with ${text}`, () =>
        session.neovim.lua<boolean>("return vim.fn.search(..., 'cw') > 0", text),
      );

    /** What Claude received since the last call. */
    let seen = 0;
    async function mentioned(command: string, count: number): Promise<object[]> {
      const all = () => session.client.notifications("at_mentioned");
      seen = all().length;
      await session.neovim.command(command);
      return eventually("mentions", () => {
        const fresh = all().slice(seen);
        if (fresh.length !== count) throw new Error(JSON.stringify(fresh));
        return fresh;
      });
    }

    test("trouble.nvim: the lines of an entry, the file of a heading", async () => {
      await load("trouble.nvim");
      await session.neovim.lua(
        `require("trouble").setup({})
        vim.diagnostic.set(vim.api.nvim_create_namespace("test"), 0, {
          { lnum = 1, col = 0, end_lnum = 2, end_col = 3, message = "wrong here" },
        })
        require("trouble").open({ mode = "diagnostics", focus = true })`,
      );
      await goTo("wrong here");
      const entry = { filePath: path("src/a.lua"), lineStart: 1, lineEnd: 2 };
      expect(await mentioned("ClaudeAtMention", 1)).toEqual([entry]);
      await goTo("a\\.lua");
      expect(await mentioned("ClaudeAtMention", 1)).toEqual([{ filePath: path("src/a.lua") }]);
      await session.neovim.lua(`require("trouble").close(); vim.diagnostic.reset()`);
    });

    test("snacks.nvim: its explorer's entry, a range, and what is selected", async () => {
      await load("snacks.nvim");
      await session.neovim.lua(`require("snacks").setup({})`);
      await session.neovim.lua(`Snacks.explorer({ cwd = ... })`, path("src"));
      await eventually("the explorer", () =>
        session.neovim.lua<boolean>(`
          PICKER = Snacks.picker.get({ source = "explorer" })[1]
          return PICKER ~= nil and PICKER.list:count() >= 3`),
      );
      await session.neovim.lua(`PICKER:focus("list")`);
      await goTo("b\\.lua");
      expect(await mentioned("ClaudeAtMention", 1)).toEqual([{ filePath: path("src/b.lua") }]);
      const both = ["src/a.lua", "src/b.lua"].map((name) => ({ filePath: path(name) }));
      await goTo("a\\.lua");
      expect(await mentioned(".,+1ClaudeAtMention", 2)).toEqual(both);
      await session.neovim.lua(`PICKER.list:select_all()`);
      await session.neovim.lua(`PICKER:close()`);
    });

    const git = (...words: string[]) =>
      Bun.spawnSync(["git", "-c", "user.name=a", "-c", "user.email=a@b", ...words], {
        cwd: path("."),
      });

    /** A repository in which b.lua has changed and a.lua has another name. */
    async function change() {
      rmSync(path(".git"), { recursive: true, force: true });
      git("init", "-q");
      git("add", "src");
      git("commit", "-qm", "x");
      git("mv", "src/a.lua", "src/c.lua");
      session.write("src/b.lua", `${TEXT}-- more\n`);
    }

    test("fugitive: files of the status, also from the lines of a diff", async () => {
      await load("vim-fugitive");
      await change();
      await session.neovim.command("Git");
      const b = [{ filePath: path("src/b.lua") }];
      await goTo("^M src/b\\.lua");
      expect(await mentioned("ClaudeAtMention", 1)).toEqual(b);
      await session.neovim.type("=");
      await goTo("more");
      expect(await mentioned("ClaudeAtMention", 1)).toEqual(b);
      await goTo("-> src/c\\.lua");
      expect(await mentioned("ClaudeAtMention", 1)).toEqual([{ filePath: path("src/c.lua") }]);
      rmSync(path("src/c.lua"));
    });
  });
});
