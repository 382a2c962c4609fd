import { isObject } from "../claude/settings-files";
import type { Facts } from "./facts";
import { type Finding, warning } from "./finding";

/** What the plugins of Claude Code's own marketplace that bring a language server are called. */
const LANGUAGE_PLUGIN = /^[\w-]+-lsp@/;

/**
 * Does Claude Code start a second language server beside those of Neovim? It takes the memory again,
 * knows no unsaved text, and subagents do not get it.
 */
export function checkLanguagePlugins({ settings, editors }: Facts): Finding | undefined {
  if (!editors.some(({ report }) => report)) return undefined;
  for (const { path, content } of settings) {
    const plugins = isObject(content.enabledPlugins) ? Object.entries(content.enabledPlugins) : [];
    const [found] = plugins.find(([name, on]) => on === true && LANGUAGE_PLUGIN.test(name)) ?? [];
    if (found === undefined) continue;
    const what =
      `${path} enables ${found}: Claude Code starts a language server of its own beside Neovim's, ` +
      "without your unsaved text";
    return warning("second-language-server", what, `run \`claude plugin disable ${found}\``);
  }
  return undefined;
}
