import { expect, test } from "bun:test";
import { textOfSnippet } from "../../src/edits/snippet";

const SNIPPETS = [
  ["fn f() {\n    $0todo!()\n}", "fn f() {\n    todo!()\n}"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a snippet.
  ["let ${1:var_name} = ${2:Some(${3:x})};$0", "let var_name = Some(x);"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a snippet.
  ["${1|pub,pub(crate)|} fn", "pub fn"],
  ["$crate\\$1 \\} \\\\ $1x", "$1 } \\ x"],
] as const;

test.each(SNIPPETS)("the text of the snippet %j", (snippet, text) => {
  expect(textOfSnippet(snippet)).toBe(text);
});
