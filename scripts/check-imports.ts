/**
 * Checks the direction of imports. `bun scripts/check-imports.ts` prints each import that breaks a rule, with the
 * reason for the rule, each cycle of files, each pair of folders that import each other, and each file of src/ that
 * opens files by name without permission. It then exits 1. It reads all of lua/, plugin/ and src/: a `require` in a
 * function and an import of a type count, too.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { cycles, type Import } from "./imports/cycles";
import { foldersBothWays } from "./imports/folders";
import { luaImports } from "./imports/lua";
import { typescriptImports } from "./imports/typescript";

interface Rule {
  breaks: (used: Import) => boolean;
  why: string;
}

const ROOT = dirname(import.meta.dir);
const LUA = "lua/claude-code/";
const TOP = "lua/claude-code";
const DISPATCHER = `${LUA}editor/init.lua`;

const luaRules: Rule[] = [
  {
    breaks: ({ from, to }) => isIn(from, "server", "install", "messages") && isIn(to, "editor"),
    why: "what finds and starts the executable, and what reports, works without touching buffers",
  },
  {
    breaks: ({ from, to }) => isIn(from, "explorers") && !isIn(to, "explorers"),
    why: "an explorer's adapter answers which paths are on screen; it needs nobody for that",
  },
  {
    breaks: ({ from, to }) =>
      isIn(from, "editor/changes", "editor/windows") && isIn(to, "editor/diff", "editor/review"),
    why: "a diff and a review both show hunks by editor/changes/ and windows/, which know neither",
  },
  {
    breaks: ({ from, to }) => isIn(from, "editor/review") && isIn(to, "editor/diff"),
    why: "what both need is in editor/changes/; only an accepted diff reports to the review",
  },
  {
    breaks: ({ to }) => to === DISPATCHER,
    why: "editor/init.lua requires everything below it; the executable alone calls it, by RPC",
  },
  {
    breaks: ({ from, to }) =>
      from === `${LUA}server/channel.lua` && !isIn(to, "lib") && !isIn(to, "messages"),
    why: "anything may send by the channel, so it requires only lib/ and messages/",
  },
  {
    breaks: ({ from, to }) => isIn(from, "messages") && !isIn(to, "messages"),
    why: "everything reports by messages/, so it requires nobody; config sets its level",
  },
  {
    breaks: ({ from, to }) => isIn(from, "config") && !isIn(to, "config", "messages"),
    why: "everything asks config for its options, so it requires nobody but messages/",
  },
  {
    breaks: ({ from, to }) => isIn(from, "lib") && !isIn(to, "lib", "messages"),
    why: "anything may require lib/, so it requires nobody but messages/",
  },
  {
    breaks: ({ from }) => from === `${LUA}install/contract.lua`,
    why: "a leaf: anything may require it, so it requires nobody",
  },
  {
    breaks: ({ from, to }) => dirname(from) !== TOP && dirname(to) === TOP && !mayUseTop(from),
    why: "what lies at the top is what users and Neovim call; commands/ and plugin/ alone require it",
  },
  {
    breaks: ({ to }) => !to.endsWith(".lua"),
    why: "there is no such module",
  },
];

/**
 * The folders of src/ from the bottom up. Each may import itself, lib/ and these folders; the text says why no more.
 */
const LAYERS: Record<string, [imports: string, why: string]> = {
  lib: ["package.json", "it stays usable anywhere only while it knows nobody but the version"],
  jsonrpc: ["", "a pure protocol layer, testable in memory"],
  transport: ["jsonrpc", "it carries messages without knowing what they mean"],
  mcp: ["jsonrpc", "it serves any transport and any set of tools"],
  editor: ["", "the port: what the editor can do, not how Neovim does it"],
  neovim: ["editor", "it implements the port; which Neovim, and what for, others decide"],
  claude: ["", "what is Claude Code's own (its files, CLI and hooks), whoever asks"],
  locate: ["editor neovim", "it finds a Neovim for hooks, nvim-lsp, setup and doctor alike"],
  methods: ["editor jsonrpc mcp", "they serve every transport and either server alike"],
  ide: ["claude editor jsonrpc mcp methods", "it sees neither Neovim itself nor a transport"],
  remote: [
    "claude editor ide jsonrpc mcp mod nvim-lsp review transport",
    "it stands between a server and clients elsewhere: the server does not know it",
  ],
  language: ["claude editor locate review", "how it is called, tools know"],
  "nvim-lsp": [
    "claude editor language locate mcp methods neovim review",
    "a program of its own, without the server that the CLI connects to",
  ],
  review: ["claude editor", "it works on records and files: hooks use it where no Neovim runs"],
  hooks: ["claude editor locate neovim review", "a hook must not pay for a server"],
  mod: [
    "claude editor ide transcript",
    "it makes the plugin for CLIs and serves its mods, whoever asks them",
  ],
  sessions: ["claude editor mod transcript", "it reads what the CLI has written, whoever shows it"],
  worktrees: ["claude review sessions", "its git, journal and writing of files are the review's"],
  prompt: ["claude language review", "it knows what a prompt can name, whoever shows it"],
  transcript: ["claude editor review", "it reads what the CLI writes, whoever shows it"],
  setup: ["claude locate mod", "it edits a project's files, without a server or a connection"],
  doctor: ["claude editor ide locate neovim setup", "it looks at everything and serves nothing"],
  main: ["commands", "it only chooses a command"],
};

