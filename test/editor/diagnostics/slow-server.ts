/**
 * A real language server as in a big project, where a file is checked for long, and a closed one's
 * list is emptied at once: `bun slow-server.ts MS COMMAND…` passes every message on as it is, in their order,
 * but lists of diagnostics after MS milliseconds.
 */
const [delay = "0", ...command] = process.argv.slice(2);
const server = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });

process.stdin.on("data", (chunk) => {
  server.stdin.write(chunk);
  server.stdin.flush();
});
process.stdin.on("end", () => server.kill());

const waiting: { message: Buffer; due: number }[] = [];
let rest = Buffer.alloc(0);
for await (const chunk of server.stdout) {
  rest = Buffer.concat([rest, chunk]);
  for (let message = next(); message; message = next()) pass(message);
}

/** The next whole message, header included. */
function next(): Buffer | undefined {
  const head = rest.indexOf("\r\n\r\n");
  const length = Number(/Content-Length: (\d+)/i.exec(rest.toString("latin1", 0, head + 4))?.[1]);
  const end = head + 4 + length;
  if (head < 0 || rest.length < end) return undefined;
  const message = rest.subarray(0, end);
  rest = rest.subarray(end);
  return message;
}

function pass(message: Buffer): void {
  if (!message.includes('"textDocument/publishDiagnostics"')) {
    process.stdout.write(message);
    return;
  }
  const isEmpty = message.includes('"diagnostics":[]');
  waiting.push({ message, due: performance.now() + (isEmpty ? 0 : Number(delay)) });
  if (waiting.length === 1) release();
}

function release(): void {
  while (waiting[0] && waiting[0].due <= performance.now()) {
    process.stdout.write(waiting.shift()?.message ?? "");
  }
  if (waiting.length > 0) setTimeout(release, 20);
}
