import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { hookSettings, isOurHook } from "../claude/hooks";
import { SERVER_NAME } from "../claude/names";
import {
  globalConfig,
  isObject,
  projectFolder,
  readJson,
  settingsFiles,
} from "../claude/settings-files";
import type { Surroundings } from "./facts";
import { error, type Finding, ok, warning } from "./finding";

/** The sub-commands of `claude-code-nvim hook` that an installation has. */
const EVENTS = Object.values(hookSettings((event) => event)).flatMap((groups) =>
  groups.flatMap((group) => group.hooks.map((hook) => hook.command)),
);
const REPAIR = "run :ClaudeInstallMCP, or `claude-code-nvim install-hooks`";

/** Are the hooks that some settings file has complete, and does what they start exist? */
export function* checkHooks(surroundings: Surroundings): Generator<Finding> {
  const commands = settingsFiles(surroundings).flatMap(({ path, content }) =>
    commandsOf(content.hooks).map((command) => ({ path, command })),
  );
  const ours = commands.filter(({ command }) => isOurHook(command));
  const where = ours[0]?.path;
  const hasServer = serverInstalled(surroundings);
  if (!where) return;
  const missing = EVENTS.filter(
    (event) => !ours.some(({ command }) => command.includes(` hook ${event}`)),
  );
  if (missing.length > 0) {
    yield warning("hooks-half-installed", `${where} lacks the hooks ${missing.join(", ")}`, REPAIR);
    return;
  }
  if (!hasServer) {
    const what = `${where} has the hooks, but the MCP server ${SERVER_NAME} that they name is not installed`;
    yield warning("hooks-half-installed", what, REPAIR);
    return;
  }
  const broken = ours.map((hook) => programOf(hook.command)).find((path) => path && !runs(path));
  if (broken) {
    yield error("hooks-broken", `${where} starts ${broken}, which is no executable`, REPAIR);
    return;
  }
  yield ok(`hooks and the MCP server ${SERVER_NAME} are installed (${where})`);
}

function commandsOf(hooks: unknown): string[] {
  if (!isObject(hooks)) return [];
  return Object.values(hooks)
    .flatMap((groups) => (Array.isArray(groups) ? groups : []))
    .flatMap((group) => (isObject(group) && Array.isArray(group.hooks) ? group.hooks : []))
    .flatMap((hook) => (isObject(hook) && typeof hook.command === "string" ? [hook.command] : []));
}

/** The absolute path that a hook's command line starts, if it names one. */
function programOf(command: string): string | undefined {
  const match =
    /(?:"([^"]*claude-code-nvim[^"]*)"|'([^']*claude-code-nvim[^']*)'|(\S*claude-code-nvim\S*))\s+hook\s/.exec(
      command,
    );
  const path = match?.[1] ?? match?.[2] ?? match?.[3];
  return path && /^(\/|[A-Za-z]:)/.test(path) ? path : undefined;
}

function runs(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** In the user's, the project's own or the shared list of servers. */
function serverInstalled(surroundings: Surroundings): boolean {
  const project = projectFolder(surroundings.cwd);
  const { content } = globalConfig(surroundings);
  const projects = isObject(content.projects) ? content.projects : {};
  const shared = readJson(join(project, ".mcp.json"));
  return [content, projects[project], shared].some(
    (place) => isObject(place) && isObject(place.mcpServers) && SERVER_NAME in place.mcpServers,
  );
}
