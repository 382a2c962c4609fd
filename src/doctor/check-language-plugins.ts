import { isObject } from "../lib/json";
import type { Facts } from "./facts";
import { type Finding, warning } from "./finding";

/** The plugins of Claude Code's own marketplace that bring a language server, and Neovim's file types. */
const FILE_TYPES: Record<string, string[]> = {
  clangd: ["c", "cpp", "objc", "objcpp"],
  csharp: ["cs"],
  gopls: ["go"],
  jdtls: ["java"],
  kotlin: ["kotlin"],
  lua: ["lua"],
  php: ["php"],
  pyright: ["python"],
  ruby: ["ruby"],
  "rust-analyzer": ["rust"],
  swift: ["swift"],
  typescript: ["typescript", "typescriptreact", "javascript", "javascriptreact"],
};

/**
 * Does Claude Code start a second language server for a language that Neovim's serve? It takes the
 * memory again, knows no unsaved text, and subagents do not get it.
 */
export function checkLanguagePlugins({ settings, editors }: Facts): Finding | undefined {
  const served = new Set(editors.flatMap(({ report }) => report?.served_filetypes ?? []));
  for (const { path, content } of settings) {
    const plugins = isObject(content.enabledPlugins) ? Object.entries(content.enabledPlugins) : [];
    const [found] = plugins.find(([name, on]) => on === true && serves(name, served)) ?? [];
    if (found === undefined) continue;
    const what =
      `${path} enables ${found}: Claude Code starts a language server of its own beside Neovim's, ` +
      "without your unsaved text";
    return warning("second-language-server", what, `run \`claude plugin disable ${found}\``);
  }
  return undefined;
}

function serves(plugin: string, served: ReadonlySet<string>): boolean {
  const [, language = ""] = /^([\w-]+)-lsp@/.exec(plugin) ?? [];
  return (FILE_TYPES[language] ?? []).some((one) => served.has(one));
}
