import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { claims, eventually, ps, rows } from "#test";
import { join } from "../../src/lib/platform";
import { CONTRACT, VERSION } from "../../src/lib/version";
import { LIMITS } from "../../src/remote/wire";
import { scriptedRelay, World } from "./world";

const OPEN = { t: "open", ch: 1, kind: "ide" };

/** A relay that runs this script, and reads nothing after the host's first line. */
function hostile(world: World, script: string, silenceMs?: number): World {
  const stays = "await new Promise(() => setInterval(() => {}, 60_000))";
  const { command } = scriptedRelay(world.folder, `${script}; ${stays}`);
  return world.link(command, undefined, silenceMs);
}

async function causeOf(script: string): Promise<string> {
  using world = new World();
  return await hostile(world, script).cause();
}

test("skips a greeting before the first line, up to a limit", async () => {
  using world = new World();
  hostile(world, `say("Welcome to dev\\n$ "); say(HELLO)`);
  await eventually("the relay", () => world.up.length === 1);
  const most = "x".repeat(LIMITS.greetingBytes + 1);
  expect(await causeOf(`say("${most}"); say(HELLO)`)).toStartWith(
    'its stdout is not clean: it begins with "xxx',
  );
  expect(await causeOf(`say("no such container\\n"); process.exit(1)`)).toBe(
    'it only printed "no such container"',
  );
});

test.each([
  [
    `contract: 99, version: "9.9"`,
    `it is version 9.9 with contract 99, and this one is ${VERSION} with contract ${CONTRACT}: install the same version on both sides`,
  ],
  [`port: "1", plugin: 1`, "its first line is wrong in: port, plugin"],
  [`problem: "\\x1b]0;x\\x07"`, "its first line is wrong in: problem"],
  [`plugin: "/a\\n", noProxy: "x\\0"`, "its first line is wrong in: plugin, noProxy"],
  [`contract: 99, version: "\\x1b[31m"`, "its first line is not in the expected format"],
])("names as the cause a hello with %s", async (fields, cause) => {
  expect(await causeOf(`say({ ...HELLO, ${fields} })`)).toBe(cause);
});

test("refuses too many channels, and leaves those that are open", async () => {
  claims("A hostile relay is cut off");
  using world = new World();
  hostile(
    world,
    `say(HELLO);
     for (let ch = 1; ch < 99; ch += 2) say({ t: "open", ch, kind: "ide" });
     say({ t: "data", ch: 1, d: "first" }); say({ t: "data", ch: 97, d: "last" });`,
  );
  await eventually("the channels", () => world.channels.length === LIMITS.channels);
  await eventually("the refusal", () => world.log.includes(`"ide": ${LIMITS.channels} are open`));
  expect(world.causes).toEqual([]);
});

const OPENS = `say(${JSON.stringify(OPEN)})`;
test.each(
  rows([
    `opens and closes channels without an end | for (let ch = 1; ch < 9999; ch += 2) { say({ t: "open", ch, kind: "ide" }); say({ t: "close", ch }); } | ^it opened more than 100 channels in a second$`,
    `opens a channel twice | ${OPENS}; ${OPENS} | ^it opened a channel with a number that is in use$`,
    `sends and never reads, before much waits for it | ${OPENS}; const part = JSON.stringify({ t: "data", ch: 1, d: "x".repeat(1 << 25) }) + "\\n"; for (let i = 0; i < 5; i++) say(part) | does not read our messages|ended with SIGKILL`,
    `sends a line that is too long | say('{"t":"data","ch":1,"d":"'); for (let i = 0; i < 66; i++) say("x".repeat(1 << 20)) | ended`,
    `prints a line without an end to stderr, and reads what follows | require("node:fs").writeSync(2, "x".repeat(1 << 20) + "\\nlast\\n"); process.exit(3) | ended with code 3: last$`,
  ]),
)("stops one that %s", async (_what, script, cause = "") => {
  claims("A hostile relay is cut off");
  expect(await causeOf(`say(HELLO); ${script}`)).toMatch(new RegExp(cause));
});

test("ends one that sends a line in the wrong format", async () => {
  claims("A hostile relay is cut off");
  const wrong = fc.sample(
    fc.oneof(
      fc.json(),
      fc.string().filter((text) => !text.includes("\n")),
      fc.record({
        t: fc.constantFrom("open", "data", "close"),
        ch: fc.anything(),
        d: fc.anything(),
      }),
      fc.constant({ ...OPEN, kind: "nvim" }),
      fc.constant({ ...OPEN, ch: 2 }),
      fc.constant({ ...OPEN, ch: 0 }),
    ),
    { numRuns: 30, seed: 1 },
  );
  const lines = wrong.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  const script = `say(HELLO); for (const line of ${JSON.stringify(lines)}) say(line + "\\n")`;
  expect(await causeOf(script)).toBe("it sent a line in the wrong format");
});

test("ends one that is silent, although it runs", async () => {
  using world = new World();
  hostile(world, "say(HELLO)", 200);
  expect(await world.cause()).toBe("it is silent");
  expect(world.up).toHaveLength(1);
});

test("logs what it prints to stderr, with its name, and without control characters", async () => {
  claims("A hostile relay is cut off");
  using world = new World();
  hostile(world, `process.stderr.write("\\x1b[31mred\\x1b[0m \\x07 line\\n"); process.exit(3)`);
  const cause = await world.cause();
  expect(cause).toEndWith(" ended with code 3: red <07> line");
  expect(world.log).toContain("The remote dev says: red <07> line");
});

test.each([
  ["early", 1],
  ["late", 0],
])("opens nothing after its end, even if it keeps running: %s", async (when, count) => {
  using world = new World();
  const [started, ended] = ["started", "ended"].map((name) => join(world.folder, name));
  const isLate = when === "late";
  const { command } = scriptedRelay(
    world.folder,
    `${isLate ? "" : "say(HELLO)"}; require("node:fs").writeFileSync("${started}", "")`,
    "",
    `${isLate ? "say(HELLO)" : ""}; say(${JSON.stringify(OPEN)});
     require("node:fs").writeFileSync("${ended}", String(process.pid))`,
  );
  world.link(command);
  await eventually("its start", () => existsSync(`${started}`) && world.up.length === count);
  world.end();
  await eventually("its end", () => existsSync(`${ended}`));
  const pid = Number(readFileSync(`${ended}`, "utf8"));
  await eventually("its process to be gone", () => ps("pid", pid) === "");
  expect(world.channels).toEqual([]);
  expect(world.up).toHaveLength(count);
});

test("does not flood the log with endless output or too many channels", async () => {
  using world = new World();
  hostile(
    world,
    `process.stderr.write("flood\\n".repeat(100_000)); say(HELLO);
     for (let ch = 1; ch < 20_000; ch += 2) say({ t: "open", ch, kind: "ide" });
     say({ t: "data", ch: 1, d: "end" }); setTimeout(() => process.exit(0), 200)`,
  );
  await world.cause();
  expect(world.channels.length).toBe(LIMITS.channels);
  expect(world.log.split("\n").length).toBeLessThan(10);
});
