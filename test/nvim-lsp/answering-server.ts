/**
 * A language server that answers as it is told: `bun answering-server.ts FOLDER`. FOLDER/answers.json
 * maps methods to results, and `capabilities` to what it says it can do. While it runs a command it asks
 * the editor to apply each edit of `applyEdit`; what the editor answers goes into FOLDER/applied.json.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { receive, send } from "../support/lsp-stdio";

const folder = process.argv[2] ?? "";
const waiting = new Map<number, (result: unknown) => void>();
let lastId = 1_000;

interface Message {
  id?: number;
  method?: string;
  result?: unknown;
  params?: unknown;
}

function answers(): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, "answers.json"), "utf8"));
}

function request(method: string, params: unknown): Promise<unknown> {
  const id = lastId++;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

async function answer({ id, method = "" }: Message): Promise<void> {
  const all = answers();
  if (method === "initialize") {
    const capabilities = { textDocumentSync: 1, ...(all.capabilities as object) };
    return send({ id, result: { capabilities } });
  }
  if (method === "workspace/executeCommand") {
    const applied: unknown[] = [];
    for (const edit of all.applyEdit as unknown[]) {
      applied.push(await request("workspace/applyEdit", { edit }));
    }
    writeFileSync(join(folder, "applied.json"), JSON.stringify(applied));
  }
  send({ id, result: all[method] ?? null });
}

function onMessage(message: Message): void {
  const { id, method } = message;
  if (method === "exit") process.exit(0);
  if (method === "textDocument/didOpen" || method === "textDocument/didChange") {
    // Who waits for its report need not wait for ever.
    const { textDocument } = message.params as { textDocument: { uri: string; version: number } };
    send({
      method: "textDocument/publishDiagnostics",
      params: { ...textDocument, diagnostics: [] },
    });
  }
  if (id === undefined) return;
  if (method !== undefined) return void answer(message);
  waiting.get(id)?.(message.result);
  waiting.delete(id);
}

receive(onMessage);
