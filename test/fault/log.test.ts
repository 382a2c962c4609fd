import { appendFileSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import {
  claims,
  eventually,
  expectMode,
  neovimStateOf,
  onNewestNeovim,
  setSystemTime,
  temporaryFolder,
} from "#test";
import { Log } from "../../src/lib/log";
import { join } from "../../src/lib/platform";

/* A refused request needs no token: it must not fill the disk. */
onNewestNeovim((session) => {
  const path = () => join(neovimStateOf(session.neovim.home), "claude-code.log");
  const refusals = () => readFileSync(path(), "utf8").match(/WARN Refused a connection/g) ?? [];

  function pipelined(count: number, header: string, host?: string): Promise<void> {
    const own = `127.0.0.1:${session.lock.port}`;
    const request = `GET /x HTTP/1.1\r\nHost: ${host ?? own}\r\n${header}\r\n\r\n`;
    return new Promise((resolve, reject) => {
      let text = "";
      const socket = connect(session.lock.port, "127.0.0.1", () =>
        socket.write(request.repeat(count)),
      );
      socket.on("error", reject);
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1");
        if (text.split("HTTP/1.1 40").length <= count) return;
        socket.destroy();
        resolve();
      });
    });
  }

  test("logs one line for each cause of refused requests", async () => {
    claims("Refused requests do not fill the disk");
    await pipelined(1_000, "X-Claude-Code-Ide-Authorization: guess");
    await pipelined(1_000, "Origin: https://localhost");
    await pipelined(1_000, "Sec-Fetch-Site: none");
    expect(refusals()).toHaveLength(2);
  });

  test("keeps the file short while Neovim runs", async () => {
    appendFileSync(path(), "x".repeat(5 * 1024 * 1024 + 1));
    await pipelined(1, "Upgrade: websocket", "example.com");
    expect(refusals()).toHaveLength(1);
    await session.neovim.lua(`require("port").messages.warn("from\\27 Neovim")`);
    await eventually("the line", () => readFileSync(path(), "utf8").includes("from<1b> Neovim"));
    expect(statSync(path()).size).toBeLessThan(10_000);
    expect(statSync(`${path()}.old`).size).toBeGreaterThan(5 * 1024 * 1024);
    expectMode(path(), 0o600);
  });
});

test("writes control characters and invisible ones as codes", () => {
  const file = join(temporaryFolder(), "log");
  new Log({ file }).warn("a\u0000\u001b[31m\u202eb\nc");
  expect(readFileSync(file, "utf8")).toEndWith("WARN a<00><1b>[31m<202e>b\\nc\n");
});

test("writes one line a minute for a cause, and few for a thousand causes", () => {
  const file = join(temporaryFolder(), "log");
  const lines = () => readFileSync(file, "utf8").trimEnd().split("\n");
  const log = new Log({ file });
  setSystemTime(new Date("2026-01-01T00:00:30Z"));
  for (let i = 0; i < 7; i++) log.error(`about ${i}`, "a cause");
  expect(lines()).toEqual([expect.stringMatching(/ERROR about 0$/)]);
  for (let i = 0; i < 1_000; i++) log.warn(`cause ${i}`);
  expect(lines().length).toBeLessThan(110);
  setSystemTime(new Date("2026-01-01T00:01:31Z"));
  log.error("about 8", "a cause");
  expect(lines().at(-1)).toEndWith("ERROR about 8");
  setSystemTime();
});