const typescriptRules: Rule[] = [
  ...Object.entries(LAYERS).map(([layer, [imports, why]]) => ({
    breaks: ({ from, to }: Import) =>
      layerOf(from) === layer && ![layer, "lib", ...imports.split(" ")].includes(layerOf(to)),
    why: `${layer}: ${why}`,
  })),
  {
    breaks: ({ from }) => !["commands", ...Object.keys(LAYERS)].includes(layerOf(from)),
    why: "a folder of src/ that LAYERS does not name yet",
  },
  {
    breaks: ({ from, to }) => layerOf(from) === "commands" && !isBelow(to),
    why: "commands/ are the top; main is the program's start, not a library",
  },
  {
    breaks: ({ from, to, lazy }) => layerOf(from) === "main" && layerOf(to) === "commands" && !lazy,
    why: "main loads each command with import(): a hook must not pay for the server's start",
  },
];

/** The functions with which a file opens files outside of a project, or follows symlinks for the user. */
const OPENERS = `
src/claude/left-behind.ts readFileSync readlinkSync
src/mod/plugin.ts mkdirSync mkdtempSync renameSync rmSync symlinkSync writeFileSync
src/claude/settings-files.ts readText
src/commands/uninstall.ts readlinkSync renameSync rmSync
src/hooks/permission.ts readText
src/ide/tools/diffs.ts writeText
src/locate/project-file.ts readText rmSync
src/mod/socket.ts chmodSync
src/prompt/endpoint.ts withRegular
src/remote/conversation.ts withRegular writeFileSync
src/remote/endpoint.ts mkdtempSync readText rmSync
src/review/commit/commit.ts copyFileSync mkdtempSync rmSync
src/review/commit/follow.ts rmSync
src/review/git/differing.ts chmodSync readRegular utimesSync writeFileSync
src/review/journal/append.ts openSync
src/review/journal/blobs.ts readRegular utimesSync writeFileSync
src/review/journal/folder.ts utimesSync writeFileSync
src/review/journal/prune.ts readRegular rmSync utimesSync
src/review/journal/read.ts openIfThere readText writeFileSync
src/review/journal/rewrite.ts linkSync readRegular rmSync writeFileSync
src/review/record/compare.ts readRegular
src/review/record/comparison-request.ts rmSync
src/review/record/snapshot.ts rmSync
src/sessions/conversations.ts withRegular
src/setup/plan.ts copyFileSync linkSync mkdirSync rmSync symlinkSync
src/setup/step.ts mkdirSync readRegular unlinkSync writeText
src/transcript/file.ts withRegular
src/worktrees/merge.ts mkdtempSync rmSync writeFileSync
`.split("\n");
const IMPORTS =
  /^import (?!type)([^"]*?) from "(?:node:fs|[./]*lib\/(?:read-regular|atomic-write))"/gm;
const HARMLESS =
  /^(type .*|constants|watch|readRange|(exists|l?stat|fstat|realpath|readdir|close|write)Sync|draftOf|keptMode|removeOld(Drafts)?|replace|writePrivateFile|OwnFile)?$/;
const WHOLE = /\bBun\.(file|write)\b|(?<=\()"(node:)?fs"|"(node:)?fs\/promises"|from "fs"/g;
const openers = [...new Glob("src/**/*.ts").scanSync({ cwd: ROOT })].flatMap((file) => {
  const text = file.startsWith("src/lib/") ? "" : readFileSync(join(ROOT, file), "utf8");
  const allowed = OPENERS.find((line) => line.startsWith(`${file} `))?.split(" ");
  const names = [...text.matchAll(IMPORTS)].flatMap(([, list = ""]) => list.split(/[{},]/));
  return [...names.map((name) => name.trim()), ...(text.match(WHOLE) ?? [])]
    .filter((name) => !HARMLESS.test(name) && !allowed?.includes(name))
    .map((name) => `${file}: ${name} opens by name; src/lib/below.ts opens a project's files`);
});

const lua = luaImports(ROOT);
const typescript = typescriptImports(ROOT);
const findings = [
  ...problems(lua, luaRules),
  ...problems(typescript, typescriptRules),
  ...pairsOfFolders([...lua, ...typescript]),
  ...openers,
];
for (const finding of findings) console.error(finding);
process.exit(findings.length > 0 ? 1 : 0);

function problems(imports: readonly Import[], rules: readonly Rule[]): string[] {
  const broken = imports.flatMap((used) =>
    rules
      .filter((rule) => rule.breaks(used))
      .map((rule) => `${used.from}:${used.line}: imports ${used.to}\n  ${rule.why}`),
  );
  const circles = cycles(imports).map((circle) => `a circle: ${circle.join("\n  > ")}`);
  return [...broken, ...circles];
}

function pairsOfFolders(imports: readonly Import[]): string[] {
  return foldersBothWays(imports).map(
    (folders) => `${folders.join(" <> ")}: these folders need each other; one direction is enough`,
  );
}

/** The dispatch table answers the executable's requests for the status. */
function mayUseTop(from: string): boolean {
  return isIn(from, "commands") || !from.startsWith(LUA) || from === DISPATCHER;
}

function isIn(file: string, ...folders: string[]): boolean {
  return folders.some((folder) => file.startsWith(`${LUA}${folder}/`));
}

function isBelow(path: string): boolean {
  return ["commands", ...Object.keys(LAYERS)].includes(layerOf(path)) && layerOf(path) !== "main";
}

/** `src/mcp/server.ts` → `mcp`, `src/main.ts` → `main`, `package.json` → `package.json`. */
function layerOf(path: string): string {
  return path.replace(/^src\/([^/]+?)(\.ts$|\/.*)/, "$1");
}
