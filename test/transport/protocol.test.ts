import { connect } from "node:net";
import {
  AUTHORIZATION,
  type CallError,
  claims,
  httpRequest,
  OLDEST,
  perBlock,
  TestClient,
  TestNeovim,
  upgradeRequest,
} from "#test";

/** The compiled executable at the socket, as any client meets it; Neovim is the real one behind. */
let lock: Awaited<ReturnType<TestNeovim["lock"]>>;

const neovim = perBlock(() => TestNeovim.start({ version: OLDEST }));
beforeAll(async () => {
  lock = await neovim.lock();
});

const request = (headers: Record<string, string | undefined>) =>
  upgradeRequest(lock.port, lock.content.authToken, headers);

function upgrade(headers: Record<string, string | undefined>): Promise<Response> {
  return new Promise((resolve, reject) => {
    const socket = connect(lock.port, "127.0.0.1", () => socket.write(request(headers)));
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const [first = "", ...rest] = text.slice(0, end).split("\r\n");
      const status = Number(first.split(" ")[1]);
      const answered = rest.map((line) => line.split(": ", 2) as [string, string]);
      socket.destroy();
      const body = status === 101 ? null : text.slice(end + 4);
      resolve({ status, headers: new Headers(answered), text: async () => body ?? "" } as Response);
    });
    socket.on("error", reject);
    socket.setTimeout(5_000, () => reject(new Error("no answer to the upgrade")));
  });
}

describe("the upgrade", () => {
  const refused: [string, Record<string, string | undefined>, number][] = [
    ["no token", { [AUTHORIZATION]: undefined }, 401],
    ["a wrong token", { [AUTHORIZATION]: crypto.randomUUID() }, 401],
    ["a token cut short", { [AUTHORIZATION]: "1234" }, 401],
    ["a web page's origin", { Origin: "https://example.com" }, 403],
    ["an origin of this machine", { Origin: "http://127.0.0.1" }, 403],
    ["an origin of null", { Origin: "null" }, 403],
    ["a foreign host", { Host: "example.com" }, 403],
    ["another port's host", { Host: "127.0.0.1:1" }, 403],
    ["no WebSocket at all", { Upgrade: undefined, Connection: undefined }, 426],
  ];
  test.each(refused)("is refused with %s", async (_name, headers, status) => {
    claims("Only a client with the token can connect");
    claims("A web page cannot connect");
    const response = await upgrade(headers);
    expect(response.status).toBe(status);
    const shown = `${await response.text()}${JSON.stringify([...response.headers])}`;
    expect(shown).not.toContain(lock.content.authToken);
    expect(shown.toLowerCase()).not.toContain("token");
  });

  test("is allowed with the token, and echoes the mcp sub-protocol when it is offered", async () => {
    const plain = await upgrade({});
    expect(plain.status).toBe(101);
    expect(plain.headers.get("sec-websocket-protocol")).toBeNull();
    const offered = await upgrade({ "Sec-WebSocket-Protocol": "other, mcp" });
    expect(offered.status).toBe(101);
    expect(offered.headers.get("sec-websocket-protocol")).toBe("mcp");
  });
});

describe("initialize", () => {
  test.each([
    ["2024-11-05", "2024-11-05"],
    ["2025-03-26", "2025-03-26"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["1999-01-01", "2025-11-25"],
  ])("answers a request of %s with %s", async (asked, answered) => {
    using client = await TestClient.connect(lock);
    const result = await client.request<Record<string, unknown>>("initialize", {
      protocolVersion: asked,
      capabilities: {},
      clientInfo: { name: "Claude CLI", version: "1" },
    });
    expect(result).toMatchObject({
      protocolVersion: answered,
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true } },
      serverInfo: { name: "claude-code.nvim", version: "0.1.0" },
    });
    expect(String(result.instructions)).toContain("Neovim MCP server for Claude integration");
  });
});

