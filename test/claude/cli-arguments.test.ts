import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#test";
import { cliArguments } from "../../src/claude/cli-arguments";

test("quotes a path that a shell would take apart", () => {
  const folder = join(temporaryFolder(), "it's a $HOME");
  mkdirSync(folder);
  const script = join(folder, "claude-code-nvim");
  writeFileSync(script, '#!/bin/sh\necho "ran $1 $2 $3"\n', { mode: 0o755 });
  const { settings_with_hooks } = cliArguments(script);
  const settings = JSON.parse(settings_with_hooks.slice("--settings=".length));
  const { stdout } = Bun.spawnSync(["sh", "-c", settings.hooks.Stop[0].hooks[0].command]);
  expect(stdout.toString()).toBe("ran hook stop --from-neovim\n");
});
