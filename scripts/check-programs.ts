/**
 * No program of a project may run. `bun scripts/check-programs.ts` prints each place in lua/, plugin/ and src/ that
 * starts or looks up a program without being listed below, and then exits 1. It also finds Ex commands that are
 * composed as strings: a name in one may contain a line end or a bar. And it finds what asks for the system, or takes
 * its path functions, elsewhere than in lib/platform.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";

const ROOT = dirname(import.meta.dir);
const LUA = "lua/claude-code";

/** Files that start programs, and the source of the absolute path. */
const STARTS: Record<string, string> = {
  [`${LUA}/commands/complete.lua`]: "git, by on_path()",
  [`${LUA}/editor/diff/merge.lua`]: "git, by on_path()",
  [`${LUA}/install/executable.lua`]: "the executable and others, by install/init, on_path()",
  [`${LUA}/server/process.lua`]: "the executable, by install/init",
  [`${LUA}/terminal/start.lua`]: "the Claude CLI, by claude/cli",
  [`${LUA}/terminal/providers/native.lua`]: "the Claude CLI, by claude/cli",
  [`${LUA}/terminal/providers/tmux.lua`]: "tmux, by on_path()",
  "src/claude/cli.ts": "the Claude CLI, by onPath()",
  "src/commands/edit.ts": "the user's own editor, by /bin/sh as git does",
  "src/review/record/comparison-request.ts": "itself",
  "src/remote/helpers.ts": "itself",
  "src/remote/link.ts": "what starts the relay, by onPath()",
  "src/review/git/run.ts": "git, by onPath()",
  "src/sessions/place.ts": "ps, by onPath()",
};

const STARTING =
  /\bvim\.lsp\.rpc\.start\b|\bvim\.(fn\.)?(system|systemlist|jobstart|termopen)\b|\buv\.spawn\b|\bio\.popen\b|\bos\.execute\b|\bBun\.(spawn|spawnSync|\$)|node:child_process|\bimport \{ ?\$/;
const ASKING =
  /\bprocess\.platform\b|from "(node:)?path"|\bhas\("(win32|win64|mac|unix|wsl)"\)|\bos_uname\b|\bjit\.os\b/;
const LOOKING_UP = /\bvim\.fn\.(exepath|executable)\b|\bBun\.which\b/;

/** Files that run a composed Ex command, and the source of its text. */
const COMMANDS: Record<string, string> = {
  [`${LUA}/commands/init.lua`]: "what the user typed after a bar",
  [`${LUA}/terminal/window/buffer.lua`]: "a number and our own name, quoted",
};
const COMMAND =
  /\bvim\.cmd\s*[(,](?!\s*"[^"\n]*"\s*\))|\bvim\.cmd\.(lua|execute)\b|\bvim\.fn\.execute\((?!\s*"[^"\n]*"\s*\))|\bnvim_(command|exec2?)\b/g;

if (import.meta.main) {
  const files = [...new Glob("{lua,plugin,src}/**/*.{lua,ts}").scanSync({ cwd: ROOT })].sort();
  const findings = files.flatMap((file) =>
    problemsOf(file, readFileSync(join(ROOT, file), "utf8")),
  );
  for (const finding of findings) console.error(finding);
  process.exit(findings.length > 0 ? 1 : 0);
}

export function problemsOf(file: string, text: string): string[] {
  return [...commandProblems(file, text), ...programProblems(file, text)];
}

function commandProblems(file: string, text: string): string[] {
  if (!file.endsWith(".lua") || file in COMMANDS) return [];
  const code = text.replaceAll(/^\s*--.*$/gm, (comment) => " ".repeat(comment.length));
  return [...code.matchAll(COMMAND)].map(({ index }) => {
    const row = text.slice(0, index).split("\n").length;
    return `${file}:${row}: a command of a string: use vim.cmd.NAME({ … }), with magic.file false for a name`;
  });
}

function programProblems(file: string, text: string): string[] {
  return text.split("\n").flatMap((line, index) => {
    const place = `${file}:${index + 1}: ${line.trim()}\n  `;
    if (ASKING.test(line) && !/\/lib\/platform\.\w+$/.test(file))
      return [`${place}lib/platform knows the system and its paths: tests set another one there`];
    if (LOOKING_UP.test(line)) return [`${place}it looks in the project, too: use on_path()`];
    if (!STARTING.test(line) || file in STARTS) return [];
    return [`${place}which program, by on_path()? Say so in STARTS of scripts/check-programs.ts`];
  });
}
