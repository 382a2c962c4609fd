import { appendFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { eventually, expectMode, nightly, outcomeOf } from "#test";
import { EditorState } from "../../src/editor/state";
import { Emitter } from "../../src/lib/emitter";
import { Log } from "../../src/lib/log";
import { dirname, join } from "../../src/lib/platform";
import { RemoteEndpoint } from "../../src/remote/endpoint";
import { TranscriptEndpoint } from "../../src/transcript/endpoint";
import { answer, calls, line, prompt } from "../transcript/entries";
import { type Frame, killRelay, scriptedRelay, World } from "./world";

interface Block {
  lines: string[];
  marks: { path?: string }[];
}
interface Report {
  view?: number;
  state?: string;
  restarted?: boolean;
  block?: Block;
}
interface Opened {
  view: number;
  path: string;
  block: Block;
}

const ID = "11111111-2222-4333-8444-555555555555";
const REMOTE = "/srv/x";

let world: World;
let reports: Report[];
let remote: RemoteEndpoint;
const onWritten = new Emitter<{ remote: string; session: string }>();
let transcript: TranscriptEndpoint;
beforeEach(() => {
  world = new World();
  reports = [];
  // Neovim's only method here receives the reports.
  const call = async (_method: string, report: object) => void reports.push(report);
  const log = new Log({ file: world.logFile });
  const port = { call, state: new EditorState() };
  remote = new RemoteEndpoint(port, () => {}, { onWritten } as never, log);
  transcript = new TranscriptEndpoint({ call }, log, (name, id) => remote.conversation(name, id));
  mkdirSync(dirname(path()), { recursive: true });
  writeFileSync(join(world.project, "main.lua"), "return 1\n");
});
afterEach(() => {
  transcript.end();
  remote.end();
  world[Symbol.dispose]();
});

const path = () => join(world.home, ".claude/projects/-srv-x", `${ID}.jsonl`);
const append = (...entries: object[]) => appendFileSync(path(), entries.map(line).join(""));
const isUp = () => reports.filter(({ state }) => state === "up").length;
const start = async (relay: readonly string[] = world.relay) => {
  const { project, token, nextToken } = world;
  const mappings = { [REMOTE]: project };
  remote.requests.start({ name: "dev", relay, folder: project, mappings, token, nextToken });
  await eventually("the relay", () => isUp() === 1);
};
const open = async () => (await transcript.requests.open({ session: ID, remote: "dev" })) as Opened;
const read = (file: string) => calls(`r${file}`, "Read", { file_path: file });

test("shows a conversation from there, in a private copy that is removed with the link", async () => {
  append(prompt("begin"), read(`${REMOTE}/main.lua`), read("/etc/passwd"));
  await start();
  const { block, path: copy } = await open();
  expect(block.lines[0]).toBe("❯ begin");
  expect(block.lines.join("\n")).toContain("/etc/passwd");
  const main = join(world.project, "main.lua");
  expect(block.marks.flatMap((mark) => mark.path ?? [])).toEqual([main]);
  expectMode(copy, 0o600);
  expectMode(dirname(copy), 0o700);
  append(prompt("more"));
  expect((await open()).block.lines).toContain("❯ more");
  remote.end();
  expect(existsSync(dirname(copy))).toBe(false);
});

test("grows while Claude writes an answer there, and only by what is new", async () => {
  append(prompt("begin"));
  await start();
  const { view } = await open();
  const shown = () =>
    reports.flatMap((report) =>
      report.view === view ? [report.block?.lines, report.restarted] : [],
    );
  append(prompt("more"));
  for (const session of [ID, "99999999-2222-4333-8444-555555555555"])
    onWritten.emit({ remote: "dev", session });
  await eventually("the prompt", () => shown().flat().includes("❯ more"));
  append(answer("Done."));
  onWritten.emit({ remote: "", session: ID });
  await eventually("the answer", () => shown().flat().includes("Done."));
  expect(shown().flat()).not.toContain("❯ begin");
  expect(shown().flat()).not.toContain(true);
});

test("lists only local files in the trail", async () => {
  append(prompt("x".repeat(6_000_000)), read(`${REMOTE}/main.lua`), read("/etc/passwd"));
  append(answer("Hm"));
  await start();
  const trail = await transcript.requests.trail({ session: ID, remote: "dev", turn: "all" });
  expect(trail).toMatchObject({ steps: [{ path: join(world.project, "main.lua") }] });
});

test("resolves a name to a file of the shared folders, or to none", async () => {
  append(prompt("begin"));
  writeFileSync(join(world.folder, "secret"), "");
  symlinkSync(join(world.folder, "secret"), join(world.project, "link"));
  await start();
  const { view } = await open();
  const place = (name: string) => transcript.requests.place({ view, name, folder: world.project });
  const main = join(world.project, "main.lua");
  expect(await place(`${REMOTE}/main.lua`)).toBe(main);
  expect(await place("main.lua")).toBe(main);
  for (const name of ["/etc/passwd", "../secret", "link", `${REMOTE}/../secret`, "missing.lua"])
    expect(await place(name)).toBeUndefined();
});

test("says that it does not exist yet, or that its relay is gone", async () => {
  await start();
  expect(await outcomeOf(open())).toThrow("not in a file yet");
  append(prompt("begin"));
  await open();
  killRelay();
  expect(await outcomeOf(open())).toThrow("its remote");
  await eventually("the relay", () => isUp() === 2);
  writeFileSync(path(), line(prompt("again")));
  expect((await open()).block.lines[0]).toBe("❯ again");
});

test("sends no other file, by an id or a symlink", async () => {
  const secret = join(world.home, ".claude/secret.jsonl");
  writeFileSync(secret, "secret");
  symlinkSync(secret, path());
  await start();
  expect(await outcomeOf(open())).toThrow("not in a file yet");
  // The relay does not rely on the link's check.
  world.link();
  await world.lock();
  for (const id of ["../../secret", "secret", ""]) {
    const channel = world.open("conversation", id);
    const closed = Promise.withResolvers<void>();
    channel.onMessage = () => closed.reject(new Error("it answers"));
    channel.onClose = closed.resolve;
    channel.send("0");
    await closed.promise;
  }
});

/** A relay that answers each offset with this expression; what it gets is read back. */
async function hostile(expression: string, extra = ""): Promise<() => Frame[]> {
  const script = `globalThis.LARGE = Buffer.alloc(${4 * 1024 * 1024}, "x").toString("base64");
    say(HELLO); ${extra}`;
  const reply = `if (t === "data") say({ t, ch, d: ${expression} })`;
  const { command, got } = scriptedRelay(world.folder, script, reply);
  await start(command);
  return got;
}

nightly.test("refuses endless bytes from a relay", async () => {
  await hostile("LARGE");
  expect(await outcomeOf(open())).toThrow("it is too long");
  expect(reports.filter(({ state }) => state === "down")).toEqual([]);
});

test("shows a file that is not a conversation as it is", async () => {
  const wrong = `${Buffer.from("../../x\n{}\n").toString("base64")}%`;
  await hostile(`d === "0" ? "${wrong}" : ""`);
  expect((await open()).block.lines.join("\n")).toContain("A line that is not an entry");
});

test("asks the relay for a session's id only, and gives it no local conversation", async () => {
  const stop = JSON.stringify({ session_id: ID, cwd: REMOTE });
  const d = JSON.stringify({ args: ["stop"], cwd: REMOTE, env: {}, input: stop });
  // A hook would run it here.
  writeFileSync(join(world.project, "hook.ts"), "console.log('{}')");
  const got = await hostile(
    `""`,
    `say({ t: "open", ch: 1, kind: "conversation", d: ${JSON.stringify(d)} })`,
  );
  for (const id of ["../../secret", "secret", "", ID])
    await outcomeOf(remote.conversation("dev", id));
  await eventually("the refusal", () => got().some(({ t, ch }) => t === "close" && ch === 1));
  expect(got().filter(({ t, ch }) => t === "data" && ch === 1)).toEqual([]);
  const asked = () => got().filter(({ kind }) => kind === "conversation");
  await eventually("the question", () => asked().length > 0);
  expect(asked().map(({ d }) => d)).toEqual([ID]);
});
