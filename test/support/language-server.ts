/**
 * A language server for files `*.txt` of a project, as files beside them say:
 * `bun language-server.ts SWITCHES [PROJECT [ENCODING]]`. `def NAME` defines a name; lines that begin
 * with `#` are comments; every other word is a use, and WRONG an error of its line. Files in the folder SWITCHES:
 *
 *   answers    JSON that maps methods to results, or `{ error }`, and `capabilities` to what it can do; then it
 *              knows nothing else
 *   starting   no answer to `initialize` while it is there
 *   indexing   progress ($/progress), no diagnostics, and only what open files hold, while it is there
 *   silent     no diagnostics while it is there, and no explanation
 *   hang       no answer to a question while it is there
 *   modified   each question is answered with ContentModified, and one byte taken from this file
 *   crash      the server ends at the next question, or at once if one of the above is there
 *   pull       diagnostics are sent on request only, never published
 *   private    uses are found in private files, too
 *   log        written by the server: what it received
 */
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "../../src/lib/platform";
import { receive, send } from "./lsp-stdio";

const [switches = "", project = process.cwd(), encoding = "utf-16"] = process.argv.slice(2);
const has = (name: string) => existsSync(join(switches, name));
const log = (text: string) => appendFileSync(join(switches, "log"), `${text}\n`);
const STEP_MS = 10;

interface Position {
  line: number;
  character: number;
}
interface Message {
  id?: number;
  method?: string;
  params?: {
    textDocument?: { uri: string; version: number; text?: string };
    contentChanges?: { text: string }[];
    changes?: { uri: string; type: number }[];
    position?: Position;
    query?: string;
    newName?: string;
    id?: number;
  };
}

const open = new Map<string, string>();
/** Read at the start, and again when the client says that they changed, as real servers do. */
const known = new Map<string, string>();

function read(name: string): void {
  const path = join(project, name);
  const uri = pathToFileURL(path).href;
  if (existsSync(path)) known.set(uri, readFileSync(path, "utf8"));
  else known.delete(uri);
}

function readAll(): void {
  for (const name of readdirSync(project, { recursive: true }) as string[]) {
    if (name.endsWith(".txt") || (has("private") && name.endsWith(".env"))) read(name);
  }
}

const width = (text: string) => (encoding === "utf-8" ? Buffer.byteLength(text) : text.length);

interface Place {
  uri: string;
  range: { start: Position; end: Position };
}

function places(name: string, prefix = ""): Place[] {
  const texts = has("indexing") ? open : new Map([...known, ...open]);
  const found: Place[] = [];
  for (const [uri, text] of texts) {
    for (const [line, content] of text.split("\n").entries()) {
      if (content.startsWith("#")) continue;
      for (const match of content.matchAll(new RegExp(`${prefix}\\b${name}\\b`, "g"))) {
        const at = width(content.slice(0, match.index + prefix.length));
        const start = { line, character: at };
        found.push({ uri, range: { start, end: { line, character: at + width(name) } } });
      }
    }
  }
  return found;
}

function wordAt(uri: string, { line, character }: Position): string | undefined {
  const content = (open.get(uri) ?? "").split("\n")[line] ?? "";
  if (content.startsWith("#")) return undefined;
  for (const match of content.matchAll(/\w+/g)) {
    const at = width(content.slice(0, match.index));
    if (at <= character && character < at + match[0].length) return match[0];
  }
  return undefined;
}

function result({ method, params }: Message): unknown {
  const uri = params?.textDocument?.uri ?? "";
  const word = params?.position && wordAt(uri, params.position);
  switch (method) {
    case "textDocument/definition":
      return word ? places(word, "def ") : null;
    case "textDocument/references":
      return word ? places(word) : null;
    case "textDocument/hover":
      return word && { contents: { kind: "markdown", value: `\`\`\`txt\ndef ${word}\n\`\`\`` } };
    case "textDocument/diagnostic":
      return { kind: "full", items: problems(open.get(uri) ?? "") };
    case "textDocument/rename":
      return word && { changes: renamed(places(word), params.newName ?? "") };
    case "workspace/symbol":
      return places("\\w+", "def ").flatMap((location) => {
        const text = new Map([...known, ...open]).get(location.uri)?.split("\n");
        const name = /def (\w+)/.exec(text?.[location.range.start.line] ?? "")?.[1] ?? "";
        return name.includes(params?.query ?? "") ? [{ name, kind: 12, location }] : [];
      });
    default:
      return null;
  }
}

