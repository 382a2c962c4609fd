/**
 * Holds the direction of imports: `bun scripts/check-imports.ts` prints each import that breaks a
 * rule, with the reason for the rule, and each circle, and then exits 1. It reads every file of
 * lua/, plugin/ and src/ whole: what a function requires later, and a type alone, count as well.
 */
import { dirname } from "node:path";
import { cycles, type Import } from "./imports/cycles";
import { luaImports } from "./imports/lua";
import { typescriptImports } from "./imports/typescript";

interface Rule {
  breaks: (used: Import) => boolean;
  why: string;
}

const ROOT = dirname(import.meta.dir);
const LUA = "lua/claude-code/";
const DISPATCHER = `${LUA}editor/init.lua`;

/** Imports that break a rule or close a circle today. Only ever remove lines; it ends empty. */
const NOT_YET: string[] = [];

const luaRules: Rule[] = [
  {
    breaks: ({ from, to }) => isIn(from, "server", "install", "messages") && isIn(to, "editor"),
    why: "what finds and starts the executable, and what reports, works without touching buffers",
  },
  {
    breaks: ({ to }) => to === DISPATCHER,
    why: "editor/init.lua requires everything below it; the executable alone calls it, by RPC",
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
    breaks: ({ from }) => ["timer.lua", "server/contract.lua"].some((leaf) => from === LUA + leaf),
    why: "a leaf: anything may require it, so it requires nobody",
  },
  {
    breaks: ({ from, to }) => from === `${LUA}events.lua` && !isIn(to, "messages"),
    why: "any part may fire an event, so events.lua requires nobody but messages/",
  },
  {
    breaks: ({ to }) => !to.endsWith(".lua"),
    why: "there is no such module",
  },
];

/** Folders of src/, each with the folders that it may import. Every other import is refused. */
const only = (layer: string, ...allowed: string[]) => {
  return ({ from, to }: Import) =>
    layerOf(from) === layer && ![layer, ...allowed].includes(layerOf(to));
};

const typescriptRules: Rule[] = [
  {
    breaks: only("lib"),
    why: "lib/ is the bottom: it stays usable anywhere only while it knows nobody",
  },
  {
    breaks: only("jsonrpc", "lib"),
    why: "jsonrpc/ is a pure protocol layer, testable in memory while it knows nobody but lib/",
  },
  {
    breaks: only("mcp", "jsonrpc", "lib"),
    why: "mcp/ serves any transport and any set of tools; it knows jsonrpc/ and lib/ alone",
  },
  {
    breaks: only("transport", "jsonrpc", "lib"),
    why: "transport/ carries messages without knowing what they mean; it knows jsonrpc/ and lib/ alone",
  },
  {
    breaks: only("claude", "lib"),
    why: "claude/ is what is Claude Code's own (its files, CLI and hooks), whoever asks; it knows lib/ alone",
  },
  {
    breaks: only("editor", "jsonrpc", "lib"),
    why: "editor/ is the port: what the editor can do, not how Neovim does it",
  },
  {
    breaks: only("neovim", "editor", "lib"),
    why: "neovim/ implements the port by RPC; which Neovim, and what for, others decide",
  },
  {
    breaks: only("locate", "neovim", "editor", "lib"),
    why: "locate/ finds a Neovim for hooks, the stdio server, set-up and doctor alike",
  },
  {
    breaks: only("setup", "claude", "locate", "lib"),
    why: "setup/ edits a project's files; it needs no server and no connection",
  },
  {
    breaks: only("package", "lib", "version"),
    why: "package/ lays out files for packagers, where neither Claude nor Neovim may exist",
  },
  {
    breaks: ({ from, to }) => {
      const serves = ["ide/tools", "ide/notifications", "methods", "nvim-lsp/tools"];
      const isServed = serves.some((folder) => from.startsWith(`src/${folder}/`));
      return isServed && ["transport", "commands"].includes(layerOf(to));
    },
    why: "tools, notifications and methods serve every transport alike, so they see none",
  },
  {
    breaks: ({ from, to }) =>
      layerOf(to) === "commands" && !["main", "commands"].includes(layerOf(from)),
    why: "commands/ are the top: what two of them share belongs below, in a folder of its own",
  },
  {
    breaks: ({ from, to, lazy }) => layerOf(from) === "main" && layerOf(to) === "commands" && !lazy,
    why: "main loads each command with import(): a hook must not pay for the server's start",
  },
  {
    breaks: only("main", "commands", "lib", "version"),
    why: "main only chooses a command; the work begins in commands/",
  },
  {
    breaks: ({ to }) => layerOf(to) === "main",
    why: "main is the program's start, not a library",
  },
  {
    breaks: ({ to }) => !to.startsWith("src/") && to !== "package.json",
    why: "the executable is made of src/ alone (and the version in package.json)",
  },
];

const findings = [
  ...problems(luaImports(ROOT), luaRules),
  ...problems(typescriptImports(ROOT), typescriptRules),
];
for (const finding of findings) console.error(finding);
process.exit(findings.length > 0 ? 1 : 0);

function problems(all: readonly Import[], rules: readonly Rule[]): string[] {
  const imports = all.filter(({ from, to }) => !NOT_YET.includes(`${from} > ${to}`));
  const broken = imports.flatMap((used) =>
    rules
      .filter((rule) => rule.breaks(used))
      .map((rule) => `${used.from}:${used.line}: imports ${used.to}\n  ${rule.why}`),
  );
  const circles = cycles(imports).map((circle) => `a circle: ${circle.join("\n  > ")}`);
  return [...broken, ...circles];
}

function isIn(file: string, ...folders: string[]): boolean {
  return folders.some((folder) => file.startsWith(`${LUA}${folder}/`));
}

/** `src/mcp/server.ts` → `mcp`, `src/main.ts` → `main`, `package.json` → `package.json`. */
function layerOf(path: string): string {
  return path.replace(/^src\/([^/]+?)(\.ts$|\/.*)/, "$1");
}
