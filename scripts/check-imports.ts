/**
 * Holds the direction of imports: `bun scripts/check-imports.ts` prints each import that
 * breaks a rule, with the reason for the rule, and then exits 1.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";
import ts from "typescript";

const root = dirname(import.meta.dir);

/** One import of ours by ours. A layer is a folder below src/, or a file there (`main`). */
interface Import {
  from: string;
  to: string;
  lazy: boolean;
}

interface Rule {
  broken: (used: Import) => boolean;
  why: string;
}

const only = (layer: string, ...allowed: string[]) => {
  return ({ from, to }: Import) => from === layer && !allowed.includes(to);
};

const serverParts = ["tools", "notifications", "methods", "resources"];

const rules: Rule[] = [
  {
    broken: only("lib"),
    why: "lib/ is the bottom: it stays usable anywhere only while it knows nobody",
  },
  {
    broken: only("jsonrpc", "lib"),
    why: "jsonrpc/ is a pure protocol layer; it is testable in memory only while it knows nobody but lib/",
  },
  {
    broken: only("mcp", "jsonrpc", "lib"),
    why: "mcp/ speaks to any transport and any set of tools; it knows jsonrpc/ and lib/ alone",
  },
  {
    broken: only("transport", "jsonrpc", "lib"),
    why: "transport/ carries messages without knowing what they mean; it knows jsonrpc/ and lib/ alone",
  },
  {
    broken: ({ from, to }) => serverParts.includes(from) && ["transport", "commands"].includes(to),
    why: "tools, notifications, methods and resources serve every transport alike, so they see none",
  },
  {
    broken: ({ from, to }) => to === "commands" && from !== "main",
    why: "commands/ are the top: what two of them share belongs below, in a folder of its own",
  },
  {
    broken: ({ from, to, lazy }) => from === "main" && to === "commands" && !lazy,
    why: "main loads each command with import(): a hook must not pay for the server's start",
  },
  {
    broken: ({ from, to }) => from === "main" && !["commands", "lib", "version"].includes(to),
    why: "main only chooses a command; the work begins in commands/",
  },
  {
    broken: ({ to }) => to === "main",
    why: "main is the program's start, not a library",
  },
  {
    broken: ({ to }) => to.startsWith("../") && to !== "../package.json",
    why: "the executable is made of src/ alone (and the version in package.json)",
  },
];

/** Lua modules, by how their names begin, that find and start the executable. */
const luaStarters = ["backoff", "binary", "install", "lock", "platform", "process", "server"];
const luaEditor = "claude-code.editor";
const luaWhy =
  "what finds and starts the executable must work, and be testable, without touching buffers";

const found = [...brokenInTypeScript(), ...brokenInLua()];
for (const line of found) console.error(line);
process.exit(found.length > 0 ? 1 : 0);

function* brokenInTypeScript(): Generator<string> {
  const src = join(root, "src");
  for (const file of files(src, "**/*.ts")) {
    for (const { specifier, lazy, line } of importsOf(file)) {
      if (!specifier.startsWith(".")) continue;
      const target = resolve(dirname(file), specifier);
      const used = { from: layerOf(src, file), to: layerOf(src, target), lazy };
      if (used.from === used.to) continue;
      const where = `${relative(root, file)}:${line}: imports ${relative(root, target)}`;
      for (const rule of rules) if (rule.broken(used)) yield `${where}\n  ${rule.why}`;
    }
  }
}

function* brokenInLua(): Generator<string> {
  const plugin = join(root, "lua/claude-code");
  for (const file of files(plugin, "**/*.lua")) {
    if (!luaStarters.some((name) => relative(plugin, file).startsWith(name))) continue;
    const text = readFileSync(file, "utf8");
    for (const match of text.matchAll(/^(?!\s*--).*\brequire\s*\(?\s*["']([\w.-]+)["']/gm)) {
      const name = match[1] ?? "";
      if (name !== luaEditor && !name.startsWith(`${luaEditor}.`)) continue;
      const line = text.slice(0, match.index).split("\n").length;
      yield `${relative(root, file)}:${line}: requires ${name}\n  ${luaWhy}`;
    }
  }
}

function files(folder: string, pattern: string): string[] {
  if (!existsSync(folder)) return [];
  return [...new Glob(pattern).scanSync({ cwd: folder, absolute: true })].sort();
}

/** `src/mcp/server.ts` → `mcp`, `src/main.ts` → `main`, `package.json` → `../package.json`. */
function layerOf(src: string, path: string): string {
  const inside = relative(src, path);
  if (inside.startsWith("..")) return inside;
  return (inside.split("/")[0] ?? "").replace(/\.ts$/, "");
}

/** All imports of a file: static, re-exported, of types (they tie layers too), lazy. */
function importsOf(file: string) {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  const imports: { specifier: string; lazy: boolean; line: number }[] = [];
  const add = (node: ts.Node | undefined, lazy: boolean) => {
    if (!node || !ts.isStringLiteralLike(node)) return;
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    imports.push({ specifier: node.text, lazy, line });
  };
  const visit = (node: ts.Node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, false);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, false);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], true);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return imports;
}
