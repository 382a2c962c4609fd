import { complain, EXIT_CODES, failureCode, message, USAGE_EXIT } from "./lib/errors";
import { own } from "./lib/json";
import { print } from "./lib/output";
import { NAME, VERSION } from "./lib/version";

const USAGE = `Usage: claude-code-nvim COMMAND

Commands:
  doctor      say why Claude Code and Neovim do not connect here, and how to fix it
  edit [-g] FILE[:LINE]  open a file of Claude Code's in its Neovim: the plugin sets it as $VISUAL
  hook EVENT  answer a hook of Claude Code: session-start, session-end, user-prompt-submit,
              pre-tool-use, pre-edit, post-tool-use, post-tool-use-failure,
              pre-skill-shell-command, user-prompt-expansion, subagent-stop, stop
  install-hooks, uninstall-hooks [--project DIR] [--claude-md] [--answers] [--dry-run] [--yes]
              set a project up for Claude outside of Neovim, or undo that
  mcp         serve Neovim's diagnostics to Claude Code as the MCP server nvim-lsp, on stdio
  relay       connect a Claude Code that runs here, in a container or on another machine, with the
              Neovim that starts this: --stdio
  serve       connect Claude Code with the Neovim at $NVIM (started by the plugin)
  uninstall   remove the program, its files, and its hooks from projects: [--dry-run] [--yes]

Options:
  --version   print the version
  --help      print this text
`;

type Command = (args: string[]) => Promise<number>;

/** Each command loads its own modules: a hook must not wait for the server's. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  doctor: async () => (await import("./commands/doctor")).doctor,
  edit: async () => (await import("./commands/edit")).edit,
  hook: async () => (await import("./commands/hook")).hook,
  "install-hooks": async () => (await import("./commands/setup")).installHooks,
  "uninstall-hooks": async () => (await import("./commands/setup")).uninstallHooks,
  mcp: async () => (await import("./commands/mcp")).mcp,
  relay: async () => (await import("./commands/relay")).relay,
  serve: async () => (await import("./commands/serve")).serve,
  uninstall: async () => (await import("./commands/uninstall")).uninstall,
};

async function main(argv: string[]): Promise<number> {
  const [name, ...args] = argv;
  if (name === "--version" || name === "-v") return show(`${NAME} ${VERSION}\n`);
  if (name === "--help" || name === "-h") return show(USAGE);
  if (name === undefined) return complain(USAGE_EXIT, `a command is missing\n${USAGE.trimEnd()}`);
  const load = own(COMMANDS, name);
  if (!load) return complain(USAGE_EXIT, `unknown command: ${name}\n${USAGE.trimEnd()}`);
  const command = await load();
  return command(args);
}

function show(text: string): number {
  print(text);
  return 0;
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.exit(complain(EXIT_CODES[failureCode(error) ?? ""] ?? 1, message(error)));
  },
);
