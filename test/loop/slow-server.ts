/**
 * A real language server whose diagnostics come late: `bun slow-server.ts MS COMMAND…` passes every
 * message on as it is, `textDocument/publishDiagnostics` after MS milliseconds, in their order.
 */
const [delay = "0", ...command] = process.argv.slice(2);
const server = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });

process.stdin.on("data", (chunk) => {
  server.stdin.write(chunk);
  server.stdin.flush();
});
process.stdin.on("end", () => server.kill());

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
  if (late) setTimeout(() => process.stdout.write(message), Number(delay));
  else process.stdout.write(message);
}
