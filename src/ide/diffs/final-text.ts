const BOM = "\uFEFF";

/**
 * The text that stands for `lines` (without line ends) after the user edited `proposal` in a buffer:
 * byte order mark, line ends and a missing last newline stay as the proposal had them. Claude Code
 * sends LF only and takes anything else as an edit (measured with 2.1.330). `newline` decides about
 * the last one where the last line was taken from the old file.
 */
export function rebuild(proposal: string, lines: readonly string[], newline?: boolean): string {
  const bom = proposal.startsWith(BOM) ? BOM : "";
  const eol = lineEnd(proposal);
  const empty = lines.length === 0 || (lines.length === 1 && lines[0] === "");
  const hadText = proposal.length > bom.length;
  if (empty && !hadText) return bom;
  const last = (newline ?? (!hadText || proposal.endsWith("\n"))) ? eol : "";
  if (empty) return bom + last;
  return bom + lines.join(eol) + last;
}

/** CRLF only if every line has it: mixed ends stay in the lines themselves, as Neovim shows them. */
function lineEnd(text: string): "\r\n" | "\n" {
  return text.includes("\n") && !/(^|[^\r])\n/.test(text) ? "\r\n" : "\n";
}
