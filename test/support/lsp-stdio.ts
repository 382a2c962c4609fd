/** The base protocol of LSP on this process's stdin and stdout, for language servers of the tests. */

export function send(message: object): void {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** Calls back with each message. The process ends with its stdin. */
export function receive<Message>(onMessage: (message: Message) => void): void {
  let rest = Buffer.alloc(0);
  const next = (): Message | undefined => {
    const head = rest.indexOf("\r\n\r\n");
    const length = Number(/Content-Length: (\d+)/i.exec(rest.toString("latin1", 0, head + 4))?.[1]);
    const end = head + 4 + length;
    if (head < 0 || rest.length < end) return undefined;
    const message = JSON.parse(rest.toString("utf8", head + 4, end)) as Message;
    rest = rest.subarray(end);
    return message;
  };
  process.stdin.on("end", () => process.exit(0));
  process.stdin.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let message = next(); message; message = next()) onMessage(message);
  });
}
