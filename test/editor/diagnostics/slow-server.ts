import { spawn } from "node:child_process";
import { receiveBodies, sendBody } from "../../support/lsp-stdio";

/**
 * A real language server as in a big project, where a file is checked for long, and a closed one's
 * list is emptied at once: `bun slow-server.ts MS COMMAND…` passes every message on as it is, in their order,
 * but lists of diagnostics after MS milliseconds.
 */
const [delay = "0", program = "", ...args] = process.argv.slice(2);
const server = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(server.stdin);
process.stdin.on("end", () => server.kill());

const waiting: { body: string; due: number }[] = [];
receiveBodies(server.stdout, (body) => {
  if (!body.includes('"textDocument/publishDiagnostics"')) return sendBody(body);
  const isEmpty = body.includes('"diagnostics":[]');
  waiting.push({ body, due: performance.now() + (isEmpty ? 0 : Number(delay)) });
  if (waiting.length === 1) release();
});

function release(): void {
  while (waiting[0] && waiting[0].due <= performance.now()) sendBody(waiting.shift()?.body ?? "");
  if (waiting.length > 0) setTimeout(release, 20);
}
