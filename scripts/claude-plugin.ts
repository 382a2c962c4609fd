/**
 * Writes the Claude Code plugin of the release, with the hooks and the stdio server. Users may install it (`claude
 * --plugin-dir`, a marketplace) instead of setting up single projects.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { description, license, version } from "../package.json";
import { ENV_WITHOUT_HAZARDS } from "../src/claude/command";
import { hookSettings } from "../src/claude/hooks";
import { PLUGIN_NAME, SERVER_NAME } from "../src/claude/names";

const RUN = "$" + "{CLAUDE_PLUGIN_ROOT}/run.sh";

/** The plugin does not contain the executable, which is installed and upgraded with the Neovim plugin. */
const SCRIPT = `#!/bin/sh
# Runs the executable of claude-code.nvim: the one that its installer keeps, else the one on $PATH,
# though never from a relative folder there. The variables would make it run foreign code.
exe="\${XDG_DATA_HOME:-$HOME/.local/share}/claude-code.nvim/bin/claude-code-nvim"
[ -x "$exe" ] || exe=$(command -v claude-code-nvim)
case $exe in
  /*) exec ${ENV_WITHOUT_HAZARDS.join(" ")} "$exe" "$@" ;;
esac
# Without it a hook has nothing to say; an error at every edit would help no one.
[ "$1" != hook ] || exit 0
echo "claude-code.nvim's executable is not installed: open Neovim with the plugin once" >&2
exit 1
`;

export interface PluginFile {
  /** A path in the plugin's folder. */
  path: string;
  text: string;
  executable: boolean;
}

/** The plugin's files. They are the same for every kind of machine. */
export function claudePlugin(): PluginFile[] {
  const hooks = hookSettings((event) => `"${RUN}" hook ${event}`);
  const servers = { [SERVER_NAME]: { type: "stdio", command: RUN, args: ["mcp"] } };
  const file = (path: string, text: string, executable = false) => ({ path, text, executable });
  return [
    file(".claude-plugin/plugin.json", json({ name: PLUGIN_NAME, version, description, license })),
    file("hooks/hooks.json", json({ hooks })),
    file(".mcp.json", json({ mcpServers: servers })),
    file("run.sh", SCRIPT, true),
  ];
}

export async function writeClaudePlugin(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  for (const { path, text, executable } of claudePlugin()) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text, { mode: executable ? 0o755 : 0o644 });
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
