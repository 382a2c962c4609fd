/** LSP's names where they differ from Neovim's filetypes (LSP 3.17, TextDocumentItem). */
const LANGUAGE_IDS: Record<string, string> = {
  bash: "shellscript",
  cs: "csharp",
  eruby: "erb",
  gitcommit: "git-commit",
  gitrebase: "git-rebase",
  help: "vimdoc",
  make: "makefile",
  objc: "objective-c",
  objcpp: "objective-cpp",
  ps1: "powershell",
  sh: "shellscript",
  tex: "latex",
  text: "plaintext",
  zsh: "shellscript",
};

/** The language id of a filetype; "plaintext" without one. */
export function languageId(filetype: string): string {
  return filetype === "" ? "plaintext" : (LANGUAGE_IDS[filetype] ?? filetype);
}
