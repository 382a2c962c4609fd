const BEGIN = "<!-- claude-code.nvim: LSP diagnostics (begin) -->";
const END = "<!-- claude-code.nvim: LSP diagnostics (end) -->";

/** Spec 04, "CLAUDE.md Instructions". */
const SECTION = `${BEGIN}
## LSP Diagnostics

When you edit files, the system will check for lint errors and warnings before allowing you to complete.
If any issues are found, you'll be asked to fix them. You get one retry attempt - if you still can't fix them,
you'll be allowed to complete.

Use the nvim-lsp MCP server to get diagnostics:
- \`get_diagnostics()\` - Get all diagnostics across all open buffers
- \`get_diagnostics("src/main.lua")\` - Get diagnostics for a single file
- \`get_diagnostics(["src/main.lua", "src/utils.lua"])\` - Get diagnostics for multiple files
- \`get_session_diagnostics()\` - Get diagnostics only for files you edited in this session
- \`get_diagnostic_context(file_path, line)\` - Get code context around a specific diagnostic
- \`get_diagnostic_summary()\` - Get a summary of all errors/warnings with file counts

Best practices:
1. Always fix errors before warnings
2. Check diagnostics proactively after making changes
3. If you can't fix an issue on the second attempt, add a comment explaining why
${END}
`;

/** CLAUDE.md with our section at its end; unchanged if it has one. */
export function withSection(text: string | undefined): string {
  if (text === undefined || text === "") return SECTION;
  if (text.includes(BEGIN)) return text;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text.endsWith("\n") ? eol : eol + eol;
  return text + gap + SECTION.replaceAll("\n", eol);
}

/** CLAUDE.md without our section and the empty line before it. */
export function withoutSection(text: string): string {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END, begin);
  if (begin < 0 || end < 0) return text;
  const before = text.slice(0, begin).replace(/\r?\n(\r?\n)$/, "$1");
  return before + text.slice(end + END.length).replace(/^\r?\n/, "");
}
