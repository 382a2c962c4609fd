import { readFileSync } from "node:fs";
import { relative } from "node:path";
import ts from "typescript";

/** A symbol to ask about, with its uses as TypeScript's own language service knows them. */
export interface TrueSymbol {
  name: string;
  path: string;
  /** From 1. */
  line: number;
  /** `path:line`, definitions left out. */
  lines: Set<string>;
  uses: number;
  /** How often the word stands in the sources. */
  words: number;
}

/** Bounds of uses: some symbols of each kind are asked about. */
const KINDS: [least: number, most: number, count: number][] = [
  [2, 10, 4],
  [11, 100, 4],
  [101, 5_000, 2],
];

/** The symbols of a project to ask about, always the same: half of them unique names, half common ones. */
export function symbolsOf(folder: string): TrueSymbol[] {
  const config = ts.readConfigFile(`${folder}/tsconfig.json`, ts.sys.readFile).config;
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  const service = ts.createLanguageService(hostOf(folder, fileNames, options));
  const texts = fileNames.map((name) => readFileSync(name, "utf8"));
  const all = declarations(service, fileNames).flatMap(({ node, file }) => {
    const words = countWords(texts, node.text);
    return words < 3 ? [] : [{ node, file, words }];
  });
  // In an order that has nothing to do with names and files, and is always the same.
  all.sort((a, b) => order(a.node, a.file) - order(b.node, b.file));
  const chosen: TrueSymbol[] = [];
  for (const [least, most, count] of KINDS) {
    for (const isCommon of [true, false]) {
      const found: TrueSymbol[] = [];
      for (const { node, file, words } of all) {
        if (found.length >= count / 2) break;
        if (words < least || (!isCommon && words > most * 2)) continue;
        const symbol = truth(service, node, file, words, folder);
        const isFit = symbol.uses >= least && symbol.uses <= most;
        const isNamesake = words >= 2 * (symbol.uses + 1);
        if (isFit && isNamesake === isCommon && !chosen.some(({ name }) => name === symbol.name)) {
          found.push(symbol);
        }
      }
      chosen.push(...found);
    }
  }
  return chosen;
}

/** The sum of the characters that a search for the word prints. */
export function grepCharacters(folder: string, name: string): number {
  const args = ["grep", "--no-color", "-n", "-w", "-F", "-e", name];
  return Bun.spawnSync(["git", ...args], { cwd: folder }).stdout.toString().length;
}

function hostOf(
  folder: string,
  names: readonly string[],
  options: ts.CompilerOptions,
): ts.LanguageServiceHost {
  return {
    getScriptFileNames: () => [...names],
    getScriptVersion: () => "1",
    getScriptSnapshot: (name) =>
      ts.sys.fileExists(name)
        ? ts.ScriptSnapshot.fromString(ts.sys.readFile(name) ?? "")
        : undefined,
    getCurrentDirectory: () => folder,
    getCompilationSettings: () => options,
    getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
  };
}

function declarations(
  service: ts.LanguageService,
  names: readonly string[],
): { node: ts.Identifier; file: ts.SourceFile }[] {
  return names.flatMap((name) => {
    const file = service.getProgram()?.getSourceFile(name);
    const found: { node: ts.Identifier; file: ts.SourceFile }[] = [];
    const visit = (node: ts.Node): void => {
      const isOne =
        ts.isFunctionDeclaration(node) ||
        ts.isClassDeclaration(node) ||
        ts.isInterfaceDeclaration(node) ||
        ts.isTypeAliasDeclaration(node) ||
        ts.isMethodDeclaration(node);
      if (isOne && file && node.name && ts.isIdentifier(node.name)) {
        found.push({ node: node.name, file });
      }
      ts.forEachChild(node, visit);
    };
    if (file) visit(file);
    return found;
  });
}

function truth(
  service: ts.LanguageService,
  node: ts.Identifier,
  file: ts.SourceFile,
  words: number,
  folder: string,
): TrueSymbol {
  const at = node.getStart(file);
  const groups = service.findReferences(file.fileName, at) ?? [];
  const own = service.getDefinitionAtPosition(file.fileName, at) ?? [];
  const defined = new Set(own.map((one) => `${one.fileName}:${one.textSpan.start}`));
  const lines = new Set<string>();
  const places = new Set<string>();
  for (const { references } of groups) {
    for (const { fileName, textSpan } of references) {
      const key = `${fileName}:${textSpan.start}`;
      const source = service.getProgram()?.getSourceFile(fileName);
      if (!source || defined.has(key) || places.has(key)) continue;
      places.add(key);
      const { line } = source.getLineAndCharacterOfPosition(textSpan.start);
      lines.add(`${relative(folder, fileName)}:${line + 1}`);
    }
  }
  const { line } = file.getLineAndCharacterOfPosition(at);
  const path = relative(folder, file.fileName);
  return { name: node.text, path, line: line + 1, lines, uses: places.size, words };
}

function countWords(texts: readonly string[], name: string): number {
  const word = new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`, "g");
  return texts.reduce((sum, text) => sum + (text.match(word)?.length ?? 0), 0);
}

function order(node: ts.Identifier, file: ts.SourceFile): number {
  return Number(Bun.hash.crc32(`${file.fileName.split("/src/")[1]} ${node.text} ${node.pos}`));
}
