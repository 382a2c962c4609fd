import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { commandWords, SERVER_ENVIRONMENT } from "../claude/command";
import { hookSettings } from "../claude/hooks";
import { PLUGIN_NAME, READING_TOOLS, SERVER_NAME, STABLE_PLUGIN, toolName } from "../claude/names";
import { replace } from "../lib/atomic-write";
import { isSameFile, removeFile, stablePath } from "../lib/paths";
import { dirname, IS_WINDOWS, join } from "../lib/platform";
import { DESCRIPTION, NAME, VERSION } from "../lib/version";

// @ts-expect-error: TypeScript does not know that this imports a text.
import MOD from "./register.ts" with { type: "text" };

/** Our plugin for Claude Code, as a project's settings name it: upgrades re-point it. */
export function stablePlugin(): string {
  return join(pluginRoot(), STABLE_PLUGIN);
}

/**
 * Writes the plugin whose hooks and server start `executable`, unless it is there already. Returns its folder, which
 * the CLI gets as `--plugin-dir`, with the file settings.json in it as `--settings`. Throws the system's error.
 */
export function writePlugin(executable: string, hasMod = true, root = pluginRoot()): string {
  const isStable = isSameFile(executable, stablePath());
  const files = Object.entries(pluginFiles(isStable ? stablePath() : executable, hasMod));
  const hash = Bun.CryptoHasher.hash("sha256", JSON.stringify(files), "hex").slice(0, 12);
  const folder = join(root, hash);
  if (!existsSync(folder)) {
    mkdirSync(root, { recursive: true });
    const draft = mkdtempSync(join(root, ".draft-"));
    try {
      for (const [path, text] of files) {
        mkdirSync(dirname(join(draft, path)), { recursive: true });
        writeFileSync(join(draft, path), text, { mode: 0o444 });
      }
      renameSync(draft, folder);
    } catch (error) {
      rmSync(draft, { recursive: true });
      // Another process may have written it.
      if (!existsSync(folder)) throw error;
    }
  }
  if (isStable && hasMod && !isSameFile(stablePlugin(), folder)) {
    // A junction is a folder, which Windows does not replace.
    if (IS_WINDOWS) removeFile(stablePlugin());
    replace(stablePlugin(), (draft) => symlinkSync(folder, draft, "junction"));
  }
  return folder;
}

function pluginRoot(): string {
  return join(dirname(dirname(stablePath())), "claude-plugin");
}

/** The plugin's files, by their paths in its folder. */
function pluginFiles(executable: string, hasMod: boolean): Record<string, string> {
  const [command, ...args] = commandWords(["mcp"], executable);
  const server = { type: "stdio", command, args, env: SERVER_ENVIRONMENT };
  const about = { name: PLUGIN_NAME, description: DESCRIPTION };
  return {
    ".claude-plugin/plugin.json": json({ ...about, version: VERSION }),
    // A marketplace of one plugin: a project's settings can enable only what comes from one.
    ".claude-plugin/marketplace.json": json({
      name: PLUGIN_NAME,
      owner: { name: NAME },
      plugins: [{ ...about, source: "./" }],
    }),
    // The CLI (2.1.332) would make a folder of this name for 1.2 MB of types, which help authors of plugins.
    ".claude-plugin/types": "",
    ".mcp.json": json({ mcpServers: { [SERVER_NAME]: server } }),
    "hooks/hooks.json": json({
      ...(hasMod && { modules: ["./register.ts"] }),
      hooks: hookSettings(executable),
    }),
    ...(hasMod && { "hooks/register.ts": MOD }),
    "settings.json": json(SETTINGS),
  };
}

/** A plugin cannot carry these. */
const SETTINGS = {
  // Without these rules the CLI would ask before each call. Before those that write, it does ask.
  permissions: { allow: READING_TOOLS.map(toolName) },
  // The CLI then says what each Bash command changed: for the review, and for the Stop hook.
  bashEditDiffEnabled: true,
  // A built-in plugin of the CLI (2.1.330) draws its diff panel, and asks for "at least 110 columns" in a terminal
  // that was wider once. Without that plugin the CLI draws the same panel if there is room.
  enabledPlugins: { "cc-plugin-diff@builtin": false },
};

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
