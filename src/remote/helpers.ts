import { existsSync } from "node:fs";
import { constants, setPriority } from "node:os";
import * as v from "valibot";
import type { Transport } from "../jsonrpc/message";
import { attempt } from "../lib/errors";
import { isDeep, isObject, type JsonObject, parseJson } from "../lib/json";
import { type Environment, SHARED_FOLDERS } from "../lib/paths";
import { StdioTransport } from "../transport/stdio";
import { Border, type Rules, SHARED_RULES, type ToolRule, toolRequests } from "./border";
import type { Channel } from "./channels";
import type { Crossing, Remote } from "./remote";
import { LIMITS } from "./wire";

/** A program may run a little longer than its channel. */
const MAX_RUNNING = 2 * LIMITS.channels;

/**
 * The limit of hooks of all remotes that are starting. If a remote floods us with hooks, Neovim and its clients must
 * not wait. After START_MS, in ms, a hook counts as started, since it may wait for the user.
 */
const MAX_STARTING = 2;
const START_MS = 200;
let starting = 0;

/** The hooks that a remote may run. */
const EVENTS = [
  "session-start",
  "session-end",
  "user-prompt-submit",
  "pre-tool-use",
  "pre-edit",
  "post-tool-use",
  "post-tool-use-failure",
  "pre-skill-shell-command",
  "user-prompt-expansion",
  "subagent-stop",
  "stop",
  "permission-request",
] as const;

const id = v.optional(v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/)));
/** The first line that a program beside the relay sends. `input` is the whole stdin of a hook. */
const Opening = v.object({
  args: v.array(v.string()),
  cwd: v.string(),
  env: v.object({
    CLAUDE_PROJECT_DIR: v.optional(v.string()),
    CLAUDE_CODE_NVIM_SESSION: id,
    CLAUDE_CODE_SESSION_ID: id,
    CLAUDE_CODE_ENTRYPOINT: id,
    AI_AGENT: id,
  }),
  input: v.optional(v.string(), ""),
});
export type Opening = v.InferInput<typeof Opening>;

/** The fields of a hook's input that pass unchanged: numbers, ids, and text that is only shown. */
const PLAIN = [
  ...["session_id", "prompt_id", "permission_mode", "source", "stop_hook_active", "tool_name"],
  ...["tool_use_id", "duration_ms", "agent_id", "prompt", "permission_suggestions"],
];
/** The fields of a tool's answer that the review needs, with the file's text before the edit. */
const PLAIN_OF_ANSWER = ["type", "originalFile", "original_file"];

/**
 * Runs a hook or the MCP server nvim-lsp of a CLI in a remote. Our own program does that on this machine, for this
 * Neovim, with this machine's paths. If a path cannot be mapped, nothing runs and the channel is closed.
 */
export async function runHelper(channel: Channel, d: string, remote: Remote): Promise<void> {
  if (remote.running >= MAX_RUNNING) return channel.close();
  remote.running++;
  await run(channel, d, remote).finally(() => remote.running--);
}

/** Resolves once the program has ended. */
async function run(channel: Channel, d: string, remote: Remote): Promise<unknown> {
  const opening = v.safeParse(Opening, parseJson(d));
  const cwd = opening.success ? remote.map.toRealHost(opening.output.cwd) : undefined;
  if (!opening.success || cwd === undefined) return channel.close();
  const { args, env: given, input } = opening.output;
  const project = given.CLAUDE_PROJECT_DIR && remote.map.toRealHost(given.CLAUDE_PROJECT_DIR);
  const { CLAUDE_PID: _, CLAUDE_PLUGIN_ROOT: __, CLAUDE_CODE_SSE_PORT: ___, ...own } = process.env;
  const folder = existsSync(cwd) ? cwd : (remote.folders[0] ?? cwd);
  const env = {
    ...own,
    // The defaults keep our own environment's session from counting as the remote's.
    ...{ CLAUDE_CODE_SESSION_ID: "none", CLAUDE_CODE_NVIM_SESSION: "" },
    ...{ CLAUDE_CODE_ENTRYPOINT: "", AI_AGENT: "" },
    ...given,
    CLAUDE_PROJECT_DIR: project || cwd,
    ...nvimLspEnvironment(remote),
    CLAUDE_CODE_NVIM_REMOTE: remote.name,
  };
  if (channel.kind === "mcp") return runMcp(channel, remote, { env, cwd: folder });
  const [event] = args;
  const mapped = hookInput(parseJson(input), remote);
  if (!mapped || !EVENTS.some((one) => one === event)) return channel.close();
  const release = await startingSlot(channel);
  if (!release) return;
  // This throws if the folder is gone.
  const child = attempt(() =>
    Bun.spawn([process.execPath, "hook", String(event)], {
      ...{ cwd: folder, env, stdout: "pipe", stderr: "ignore" },
      stdin: Buffer.from(JSON.stringify(mapped)),
    }),
  );
  if (!child) {
    release();
    return channel.close();
  }
  channel.onClose = () => child.kill();
  // Neovim and its clients come first. This throws if the program has ended, or the system forbids it.
  attempt(() => setPriority(child.pid, constants.priority.PRIORITY_LOW));
  void Promise.race([child.exited, Bun.sleep(START_MS)]).then(release);
  void new Response(child.stdout).text().then((text) => {
    const answer = parseJson(text);
    if (answer !== undefined) channel.send(JSON.stringify(answerOf(answer, remote)));
    channel.close();
  });
  return child.exited;
}

