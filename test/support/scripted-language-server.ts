/**
 * A language server that finds an error in each line with WRONG, and takes its time as files in the
 * folder FOLDER say: `bun scripted-language-server.ts FOLDER`.
 *
 *   starting   no answer to `initialize` while it is there
 *   indexing   progress ($/progress), and no diagnostics, while it is there
 *   silent     no diagnostics while it is there, and no word why
 *   crash      ends at once
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { receive, send } from "./lsp-stdio";

const folder = process.argv[2] ?? "";
const has = (name: string) => existsSync(join(folder, name));
const STEP_MS = 20;

interface Message {
  id?: number;
  method?: string;
  params?: {
    textDocument?: { uri: string; version: number; text?: string };
    contentChanges?: { text: string }[];
  };
}

async function gone(name: string): Promise<void> {
  while (has(name)) await Bun.sleep(STEP_MS);
}

async function answer({ id, method }: Message): Promise<void> {
  if (method !== "initialize") return send({ id, result: null });
  await gone("starting");
  const textDocumentSync = { openClose: true, change: 1, save: true };
  send({ id, result: { capabilities: { textDocumentSync } } });
}

let texts = Promise.resolve();

async function publish(uri: string, version: number, text: string): Promise<void> {
  const diagnostics = text.split("\n").flatMap((line, at) => {
    const range = { start: { line: at, character: 0 }, end: { line: at, character: 5 } };
    return line.includes("WRONG")
      ? [{ range, severity: 1, message: line, source: "scripted" }]
      : [];
  });
  await indexed();
  await gone("silent");
  send({ method: "textDocument/publishDiagnostics", params: { uri, version, diagnostics } });
}

let token = 0;
async function indexed(): Promise<void> {
  if (!has("indexing")) return;
  const progress = (value: object) => send({ method: "$/progress", params: { token, value } });
  token += 1;
  progress({ kind: "begin", title: "Indexing" });
  while (has("indexing")) {
    await Bun.sleep(STEP_MS * 5);
    progress({ kind: "report", message: "still" });
  }
  progress({ kind: "end" });
}

function onMessage(message: Message): void {
  const { id, method, params } = message;
  if (id !== undefined) void answer(message);
  else if (method === "exit") process.exit(0);
  const document = params?.textDocument;
  const text = document?.text ?? params?.contentChanges?.[0]?.text;
  if (document && text !== undefined && method !== "textDocument/didSave") {
    texts = texts.then(() => publish(document.uri, document.version, text));
  }
}

setInterval(() => {
  if (has("crash")) process.exit(1);
}, STEP_MS);

receive(onMessage);
