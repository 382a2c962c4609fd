import { commandLine, commandWords, RARELY_AWAKE } from "./command";
import { answerHookSettings, hookSettings, otherAnswerHookSettings } from "./hooks";
import { READING_TOOLS, SERVER_NAME } from "./names";

/**
 * The arguments of a Claude CLI that the plugin starts, so that it touches no file of the user's
 * (lua/claude-code/terminal/start.lua chooses among them). Each is one word with its value behind `=`:
 * --mcp-config would take the words that follow it for further values. `installed` goes into a settings
 * file where the hooks are set up.
 */
export function cliArguments(executable: string) {
  // Without these rules the CLI would ask before each call. Before those that write, it does ask.
  const permissions = { allow: READING_TOOLS.map((tool) => `mcp__${SERVER_NAME}__${tool}`) };
  // The CLI then says what each Bash command changed: for the review, and for the Stop hook.
  // A built-in plugin of the CLI (2.1.330) draws its diff panel, and asks for "at least 110 columns" in a terminal
  // that was wider once. Without that plugin the CLI draws the same panel where there is room.
  const enabledPlugins = { "cc-plugin-diff@builtin": false };
  const settings = { permissions, bashEditDiffEnabled: true, enabledPlugins };
  const line = (event: string, env?: Record<string, string>) =>
    commandLine(["hook", event, "--from-neovim"], executable, env);
  const [hooks, answers] = [hookSettings(line), answerHookSettings(line)];
  const [command, ...args] = commandWords(["mcp"], executable);
  const server = { type: "stdio", command, args, env: RARELY_AWAKE };
  return {
    settings: argument(settings),
    settings_with_hooks: argument({ ...settings, hooks }),
    settings_with_answers: argument({ ...settings, hooks: otherAnswerHookSettings(line) }),
    settings_with_all: argument({ ...settings, hooks: { ...hooks, ...answers } }),
    installed: { hooks: hookSettings(), answers: answerHookSettings() },
    mcp_config: `--mcp-config=${JSON.stringify({ mcpServers: { [SERVER_NAME]: server } })}`,
  };
}

function argument(settings: object): string {
  return `--settings=${JSON.stringify(settings)}`;
}
