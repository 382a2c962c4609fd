import { catchingProxy } from "../claude/proxy";
import type { Facts } from "./facts";
import { error, type Finding, note, ok } from "./finding";

/** Versions before it lack some of what we rely on (`--settings` with hooks, the token). */
const OLDEST = "2.0.0";
const INSTALL = "run `npm install -g @anthropic-ai/claude-code`, or name it in terminal.command";

export function checkCli({ cli, cliVersion: version, editors }: Facts): Finding {
  if (cli.path === undefined && editors.some(({ report }) => report?.in_remote))
    return note("no Claude CLI is here: terminal.remote says where it runs");
  if (cli.path === undefined) return error("cli-missing", `the Claude CLI ${cli.why}`, INSTALL);
  const { path } = cli;
  if (!version) return error("cli-missing", `the Claude CLI ${path} does not run`, INSTALL);
  if (Bun.semver.order(version, OLDEST) < 0) {
    const what = `the Claude CLI ${path} has version ${version}; it must be ${OLDEST} or newer`;
    return error("cli-outdated", what, "run `claude update`");
  }
  return ok(`Claude CLI ${version} (${path})`);
}

/** Would the CLI send ws://127.0.0.1 through a proxy? The plugin sets no_proxy in its terminals. */
export function checkProxy({ env }: Facts): Finding | undefined {
  const name = catchingProxy(env);
  if (!name) return undefined;
  return error(
    "proxy-catches-loopback",
    `${name} is set, and no_proxy does not exempt 127.0.0.1: the CLI connects to the proxy instead of the editor`,
    'run `export no_proxy="127.0.0.1,localhost,$no_proxy"` before `claude`',
  );
}

/** By these, with any value or this one, the CLI takes its terminal for another editor's (2.1.330). */
const MARKS: Readonly<Record<string, string | undefined>> = {
  TERM_PROGRAM: "vscode",
  TERMINAL_EMULATOR: "JetBrains-JediTerm",
  CURSOR_TRACE_ID: undefined,
  FORCE_CODE_TERMINAL: undefined,
};

export function foreignTerminal({ env, editors }: Facts): Finding | undefined {
  const marks = Object.entries(MARKS).filter(([name, value]) =>
    value === undefined ? env[name] : env[name] === value,
  );
  const [[name] = []] = marks;
  // In Neovim's own terminals the CLI knows the port.
  if (name === undefined || editors.some(({ inside }) => inside)) return undefined;
  const what = `${name} is ${env[name]}: the CLI takes this terminal for another editor's, and connects to that one alone`;
  const unset = marks.map(([mark]) => `-u ${mark}`).join(" ");
  return error("terminal-of-another-editor", what, `run \`env ${unset} claude\``);
}
