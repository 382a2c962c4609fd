import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { NEWEST } from "#test";
import { join } from "../../src/lib/platform";
import { Claude } from "../support/claude";
import { CASE_MS, requireNamespace } from "../support/namespace";
import { Container, remotesOption } from "../support/remote";
import { eventually } from "./eventually";
import { InTerminal, START_MS } from "./in-terminal";

/*
 * When a CLI starts, it deletes the lock files of editors that it considers dead: Neovim's if it runs in a container,
 * the relay's if it runs outside. Both come back, and neither replaces the other.
 */
requireNamespace();

const TIMES = 10;

describe("a container with the lock files of this machine", () => {
  let container: Container;
  const claude = new InTerminal();
  const locks = () => join(claude.home, ".claude/ide");
  claude.inBlock(NEWEST, {
    files: { "main.lua": "return 1\n" },
    terminal: `remote = "dev",`,
    setup: () =>
      remotesOption({
        ...container.commands(),
        path_mappings: { [Container.PROJECT]: claude.project },
      }),
    prepare: async () => {
      mkdirSync(locks(), { recursive: true, mode: 0o700 });
      container = await Container.start({
        ...{ project: claude.project, at: Container.PROJECT, home: join(claude.root, "inside") },
        ...{ hidden: [], locks: locks(), model: claude.model },
      });
    },
  });
  afterAll(() => container?.stop());

  const tokens = () =>
    Object.fromEntries(
      readdirSync(locks())
        .filter((name) => name.endsWith(".lock"))
        .map((name) => [
          name,
          JSON.parse(readFileSync(join(locks(), name), "utf8")).authToken as string,
        ]),
    );
  const clients = () =>
    claude.neovim.lua<string[]>(
      `return vim.tbl_map(function(one) return one.remote or "here" end, require("port").server.clients)`,
    );

  test(
    "finds its Neovim however often a CLI starts",
    async () => {
      await claude.command("Claude");
      await eventually(clients, ["dev"], START_MS);
      // The CLI has just removed Neovim's lock file as that of a dead editor.
      await eventually(async () => Object.keys(tokens()).length, 2);
      const before = tokens();
      const { home, project, model } = claude;
      const port = await claude.neovim.lua<number>(`return require("port").server.port`);
      for (let time = 0; time < TIMES; time++) {
        await using further = await Claude.start({
          home,
          project,
          model,
          port,
          further: `log-${time}`,
        });
        await further.waitForEditor();
        await claude.command("Claude close!");
        await eventually(clients, ["here"], START_MS);
        await claude.command("Claude");
        await eventually(async () => (await clients()).sort(), ["dev", "here"], START_MS);
        // The CLI that has just started considered one of them dead.
        await eventually(async () => tokens(), before);
        await further.close();
        await eventually(clients, ["dev"], START_MS);
      }
      await eventually(async () => tokens(), before);
    },
    TIMES * CASE_MS,
  );
});