/** Resolves once a hook may start, to a function that frees its slot; to undefined if the channel has closed. */
async function startingSlot(channel: Channel): Promise<(() => void) | undefined> {
  let isGivenUp = false;
  channel.onClose = () => {
    isGivenUp = true;
  };
  while (starting >= MAX_STARTING && !isGivenUp) await Bun.sleep(START_MS / 10);
  if (isGivenUp) return undefined;
  starting++;
  return () => void starting--;
}

async function runMcp(
  channel: Channel,
  remote: Remote,
  { env, cwd }: { env: Environment; cwd: string },
): Promise<void> {
  const child = Bun.spawn([process.execPath, "mcp"], {
    ...{ cwd, env, stdin: "pipe", stdout: "pipe", stderr: "ignore" },
  });
  const server = new StdioTransport(child.stdout, child.stdin);
  const border = mcpBorder(channel, remote);
  border.onMessage = (text) => server.send(text);
  border.onClose = () => child.kill();
  server.onMessage = (text) => border.send(text);
  await child.exited;
  channel.close();
}

/** Each line of a Stop hook's reason names one file, which the remote may not share. */
function answerOf(answer: unknown, remote: Remote): unknown {
  const all = remote.map.dataToRemote(answer);
  if (!isObject(all) || typeof all.reason !== "string") return all;
  const lines = all.reason.split("\n").map((line) => remote.map.errorToRemote(line));
  return { ...all, reason: lines.join("\n") };
}

/** Undefined if a path is outside of the shared folders. */
function hookInput(value: unknown, { map }: Remote): JsonObject | undefined {
  if (!isObject(value) || isDeep(value)) return undefined;
  const { cwd, tool_input: asked, tool_response: answer, background_tasks: tasks } = value;
  const hostCwd = map.toHost(String(cwd));
  if (hostCwd === undefined) return undefined;
  const input: JsonObject = isObject(asked) ? { ...asked } : {};
  for (const key of ["file_path", "notebook_path"]) {
    if (input[key] === undefined) continue;
    const path = map.toHost(String(input[key]));
    if (path === undefined) return undefined;
    input[key] = path;
  }
  return {
    ...picked(value, PLAIN),
    cwd: hostCwd,
    ...(isObject(asked) && { tool_input: input }),
    ...(isObject(answer) && { tool_response: toolAnswer(answer, map) }),
    // Only their number matters.
    ...(Array.isArray(tasks) && { background_tasks: tasks.map(() => ({})) }),
  };
}

function toolAnswer(answer: JsonObject, map: Remote["map"]): JsonObject {
  const { bashEditDiff: diff } = answer;
  const kept = picked(answer, PLAIN_OF_ANSWER);
  if (!isObject(diff)) return kept;
  const all = (list: unknown): unknown[] => (Array.isArray(list) ? list : []);
  const paths = (list: unknown) => all(list).slice(0, LIMITS.paths) as JsonObject[];
  const cut = Math.max(0, all(diff.changedFiles).length - LIMITS.paths);
  return {
    ...kept,
    bashEditDiff: {
      ...picked(diff, ["moreFiles", "unavailable", "skipped", "shared"]),
      ...(cut > 0 && { moreFiles: (Number(diff.moreFiles) || 0) + cut }),
      changedFiles: paths(diff.changedFiles).flatMap((path) => map.toHost(String(path)) ?? []),
      files: paths(diff.files).flatMap((file) => {
        const filePath = map.toHost(String(file?.filePath));
        return filePath === undefined ? [] : [{ ...file, filePath }];
      }),
    },
  };
}

function picked(from: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.filter((key) => key in from).map((key) => [key, from[key]]));
}

/** The transport of an `nvim-lsp` that runs on this machine for a client in a remote. */
export function mcpBorder(transport: Transport, remote: Remote): Transport {
  return new Border(transport, remote, RULES);
}

/** With these variables, the program and Neovim leave out all files that the remote does not share. */
export function nvimLspEnvironment({ map }: Remote): Record<string, string> {
  return { [SHARED_FOLDERS]: JSON.stringify(map.folders) };
}

/** Paths in an answer are relative to the project's top, or lie in a shared folder. */
const output = (blocks: readonly string[], _asked: unknown, { remote: { map } }: Crossing) =>
  blocks.map((text) => {
    const data = parseJson(text);
    const isData = typeof data === "object" && data !== null;
    return isData ? JSON.stringify(map.dataToRemote(data)) : map.textToRemote(text);
  });

/** An argument has the same meaning in all tools. */
const INPUT: ToolRule["input"] = {
  path: "project",
  within: "project",
  file_path: "project",
  file_paths: "project",
  symbol: "plain",
  line: "plain",
  body: "plain",
  relation: "plain",
  limit: "plain",
  depth: "plain",
};

/** The tools that only read. A remote can neither edit files nor see where the user is. */
const TOOLS = [
  ...["find_symbol", "find_references", "outline"],
  ...["get_diagnostics", "get_diagnostic_context", "get_diagnostic_summary"],
  "get_session_diagnostics",
];

const RULES: Rules = {
  requests: {
    ...SHARED_RULES.requests,
    ...toolRequests(Object.fromEntries(TOOLS.map((name) => [name, { input: INPUT, output }]))),
  },
  reports: SHARED_RULES.reports,
  notifications: {},
};
