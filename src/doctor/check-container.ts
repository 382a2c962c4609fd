import type { Facts } from "./facts";
import { error, type Finding } from "./finding";

/** By these, with any value or this one, the CLI takes its terminal for another editor's (2.1.330). */
const MARKS: Readonly<Record<string, string | undefined>> = {
  TERM_PROGRAM: "vscode",
  TERMINAL_EMULATOR: "JetBrains-JediTerm",
  CURSOR_TRACE_ID: undefined,
  FORCE_CODE_TERMINAL: undefined,
};

/** Is a CLI in another editor's terminal kept from a Neovim? */
export function* foreignTerminal({ env, editors }: Facts): Generator<Finding> {
  const marks = Object.entries(MARKS).filter(([name, value]) =>
    value === undefined ? env[name] : env[name] === value,
  );
  const [[name] = []] = marks;
  // In Neovim's own terminals the CLI knows the port.
  if (name === undefined || editors.some(({ inside }) => inside)) return;
  const what = `${name} is ${env[name]}: the CLI takes this terminal for another editor's, and connects to that one alone`;
  const unset = marks.map(([mark]) => `-u ${mark}`).join(" ");
  yield error("terminal-of-another-editor", what, `run \`env ${unset} claude\``);
}
