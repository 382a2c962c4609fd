/**
 * A real language server whose diagnostics come late: `bun slow-server.ts MS HOLD COMMAND…` passes
 * every message on as it is, `textDocument/publishDiagnostics` after MS milliseconds and once there is
 * no file HOLD, in their order.
 */
import { existsSync } from "node:fs";

const [delay = "0", hold = "", ...command] = process.argv.slice(2);
const server = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });

process.stdin.on("data", (chunk) => {
  server.stdin.write(chunk);
  server.stdin.flush();
});
process.stdin.on("end", () => server.kill());

const waiting: Buffer[] = [];
let held = Buffer.alloc(0);
for await (const chunk of server.stdout) {
  held = Buffer.concat([held, chunk]);
  for (let message = next(); message; message = next()) pass(message);
}

/** The next whole message, header included. */
function next(): Buffer | undefined {
  const head = held.indexOf("\r\n\r\n");
  const length = Number(/Content-Length: (\d+)/i.exec(held.toString("latin1", 0, head + 4))?.[1]);
  const end = head + 4 + length;
  if (head < 0 || held.length < end) return undefined;
  const message = held.subarray(0, end);
  held = held.subarray(end);
  return message;
}

function pass(message: Buffer): void {
  const late = message.includes('"textDocument/publishDiagnostics"');
  if (late) setTimeout(() => diagnosed(message), Number(delay));
  else process.stdout.write(message);
}

function diagnosed(message: Buffer): void {
  waiting.push(message);
  if (waiting.length === 1) release();
}

function release(): void {
  if (existsSync(hold)) setTimeout(release, 50);
  else for (const message of waiting.splice(0)) process.stdout.write(message);
}
