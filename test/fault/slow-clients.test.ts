import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { claims, eventually, first, nightly, outcomeOf, ROOT, upgradeRequest } from "#test";
import { type Limits, WebSocketListener } from "../../src/transport/websocket";
import { platformSkip } from "../support/platform-skip";

/** Only the listener, with limits small enough to reach: which clients it drops, and which it keeps. */
const TOKEN = crypto.randomUUID();

/** Ends with the test. */
type Opened = AsyncDisposableStack;

/** A listener whose peers answer each message with `answer`. */
function listen(opened: Opened, limits: Partial<Limits>, answer: string) {
  const gone: number[] = [];
  let clients = 0;
  const listener = new WebSocketListener(0, limits);
  listener.admit({
    token: TOKEN,
    onConnect: (transport) => {
      const id = clients++;
      transport.onMessage = () => transport.send(answer);
      transport.onClose = () => gone.push(id);
    },
  });
  opened.defer(() => listener.stop());
  return { port: listener.port, gone };
}

/** A client with a live TCP connection only: it may read, but never sends anything. */
async function rawClient(opened: Opened, port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  opened.defer(() => void socket.destroy());
  socket.write(upgradeRequest(port, TOKEN));
  const answer = await new Promise<string>((resolve, reject) => {
    socket.once("data", (data) => resolve(data.toString("latin1")));
    socket.once("error", reject);
  });
  expect(answer).toStartWith("HTTP/1.1 101");
  return socket;
}

/** One masked text frame of less than 126 bytes. The mask is zero, so that the text stays as it is. */
const frame = (text: string) =>
  Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

async function client(opened: Opened, port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, {
    headers: { "x-claude-code-ide-authorization": TOKEN },
  } as never);
  opened.defer(() => socket.close());
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("refused"));
  });
  return socket;
}

function ask(socket: WebSocket): Promise<string> {
  return new Promise((resolve) => {
    socket.onmessage = ({ data }) => resolve(String(data));
    socket.send("?");
  });
}

// Concurrent, since most of them wait for seconds.
test.concurrent("drops a client that does not read at the limit, and serves others", async () => {
  await using opened = new AsyncDisposableStack();
  const { port, gone } = listen(opened, { backlogBytes: 4_000_000 }, "x".repeat(1_000_000));
  const reader = await client(opened, port);
  const slow = await rawClient(opened, port);
  slow.pause();
  // The system's own buffers take some answers before ours fills.
  for (let i = 0; i < 40 && gone.length === 0; i++) {
    slow.write(frame("?"));
    expect(await ask(reader)).toHaveLength(1_000_000);
  }
  await eventually("the end of the slow one", () => gone.length > 0);
  expect(gone).toEqual([1]);
  expect(await ask(reader)).toHaveLength(1_000_000);
});

nightly.test.concurrent("drops an idle client that does not answer pings", async () => {
  await using opened = new AsyncDisposableStack();
  const { port, gone } = listen(opened, { idleSeconds: 8 }, "!");
  const alive = await client(opened, port);
  await rawClient(opened, port);
  await eventually("the end of the dead one", () => gone.length > 0, 30_000);
  expect(gone).toEqual([1]);
  expect(await ask(alive)).toBe("!");
});

test.concurrent.each(
  first(1, [
    ["never finishes its request", "GET / HTTP/1.1\r\nHost: "],
    ["sends nothing", ""],
  ]),
)("closes a connection that %s", async (_what, text) => {
  claims("Unfinished handshakes lock no one out");
  await using opened = new AsyncDisposableStack();
  const { port } = listen(opened, { upgradeSeconds: 1 }, "!");
  const socket = connect(port, "127.0.0.1");
  opened.defer(() => void socket.destroy());
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {});
  socket.resume();
  socket.write(text);
  await closed;
});

test.concurrent("accepts as many new clients as have disconnected", async () => {
  await using opened = new AsyncDisposableStack();
  const { port, gone } = listen(opened, { connections: 3 }, "!");
  const sockets = [
    await client(opened, port),
    await client(opened, port),
    await client(opened, port),
  ];
  expect(await outcomeOf(client(opened, port))).toThrow("refused");
  sockets[0]?.close();
  await eventually("its end", () => gone.length === 1);
  expect(await ask(await client(opened, port))).toBe("!");
});

nightly.test.concurrent(
  "serves clients beside more half-open connections than descriptors",
  async () => {
    if (process.platform !== "linux") {
      platformSkip("descriptors are counted by Linux's /proc");
      return;
    }
    await using opened = new AsyncDisposableStack();
    const program = `
    import { WebSocketListener } from "${ROOT}/src/transport/websocket";
    const listener = new WebSocketListener(0);
    const onConnect = (transport) => { transport.onMessage = () => transport.send("!"); };
    listener.admit({ token: "${TOKEN}", onConnect });
    console.log(listener.port);`;
    const script = 'ulimit -n 100 && exec "$0" -e "$1"';
    const child = Bun.spawn(["sh", "-c", script, process.execPath, program], { stdout: "pipe" });
    opened.defer(async () => {
      child.kill();
      await child.exited;
    });
    const { value } = await child.stdout.getReader().read();
    const port = Number(new TextDecoder().decode(value));
    const early = await client(opened, port);
    for (let i = 0; i < 150; i++) {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      opened.defer(() => void socket.destroy());
      if (i % 2 === 0) socket.write("POST / HTTP/1.1\r\nHost: ");
    }
    // The listener's process has nearly all the descriptors that it may have.
    await eventually(
      "all its descriptors",
      () => readdirSync(`/proc/${child.pid}/fd`).length >= 95,
    );
    expect(await ask(early)).toBe("!");
    expect(await ask(await client(opened, port))).toBe("!");
  },
  60_000,
);
