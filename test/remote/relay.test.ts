import { existsSync } from "node:fs";
import { claims, eventually, isolatedEnv, outcomeOf, TestClient } from "#test";
import { linesOf } from "../../src/lib/lines";
import { join } from "../../src/lib/platform";
import { hostHello } from "../../src/remote/hello";
import { killRelay, type Lock, World } from "./world";

const LARGE = "x".repeat(4 * 1024 * 1024);

async function echoed(client: TestClient, params: unknown): Promise<unknown> {
  const from = client.received.length;
  client.notify("echo", params);
  return (await client.message(({ method }) => method === "echo", from)).params;
}

test("publishes a lock file without a pid, and passes on what its clients send", async () => {
  using world = new World().link();
  const lock = await world.lock();
  expect(lock.content).toEqual({
    workspaceFolders: [world.project],
    ideName: "Neovim",
    transport: "ws",
    runningInWindows: false,
    authToken: world.token,
    modSocket: expect.stringContaining("/mod/"),
  });
  expect(world.up[0]).toMatchObject({ port: lock.port, uses_next_token: false });
  expect(world.up[0]).not.toHaveProperty("problem");
  const [one, other] = [await TestClient.connect(lock), await TestClient.connect(lock)];
  expect(await echoed(one, { text: "ä\n\u2028𝄞" })).toEqual({ text: "ä\n\u2028𝄞" });
  expect(await echoed(other, { text: LARGE })).toEqual({ text: LARGE });
  expect(one.received).toHaveLength(1);
  world.channels[0]?.close();
  expect((await one.closed).code).toBe(1001);
  other.close();
  world.end();
  await eventually("no lock file", () => world.locks().length === 0);
});

test("lets clients in only with the remote's own token", async () => {
  claims("A remote's token opens nothing here");
  using world = new World().link();
  const lock = await world.lock();
  const content = { authToken: crypto.randomUUID() };
  const refused = await outcomeOf(TestClient.connect({ port: lock.port, content }));
  expect(refused).toThrow("refused");
  await eventually("the refusal in the log", () => world.log.includes("a missing or wrong token"));
  expect(world.log).not.toContain(world.token);
});

test("comes back with the same port and token when it is killed", async () => {
  using world = new World().link();
  const lock = await world.lock();
  await TestClient.connect(lock);
  await eventually("the channel", () => world.channels.length === 1);
  const isClosed = new Promise<void>((resolve) => {
    (world.channels[0] as { onClose: () => void }).onClose = resolve;
  });
  killRelay();
  const again = await world.lock(2);
  await isClosed;
  expect(world.causes).toEqual(["/usr/bin/env ended with SIGKILL"]);
  expect([again.port, again.content.authToken]).toEqual([lock.port, world.token]);
  using client = await TestClient.connect(again);
  expect(await echoed(client, {})).toEqual({});
});

test("ends with its lock file and clients when Neovim's side is silent", async () => {
  using world = new World();
  const relay = Bun.spawn([process.execPath, join(import.meta.dir, "short-silence.ts")], {
    env: isolatedEnv(world.home),
    stdio: ["pipe", "pipe", "pipe"],
  });
  const roots = [world.project];
  const hello = hostHello({ token: world.token, nextToken: world.nextToken, roots });
  const say = async (line: object) => {
    relay.stdin.write(`${JSON.stringify(line)}\n`);
    await relay.stdin.flush();
  };
  await say(hello);
  const pings = setInterval(() => void say({ t: "ping" }), 50);
  await linesOf(relay.stdout).next();
  using client = await TestClient.connect(world.locks()[0] as Lock);
  clearInterval(pings);
  const said = await new Response(relay.stderr).text();
  expect(said).toContain("the editor's side is silent");
  await client.closed;
  expect(world.locks()).toEqual([]);
});

test("takes the next token where another program has its port", async () => {
  const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  using world = new World().link(undefined, other.port);
  const lock = await world.lock();
  other.stop();
  expect(lock.port).not.toBe(other.port);
  expect(lock.content.authToken).toBe(world.nextToken);
  expect(world.up[0]).toMatchObject({ uses_next_token: true });
});

test("uses no port of another editor's lock file, and leaves the file", async () => {
  using world = new World();
  const [first, second] = [new World().link(), world];
  const { port } = await first.lock();
  first[Symbol.dispose]();
  const path = join(second.home, `.claude/ide/${port}.lock`);
  const foreign = JSON.stringify({ pid: 1, authToken: "theirs", workspaceFolders: [] });
  await Bun.write(path, foreign);
  second.link(undefined, port);
  await eventually("the relay", () => world.up.length === 1);
  expect(await Bun.file(path).text()).toBe(foreign);
  expect(world.up[0]).not.toMatchObject({ port });
});

test("writes a lock file again that another machine's CLI has removed", async () => {
  using world = new World().link();
  const { path } = await world.lock();
  await Bun.file(path).delete();
  await eventually("the lock file", () => existsSync(path));
});
