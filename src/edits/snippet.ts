/** Stand for what a snippet escapes, while the rest is read. */
const ESCAPED: Record<string, string> = { "\\": "\u0001", $: "\u0002", "}": "\u0003" };

/** A snippet's text as it stands without an editor that fills it in: placeholders are their defaults. */
export function textOfSnippet(snippet: string): string {
  let text = snippet
    .replaceAll(/\\([\\$}])/g, (_, char: string) => ESCAPED[char] ?? char)
    .replaceAll(/\$\{\w+\|([^,|}]*)[^|}]*\|\}/g, "$1")
    .replaceAll(/\$(?:\d+|[A-Za-z_]\w*)|\$\{\w+\}/g, "");
  for (let before = ""; before !== text; ) {
    before = text;
    text = text.replaceAll(/\$\{\w+:([^${}]*)\}/g, "$1");
  }
  for (const [char, mark] of Object.entries(ESCAPED)) text = text.replaceAll(mark, () => char);
  return text;
}