describe("messages that are wrong", () => {
  const cases: [string, unknown, number][] = [
    ["not JSON", "{nonsense", -32700],
    ["an empty text", "", -32700],
    ["a number", "42", -32600],
    ["null", "null", -32600],
    ["an empty batch", "[]", -32600],
    ["a batch of five million messages", `[0${",0".repeat(5_000_000)}]`, -32600],
    ["no version", { id: 1, method: "ping" }, -32600],
    ["a method that is not a string", { jsonrpc: "2.0", id: 1, method: 7 }, -32600],
    ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "ping" }, -32600],
    ["an id that is null", { jsonrpc: "2.0", id: null, method: "ping" }, -32600],
    ["params that are a string", { jsonrpc: "2.0", id: 1, method: "ping", params: "x" }, -32600],
    ["an unknown method", { jsonrpc: "2.0", id: 1, method: "no/such" }, -32601],
    ...["valueOf", "__proto__", "isPrototypeOf", "constructor"].map(
      (method): [string, unknown, number] => [
        `the method ${method}`,
        { jsonrpc: "2.0", id: 1, method, params: { secret: 1 } },
        -32601,
      ],
    ),
    ["tools/call without params", { jsonrpc: "2.0", id: 1, method: "tools/call" }, -32602],
    ["an unknown tool", call("noSuchTool", {}), -32602],
    ["a missing argument", call("openFile", {}), -32602],
    ["an argument of a wrong type", call("openFile", { filePath: 7 }), -32602],
    ["arguments that are a list", call("openFile", []), -32602],
    ["nesting 5000 deep in a message", deep(5_000), -32601],
    ["nesting that never closes", "[".repeat(5_000), -32700],
  ];
  function call(name: string, args: unknown): unknown {
    return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
  }
  function deep(levels: number): string {
    const params = `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    return `{"jsonrpc":"2.0","id":1,"method":"no/such","params":${params}}`;
  }

  test.each(cases)(
    "answers %s with an error, and keeps the connection",
    async (_name, message, code) => {
      claims("Malformed or oversized messages hurt no other client");
      using client = await TestClient.open(lock);
      const from = client.received.length;
      client.send(message);
      const answer = await client.message((m) => m.error !== undefined, from);
      expect(answer.error?.code).toBe(code);
      expect(answer.error?.message).not.toBe("");
      expect(await client.request("ping")).toEqual({});
    },
  );
});

describe("framing", () => {
  test("answers a batch with a batch, without its notifications", async () => {
    using client = await TestClient.open(lock);
    const from = client.received.length;
    client.send([
      { jsonrpc: "2.0", id: "a", method: "ping" },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: "b", method: "no/such" },
      7,
    ]);
    await client.message((m) => m.error?.code === -32601, from);
    const answers = client.received.slice(from);
    expect(answers.map((m) => m.id)).toEqual(["a", "b", null]);
  });

  test("reads a binary frame as UTF-8 text", async () => {
    using client = await TestClient.open(lock);
    const from = client.received.length;
    client.send(Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: "bin", method: "ping" })));
    await client.message((m) => m.id === "bin" && m.result !== undefined, from);
    client.send(new Uint8Array([0xff, 0xfe, 0x00]));
    await client.message((m) => m.error?.code === -32700, from);
  });

  /** The reply on a connection of its own, until it ends. */
  const conversation = (bytes: string | Uint8Array): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(lock.port, "127.0.0.1", () => socket.write(bytes));
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1");
      });
      socket.on("close", () => resolve(text));
      socket.on("error", reject);
      socket.setTimeout(20_000, () => reject(new Error(`still open after ${text}`)));
    });
  const DEFLATE = "permessage-deflate; client_max_window_bits";
  const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

  /** A frame of a client, masked with zeros. */
  function frame(first: number, text: string, masked = true): Buffer {
    const head = [first, text.length | (masked ? 0x80 : 0), ...(masked ? [0, 0, 0, 0] : [])];
    return Buffer.concat([Buffer.from(head), Buffer.from(text)]);
  }

  const frames: [string, Buffer][] = [
    ["that is not masked", frame(0x81, PING, false)],
    ["that says it is compressed", frame(0xc1, PING)],
    ["with another reserved bit", frame(0xa1, PING)],
    ["of a reserved kind", frame(0x83, PING)],
  ];
  test.each(frames)(
    "ends the connection of a frame %s, without an answer",
    async (_name, bytes) => {
      claims("A malformed frame ends its own connection only");
      using other = await TestClient.open(lock);
      const opening = request({ "Sec-WebSocket-Extensions": DEFLATE });
      const text = await conversation(Buffer.concat([Buffer.from(opening), bytes]));
      const [head = "", rest = ""] = text.split("\r\n\r\n");
      expect(head).toStartWith("HTTP/1.1 101");
      expect(head.toLowerCase()).not.toContain("extensions");
      expect(rest).not.toContain("jsonrpc");
      expect(await other.request("ping")).toEqual({});
    },
  );

  const smuggled: [string, string[], string][] = [
    [
      "two lengths",
      ["POST / HTTP/1.1", "Content-Length: 5", "Transfer-Encoding: chunked"],
      "0\r\n\r\n",
    ],
    ["a body", ["GET / HTTP/1.1", "Content-Length: 10"], "0123456789"],
    ["another origin", ["GET / HTTP/1.1", "Origin: https://example.com"], ""],
  ];
  test.each(smuggled)(
    "admits no upgrade without a token behind another request: %s",
    async (...row) => {
      claims("No request gets in behind another one");
      const [, [first = "", ...more], body] = row;
      const host = `Host: 127.0.0.1:${lock.port}`;
      const head = httpRequest([first, host, ...more]);
      // Without this one the server ends the connection after 10 s.
      const last = httpRequest(["GET / HTTP/1.1", host, "Connection: close"]);
      const smuggled = request({ [AUTHORIZATION]: undefined });
      const text = await conversation(`${head}${body}${smuggled}${last}`);
      expect(text).toMatch(/^HTTP\/1\.1 4/);
      expect(text).not.toContain(" 101 ");
    },
  );

  test("takes a message of 20 MB, and ends only the connection of one over the limit", async () => {
    claims("Malformed or oversized messages hurt no other client");
    using other = await TestClient.open(lock);
    using big = await TestClient.open(lock);
    const params = { text: "x".repeat(20_000_000) };
    const error = await big.request("no/such", params).catch((e: CallError) => e);
    expect((error as CallError).code).toBe(-32601);
    big.send(`"${"x".repeat(65 * 1024 * 1024)}"`);
    await big.closed;
    expect(await other.request("ping")).toEqual({});
  });
});
