/** The names of LSP's severities 1 to 4, as each reader spells them. */
export const SEVERITY_NAMES = {
  /** In a line as compilers write it. */
  compiler: ["error", "warning", "information", "hint"],
  /** Spec 02, 4.6, as VS Code's API. */
  vscode: ["Error", "Warning", "Information", "Hint"],
  /** Spec 04, section 2.3, as `vim.diagnostic.severity`. */
  vim: ["ERROR", "WARN", "INFO", "HINT"],
} as const;
