import { commandLine, commandWords, RARELY_AWAKE } from "./command";
import { answerHookSettings, hookSettings, otherAnswerHookSettings } from "./hooks";
import { READING_TOOLS, SERVER_NAME } from "./names";

/**
 * The arguments of a Claude CLI that the plugin starts; lua/claude-code/terminal/start.lua chooses among them. They
 * configure the CLI without changing the user's files. Each argument is one word, with its value after `=`: otherwise
 * `--mcp-config` would take the words after its value as further values. `installed` has the hooks that `:Claude setup`
 * writes into a settings file.
 */
export function cliArguments(executable: string) {
  // The CLI then calls the tools that only read without asking. It still asks before those that write.
  const permissions = { allow: READING_TOOLS.map((tool) => `mcp__${SERVER_NAME}__${tool}`) };
  // A built-in plugin of the CLI (2.1.330) draws the CLI's diff panel. It asks for "at least 110 columns" once the
  // terminal has become narrower than that. Without the plugin the CLI draws the same panel where there is room.
  const enabledPlugins = { "cc-plugin-diff@builtin": false };
  // `bashEditDiffEnabled`: the CLI reports what each Bash command changed. The review and the Stop hook use that.
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
