import { dirname, join } from "node:path";
import { hookSettings, isOurHook } from "../claude/hooks";
import { SERVER_NAME } from "../claude/names";
import { projectFolder } from "../claude/project";
import { isObject, readJson } from "../lib/json";
import { isExecutable } from "../lib/paths";
import type { Facts } from "./facts";
import { error, type Finding, ok, warning } from "./finding";

/** The sub-commands of `claude-code-nvim hook` that an installation has. */
const EVENTS = Object.values(hookSettings((event) => event)).flatMap((groups) =>
  groups.flatMap((group) => group.hooks.map((hook) => hook.command)),
);
const REPAIR = "run :Claude setup, or `claude-code-nvim install-hooks`";

/** Do hooks run at all; are those that some settings file has complete, and does what they start exist? */
export function checkHooks(facts: Facts): Finding | undefined {
  return disabled(facts) ?? installed(facts);
}

/**
 * It holds for the hooks that the plugin passes to its CLIs, too (lua/claude-code/claude/hooks.lua asks
 * the same). The folder's settings and those of the repository's top count each for themselves.
 */
function disabled({ cwd, settings }: Facts): Finding | undefined {
  const [own, top] = [join(cwd, ".claude"), join(projectFolder(cwd), ".claude")];
  const strongest = (except?: string) =>
    settings.find(
      ({ path, content }) =>
        dirname(path) !== except && typeof content.disableAllHooks === "boolean",
    );
  const found = own === top ? [strongest()] : [strongest(top), strongest(own)];
  const file = found.find((settings) => settings?.content.disableAllHooks);
  if (!file) return undefined;
  return warning(
    "hooks-disabled",
    `disableAllHooks is true in ${file.path}: no hook runs, so nothing records Claude's changes for the review, ` +
      "and Claude may leave problems in files that it edited",
    "remove it there",
  );
}

function installed(facts: Facts): Finding | undefined {
  const ours = facts.settings
    .flatMap(({ path, content }) => commandsOf(content.hooks).map((command) => ({ path, command })))
    .filter(({ command }) => isOurHook(command));
  const where = ours[0]?.path;
  if (!where) return undefined;
  const missing = EVENTS.filter(
    (event) => !ours.some(({ command }) => command.includes(` hook ${event}`)),
  );
  if (missing.length > 0) {
    const what = `${where} does not have the hooks ${missing.join(", ")}`;
    return warning("hooks-half-installed", what, REPAIR);
  }
  if (!isServerInstalled(facts)) {
    const what = `${where} has the hooks, but the MCP server ${SERVER_NAME} that they name is not installed`;
    return warning("hooks-half-installed", what, REPAIR);
  }
  const programs = ours.map((hook) => programOf(hook.command));
  const broken = programs.find((path) => path && !isExecutable(path));
  if (broken) {
    return error("hooks-broken", `${where} starts ${broken}, which is not an executable`, REPAIR);
  }
  return ok(`hooks and the MCP server ${SERVER_NAME} are installed (${where})`);
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

/** In the user's, the project's own or the shared list of servers. */
function isServerInstalled({ cwd, state: { content } }: Facts): boolean {
  const project = projectFolder(cwd);
  const projects = isObject(content.projects) ? content.projects : {};
  const shared = readJson(join(project, ".mcp.json"));
  return [content, projects[project], shared].some(
    (place) => isObject(place) && isObject(place.mcpServers) && SERVER_NAME in place.mcpServers,
  );
}
