import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";
import ts from "typescript";
import type { Import } from "./cycles";

/** The imports in src/: static and lazy ones, re-exports, and imports of types. */
export function typescriptImports(root: string): Import[] {
  const files = [...new Glob("src/**/*.ts").scanSync({ cwd: root })].sort();
  return files.flatMap((from) =>
    specifiersOf(join(root, from))
      // A Lua file is imported as text.
      .filter(({ specifier }) => specifier.startsWith(".") && !specifier.endsWith(".lua"))
      .map(({ specifier, line, lazy }) => {
        const target = resolve(root, dirname(from), specifier);
        return { from, to: relative(root, withEnding(target)), line, lazy };
      }),
  );
}

function withEnding(target: string): string {
  const candidates = [`${target}.ts`, join(target, "index.ts"), target];
  return candidates.find((path) => existsSync(path)) ?? target;
}

function specifiersOf(file: string) {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  const found: { specifier: string; line: number; lazy: boolean }[] = [];
  const add = (node: ts.Node | undefined, lazy: boolean) => {
    if (!node || !ts.isStringLiteralLike(node)) return;
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    found.push({ specifier: node.text, line, lazy });
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
  return found;
}
