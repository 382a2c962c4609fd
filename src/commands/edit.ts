import { tmpdir } from "node:os";
import { claudeFolder } from "../claude/config-dir";
import { sessionNumber } from "../hooks/call";
import { message } from "../lib/errors";
import { stateLog } from "../lib/log";
import { isBelow, realPath } from "../lib/paths";
import { basename, IS_WINDOWS, resolve } from "../lib/platform";
import { isAlive } from "../lib/process";
import { findNeovim } from "../locate/find";
import { usageError } from "./arguments";

const ANSWER_MS = 2_000;

/**
 * `claude-code-nvim edit [-g] FILE[:LINE]` is the $VISUAL of the CLIs that the plugin starts. It opens the CLI's own
 * files in its Neovim, and waits until the user closes them. Other programs that inherit the variable, such as git in
 * Claude's shell, get the user's own editor.
 */
export async function edit(args: string[]): Promise<number> {
  if (args[0] === "--commit") return editMessage(args[2] ?? "", Number(args[1]));
  const { path, line } = fileOf(args);
  if (path === undefined) throw usageError("edit needs a file", "edit [-g] FILE[:LINE]");
  const kind = process.env.CLAUDECODE === "1" ? undefined : kindOf(path);
  if (kind !== undefined && (await editInNeovim(path, line, kind)) !== undefined) return 0;
  return editElsewhere(args[0] === "-g" ? [path] : args);
}

/**
 * `edit --commit PID FILE` edits the message of a commit that the executable with the id PID makes. Exits with 1, so
 * that git makes no commit, if the user did not write the message, or if the executable is gone: it could not record
 * the commit.
 */
async function editMessage(path: string, pid: number): Promise<number> {
  const written = await editInNeovim(path, undefined, "commit");
  return written === true && isAlive(pid) ? 0 : 1;
}

/** The CLI (2.1.330) passes `-g FILE:LINE`: our name contains "code", so it takes us for VS Code. */
function fileOf(args: string[]): { path: string | undefined; line: number | undefined } {
  const given = args.findLast((arg) => !arg.startsWith("-") && !arg.startsWith("+"));
  const [, file, line] = (args[0] === "-g" && /^(.*?):(\d+)(?::\d+)?$/s.exec(given ?? "")) || [];
  return { path: file ?? given, line: line === undefined ? undefined : Number(line) };
}

/** The CLI's names for its temporary files (2.1.330). */
const PROMPT = /^claude-prompt-[0-9a-f-]+\.md$/;
const TRANSCRIPT = /^cc-transcript-[0-9a-f]+\.txt$/;
const MEMORY = /^CLAUDE(\.local)?\.md$/;

/** The kind of one of the CLI's own files; undefined for any other file. */
function kindOf(given: string): "prompt" | "transcript" | "document" | undefined {
  const path = realPath(resolve(given));
  const name = basename(path);
  const isTemporary = isBelow(path, realPath(process.env.CLAUDE_CODE_TMPDIR ?? tmpdir()));
  if (isTemporary && PROMPT.test(name)) return "prompt";
  if (isTemporary && TRANSCRIPT.test(name)) return "transcript";
  const isOwn = isBelow(path, realPath(claudeFolder())) && name.endsWith(".md");
  return isOwn || MEMORY.test(name) ? "document" : undefined;
}

/** Resolves to Neovim's answer once the user closes the file; to undefined if Neovim did not open it, or has ended. */
async function editInNeovim(
  path: string,
  line: number | undefined,
  kind: string,
): Promise<unknown> {
  const log = stateLog("hooks.log");
  try {
    const plugin = await findNeovim([process.cwd()], log);
    if (!plugin) return undefined;
    const n = sessionNumber();
    const request = { path: resolve(path), kind, ...(n && { n }), ...(line && { line }) };
    const times = { limitMs: Number.POSITIVE_INFINITY, answerMs: ANSWER_MS };
    const value = await plugin.callLate("prompt_edit", request, times);
    plugin.close();
    return value;
  } catch (error) {
    log.error(`${path} was not opened in Neovim: ${message(error)}`);
    return undefined;
  }
}

/** A Neovim that Claude's shell started has recorded this command as the user's editor. */
const OURSELVES = /\bclaude-code-nvim['"]?\s+edit\b/;

/**
 * Runs the user's own $VISUAL or $EDITOR through a shell, as git does; on Windows without one. Runs `vi` or `notepad` if
 * that is this command again. The editor does not inherit our variables.
 */
function editElsewhere(args: string[]): number {
  const { CLAUDE_CODE_NVIM_EDITOR: given, VISUAL: _, ...env } = process.env;
  const editor = given && !OURSELVES.test(given) ? given : IS_WINDOWS ? "notepad" : "vi";
  const words = IS_WINDOWS
    ? [...editor.split(" "), ...args]
    : ["/bin/sh", "-c", `${editor} "$@"`, editor, ...args];
  const stdio = ["inherit", "inherit", "inherit"] as ["inherit", "inherit", "inherit"];
  return Bun.spawnSync(words, { stdio, env }).exitCode;
}
