import { join } from "../../src/lib/platform";

/* The base protocol of LSP on streams, and the tests' language servers, which use it on stdin and stdout. */

/** The command of language-server.ts, whose states are files in this folder. */
export function languageServer(switches: string): string[] {
  return [process.execPath, join(import.meta.dir, "language-server.ts"), switches];
}

export function send(message: object): void {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** Calls back with each message. The process ends with its stdin. */
export function receive<Message>(onMessage: (message: Message) => void): void {
  process.stdin.on("end", () => process.exit(0));
  let rest = Buffer.alloc(0);
  const next = (): string | undefined => {
    const head = rest.indexOf("\r\n\r\n");
    const length = Number(/Content-Length: (\d+)/i.exec(rest.toString("latin1", 0, head + 4))?.[1]);
    const end = head + 4 + length;
    if (head < 0 || rest.length < end) return undefined;
    const body = rest.toString("utf8", head + 4, end);
    rest = rest.subarray(end);
    return body;
  };
  process.stdin.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let body = next(); body !== undefined; body = next()) onMessage(JSON.parse(body));
  });
}