function renamed(list: readonly Place[], newText: string): Record<string, object[]> {
  const changes: Record<string, object[]> = {};
  for (const { uri, range } of list) {
    changes[uri] = [...(changes[uri] ?? []), { range, newText }];
  }
  return changes;
}

const CAPABILITIES = {
  textDocumentSync: { openClose: true, change: 1, save: true },
  positionEncoding: encoding,
  definitionProvider: true,
  referencesProvider: true,
  hoverProvider: true,
  renameProvider: true,
  workspaceSymbolProvider: true,
  ...(has("pull") && { diagnosticProvider: {} }),
};

/** The answers that it is told to give. */
function tell(): Record<string, unknown> | undefined {
  const path = join(switches, "answers");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

async function gone(name: string, meanwhile = () => {}): Promise<void> {
  while (has(name)) {
    if (has("crash")) process.exit(3);
    meanwhile();
    await Bun.sleep(STEP_MS);
  }
}

async function answer(message: Message): Promise<void> {
  const { id, method } = message;
  if (method === "initialize") {
    await gone("starting");
    const capabilities = { ...CAPABILITIES, ...(tell()?.capabilities as object) };
    return send({ id, result: { capabilities } });
  }
  if (method === "shutdown") return send({ id, result: null });
  if (has("crash")) process.exit(3);
  await gone("hang");
  const left = has("modified") ? readFileSync(join(switches, "modified"), "utf8") : "";
  if (left !== "") {
    writeFileSync(join(switches, "modified"), left.slice(1));
    return send({ id, error: { code: -32801, message: "content modified" } });
  }
  const told = (tell()?.[method ?? ""] ?? null) as { error?: string } | null;
  if (told?.error) return send({ id, error: { code: -32803, message: told.error } });
  send({ id, result: tell() ? told : (result(message) ?? null) });
}

let token = 0;
async function indexed(): Promise<void> {
  if (!has("indexing")) return;
  token += 1;
  const own = token;
  const progress = (value: object) => send({ method: "$/progress", params: { token: own, value } });
  progress({ kind: "begin", title: "Indexing" });
  await gone("indexing", () => progress({ kind: "report", message: "still" }));
  progress({ kind: "end" });
}

function problems(text: string): object[] {
  return text.split("\n").flatMap((message, line) => {
    const range = { start: { line, character: 0 }, end: { line, character: 5 } };
    return message.includes("WRONG") ? [{ range, severity: 1, message, source: "scripted" }] : [];
  });
}

let published = Promise.resolve();
async function publish(uri: string, version: number, text: string): Promise<void> {
  const diagnostics = problems(text);
  await indexed();
  await gone("silent");
  send({ method: "textDocument/publishDiagnostics", params: { uri, version, diagnostics } });
}

function onMessage(message: Message): void {
  const { id, method, params } = message;
  log(method === "$/cancelRequest" ? `cancel ${params?.id}` : String(method));
  if (id !== undefined && method) void answer(message);
  if (method === "initialized") void indexed().then(readAll);
  if (method === "exit") process.exit(0);
  const {
    uri = "",
    version = 0,
    text = params?.contentChanges?.[0]?.text ?? "",
  } = params?.textDocument ?? {};
  if (method === "textDocument/didOpen" || method === "textDocument/didChange") {
    open.set(uri, text);
    if (!has("pull")) published = published.then(() => publish(uri, version, text));
  }
  if (method === "textDocument/didClose") open.delete(uri);
  if (method === "workspace/didChangeWatchedFiles") {
    for (const change of params?.changes ?? []) log(`${change.type} ${change.uri}`);
    readAll();
  }
}

receive(onMessage);
