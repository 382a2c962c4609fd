import { connect, type Socket } from "node:net";
import fc from "fast-check";
import { setDefaultTimeout, upgradeRequest } from "#test";
import { WebSocketListener } from "../../src/transport/websocket";
import { FUZZ_TIMEOUT_MS, tries } from "./effort";

setDefaultTimeout(FUZZ_TIMEOUT_MS);

/** Bytes that are not WebSocket frames: they end at most their own connection. */
const TOKEN = crypto.randomUUID();
let listener: WebSocketListener;
let other: WebSocket;
const faults: unknown[] = [];
const note = (error: unknown) => void faults.push(error);

beforeAll(async () => {
  process.on("uncaughtException", note);
  listener = new WebSocketListener(0);
  listener.admit({
    token: TOKEN,
    onConnect: (transport) => {
      transport.onMessage = (text) => transport.send(`${text.length}`);
    },
  });
  other = new WebSocket(`ws://127.0.0.1:${listener.port}/`, {
    headers: { "x-claude-code-ide-authorization": TOKEN },
  } as never);
  await new Promise((resolve) => {
    other.onopen = resolve;
  });
});

afterAll(async () => {
  other.close();
  await listener.stop();
  process.off("uncaughtException", note);
});

/** A client that behaves is served as before. */
async function stillServes(): Promise<void> {
  const answer = new Promise<string>((resolve) => {
    other.onmessage = ({ data }) => resolve(String(data));
  });
  other.send("four");
  expect(await answer).toBe("4");
  expect(faults).toEqual([]);
}

/** Sends the parts one after the other, then disconnects. Others are served. Resolves to the reply. */
async function send(parts: readonly Uint8Array[]): Promise<string> {
  const socket: Socket = connect(listener.port, "127.0.0.1");
  let answer = "";
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    answer += chunk.toString("latin1");
  });
  await new Promise((resolve) => socket.once("connect", resolve));
  for (const part of parts) {
    socket.write(part);
    await Bun.sleep(0);
  }
  await stillServes();
  socket.end();
  socket.destroySoon();
  await stillServes();
  return answer;
}

/** Frames whose parts need not fit together: opcode, flags, length, mask, payload. */
const frame = fc
  .record({
    first: fc.integer({ min: 0, max: 255 }),
    second: fc.integer({ min: 0, max: 255 }),
    rest: fc.uint8Array({ maxLength: 200 }),
  })
  .map(({ first, second, rest }) => Uint8Array.from([first, second, ...rest]));
/** Complete text frames with any content, which may arrive in pieces. */
const text = fc
  .uint8Array({ maxLength: 125 })
  .map((bytes) => Uint8Array.from([0x81, 0x80 | bytes.length, 0, 0, 0, 0, ...bytes]));

test("ends at most that connection, whatever comes after the upgrade", async () => {
  const parts = fc.array(fc.oneof(frame, text, fc.uint8Array({ maxLength: 300 })), {
    minLength: 1,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(parts, async (list) => {
      await send([Buffer.from(upgradeRequest(listener.port, TOKEN)), ...list]);
    }),
    {
      numRuns: tries(400),
      examples: [
        // A length of 2⁶³ bytes, a ping that is too long, a reserved opcode, no mask.
        [[Uint8Array.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])]],
        [[Uint8Array.from([0x89, 0xfe, 0x01, 0x00, 0, 0, 0, 0])]],
        [[Uint8Array.from([0x83, 0x80, 0, 0, 0, 0])]],
        [[Uint8Array.from([0x81, 0x01, 0x61])]],
      ],
    },
  );
});

test("ends at most that connection, whatever comes instead of a request", async () => {
  const line = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.constantFrom(
      "GET / HTTP/1.1",
      "Host: 127.0.0.1",
      "Upgrade: websocket",
      "Connection: Upgrade",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Protocol: mcp",
      "X-Claude-Code-Ide-Authorization: ",
      "Origin: null",
      "Transfer-Encoding: chunked",
      "Content-Length: -1",
    ),
  );
  const requests = fc
    .array(line, { maxLength: 8 })
    .map((lines) => [Buffer.from(`${lines.join("\r\n")}\r\n\r\n`)]);
  await fc.assert(
    fc.asyncProperty(fc.oneof(requests, fc.array(fc.uint8Array())), async (parts) => {
      expect(await send(parts)).not.toContain(" 101 ");
    }),
    { numRuns: tries(400) },
  );
});
