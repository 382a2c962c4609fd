import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { commandWords, SERVER_ENVIRONMENT } from "../claude/command";
import { hookSettings } from "../claude/hooks";
import {
  MARKETPLACE,
  PLUGIN_NAME,
  PLUGIN_SERVER,
  READING_TOOLS,
  SERVER_NAME,
  STABLE_PLUGIN,
  toolName,
} from "../claude/names";
import { modFolder } from "../ide/lock-file";
import { replace, writePrivateFile } from "../lib/atomic-write";
import { attempt, message } from "../lib/errors";
import { isSameFile, removeFile, stablePath } from "../lib/paths";
import { dirname, IS_WINDOWS, join, native } from "../lib/platform";
import { makePrivateFolder, readPrivateFile } from "../lib/private-folder";
import { DESCRIPTION, NAME, VERSION } from "../lib/version";

// @ts-expect-error: TypeScript does not know that this imports a text.
import MOD from "./register.ts" with { type: "text" };

const MARKETPLACE_NAME = new RegExp(`^${MARKETPLACE}$`);
/** The name if no process has written one yet. */
const NEW_MARKETPLACE = `${PLUGIN_NAME}-${crypto.randomUUID().slice(0, 8)}`;

/** Our plugin for Claude Code, as a project's settings name it: upgrades re-point it. */
export function stablePlugin(): string {
  return join(pluginRoot(), STABLE_PLUGIN);
}

/**
 * The marketplace that the plugin's folder is, as a project's settings name it. The CLI has one marketplace of a name
 * for all projects, and any project can define it, so the name ends with a random part that no project knows. It is
 * the final one once a plugin is written.
 */
export function marketplace(root = pluginRoot()): string {
  const known = readPrivateFile(marketplaceFile(root));
  return known !== undefined && MARKETPLACE_NAME.test(known) ? known : NEW_MARKETPLACE;
}

function marketplaceFile(root: string): string {
  return join(root, "marketplace");
}

/**
 * Writes the plugin whose hooks and server start `executable`, unless it is there and whole. Returns its folder, which
 * the CLI gets as `--plugin-dir`, with the file settings.json in it as `--settings`. Throws the system's error.
 */
export function writePlugin(executable: string, hasMod = true, root = pluginRoot()): string {
  makePrivateFolder(root);
  const named = isSameFile(executable, stablePath()) ? stablePath() : executable;
  const market = marketplace(root);
  if (market === NEW_MARKETPLACE) writePrivateFile(marketplaceFile(root), market);
  const files = Object.entries(pluginFiles(named, hasMod, market));
  const isWhole = () => files.every(([path, text]) => readPrivateFile(join(folder, path)) === text);
  const hash = Bun.CryptoHasher.hash("sha256", JSON.stringify(files), "hex").slice(0, 12);
  const folder = join(root, hash);
  if (!isWhole()) {
    const draft = mkdtempSync(join(root, ".draft-"));
    try {
      for (const [path, text] of files) {
        mkdirSync(dirname(join(draft, path)), { recursive: true });
        writeFileSync(join(draft, path), text, { mode: 0o444 });
      }
      // A damaged one would stay forever.
      rmSync(folder, { recursive: true, force: true });
      renameSync(draft, folder);
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      // Another process may have written it.
      if (!isWhole()) throw error;
    }
  }
  return folder;
}

/** Makes the stable path lead to a plugin's folder. Throws the system's error, such as of a disk without links. */
export function linkStable(folder: string): void {
  if (isSameFile(stablePlugin(), folder)) return;
  // A junction is a folder, which Windows does not replace. No system replaces another folder.
  if (IS_WINDOWS) removeFile(stablePlugin());
  const isFolder = lstatSync(stablePlugin(), { throwIfNoEntry: false })?.isDirectory();
  if (isFolder) rmSync(stablePlugin(), { recursive: true });
  replace(stablePlugin(), (draft) => symlinkSync(folder, draft, "junction"));
}

/** Both plugins, or a sentence that says why there is none: a CLI then starts without our hooks and tools. */
export function writePlugins(executable: string) {
  try {
    const plugin = writePlugin(executable);
    // Only a CLI outside of Neovim needs the link. The doctor says if it is missing.
    if (isSameFile(executable, stablePath())) attempt(() => linkStable(plugin));
    return { plugin, plugin_without_mod: writePlugin(executable, false) };
  } catch (error) {
    return { plugin_problem: `The plugin for Claude Code cannot be written: ${message(error)}` };
  }
}

function pluginRoot(): string {
  return join(dirname(dirname(stablePath())), "claude-plugin");
}

/** The plugin's files, by their paths in its folder. */
function pluginFiles(executable: string, hasMod: boolean, market: string): Record<string, string> {
  const [command, ...args] = commandWords(["mcp"], executable);
  const server = { type: "stdio", command, args, env: SERVER_ENVIRONMENT };
  const about = { name: PLUGIN_NAME, description: DESCRIPTION };
  return {
    ".claude-plugin/plugin.json": json({ ...about, version: VERSION }),
    // A marketplace of one plugin: a project's settings can enable only what comes from one.
    ".claude-plugin/marketplace.json": json({
      name: market,
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
    ...(hasMod && {
      "hooks/register.ts": MOD.replace('"MOD_FOLDER"', () => JSON.stringify(native(modFolder()))),
    }),
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
  // A project's settings could disable ours, whose marketplace the CLI calls "inline" here.
  enabledPlugins: { "cc-plugin-diff@builtin": false, [`${PLUGIN_NAME}@inline`]: true },
  // A project's MCP server could take our server's name and its permissions.
  disabledMcpjsonServers: [PLUGIN_SERVER],
};

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
