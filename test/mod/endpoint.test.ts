import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import {
  AUTHORIZATION,
  claims,
  eventually,
  expectMode,
  NEWEST,
  perBlock,
  startSleeping,
  stateFolderOf,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { dirname, join } from "../../src/lib/platform";

/* A program at the socket for mods meets the compiled executable, as the mod in a CLI does. */

interface Operation {
  id: number;
  op: string;
  text: string;
  args: string;
}

interface Answer {
  failure?: { code: string; message: string };
  value?: unknown;
}

const neovim = perBlock(() => TestNeovim.start({ version: NEWEST }));
let cli: ChildProcess;
let log: string;

beforeAll(async () => {
  cli = startSleeping();
  await neovim.ready();
  log = await neovim.lua<string>("return require('port').log.path()");
  await neovim.lua("answers, mod = {}, require('port').mod");
});
afterAll(() => cli.kill("SIGKILL"));

class Mod {
  readonly id = crypto.randomUUID();

  constructor(public session: string) {}

  async post(path: string, body: object = {}, options: RequestInit = {}): Promise<Response> {
    const { modSocket = "", authToken } = (await neovim.lock()).content;
    return fetch(`http://mod/${path}`, {
      ...{ unix: modSocket, method: "POST", headers: { [AUTHORIZATION]: authToken } },
      body: JSON.stringify({ contract: 1, mod: this.id, session: this.session, ...body }),
      ...options,
    });
  }

  async next(): Promise<Operation> {
    const response = await this.post("next");
    return response.status === 204 ? this.next() : ((await response.json()) as Operation);
  }

  async answer(id: number, answer: object = {}): Promise<void> {
    await this.post("report", { answer: { id, ...answer } });
  }
}

/** The CLI's file about its session. */
function writeSession(id: string): void {
  const path = join(neovim.home, `.claude/sessions/${cli.pid}.json`);
  mkdirSync(dirname(path), { recursive: true });
  const content = { pid: cli.pid, sessionId: id, cwd: neovim.cwd, kind: "interactive" };
  writeFileSync(path, JSON.stringify({ ...content, status: "idle" }));
}

const has = (session: string) => neovim.lua<boolean>("return mod.has({ id = ... })", session);

/** A mod in the CLI of a session, which Neovim knows. */
async function connected(session: string): Promise<Mod> {
  writeSession(session);
  const mod = new Mod(session);
  await mod.post("report");
  await eventually("the mod in the row", () => has(session));
  return mod;
}

/** Begins a call of sessions/mod.lua, and returns the way to its result. */
async function call(session: string, name: string, ...args: string[]) {
  const key = crypto.randomUUID();
  await neovim.lua(
    `local key, session, name, args = ...
     args[#args + 1] = function(failure, value)
       answers[key] = { failure = failure, value = value }
     end
     mod[name]({ id = session }, unpack(args))`,
    ...[key, session, name, args],
  );
  return () =>
    eventually("the answer", async () => {
      const answer = await neovim.lua<Answer | null>("return answers[...]", key);
      return answer ?? false;
    });
}

async function failure(answered: () => Promise<Answer>): Promise<string | undefined> {
  return (await answered()).failure?.code;
}

const row = <T>(session: string, field: string) =>
  neovim.lua<T>(`return (require("port").session_rows.get({ id = ... }) or {}).${field}`, session);

describe("the socket", () => {
  test("belongs to the user alone", async () => {
    const { modSocket = "" } = (await neovim.lock()).content;
    expectMode(modSocket, 0o600);
    expectMode(dirname(modSocket), 0o700);
  });

  test("is removed if its process is dead, but not another container's", async () => {
    const { modSocket = "" } = (await neovim.lock()).content;
    const left = modSocket.replace(/\d+-/, "999999-");
    const foreign = join(dirname(modSocket), "999999-12345678.sock");
    for (const path of [left, foreign]) writeFileSync(path, "");
    const pid = await neovim.ready();
    process.kill(pid, "SIGKILL");
    await neovim.ready(pid);
    expect([modSocket, left, foreign].map(existsSync)).toEqual([false, false, true]);
  });

  test("is missing if the system gives none: the CLI then gets no mod, and the status says why", async () => {
    const home = temporaryFolder();
    mkdirSync(stateFolderOf(home), { recursive: true });
    writeFileSync(join(stateFolderOf(home), "mod"), "");
    const setup = "{ terminal = { command = { 'sh', '-c', 'exec sleep 1000' } } }";
    await using other = await TestNeovim.start({ version: NEWEST, home, setup });
    await other.ready();
    expect((await other.lock()).content).not.toHaveProperty("modSocket");
    const [plugin = ""] = await other.lua<string[]>("return require('port').plugin_arguments()");
    const hooks = join(plugin.replace("--plugin-dir=", ""), "hooks/hooks.json");
    expect(readFileSync(hooks, "utf8")).not.toContain("register.ts");
    await other.command("Claude");
    await eventually("the way of prompts", async () => {
      const status = await other.lua<string>("return vim.fn.join(require('port').status_lines())");
      return status.includes("Claude receives prompts by paste: no mod can connect: ");
    });
  });

  test("has no folder of the plugin if a file is in its place, and the status says so", async () => {
    const home = temporaryFolder();
    const data = join(home, ".local/share/claude-code.nvim");
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, "claude-plugin"), "");
    await using other = await TestNeovim.start({ version: NEWEST, home });
    await other.ready();
    expect(await other.lua<string[]>("return require('port').plugin_arguments()")).toEqual([]);
    const status = await other.lua<string>("return vim.fn.join(require('port').status_lines())");
    expect(status).toContain("FAIL  The plugin for Claude Code cannot be written: ");
  });

  test("refuses a client without the token", async () => {
    claims("A mod in the CLI shows the token, too");
    const mod = new Mod("hostile");
    for (const token of ["", "1234", crypto.randomUUID()]) {
      const headers = { [AUTHORIZATION]: token };
      expect((await mod.post("next", {}, { headers })).status).toBe(401);
    }
    expect((await mod.post("next", {}, { headers: {} })).status).toBe(401);
    expect(await has("hostile")).toBe(false);
  });

  test("refuses messages that are not in the contract", async () => {
    const mod = new Mod("hostile");
    for (const body of [
      { mod: "me" },
      { session: "../.." },
      { session: "a".repeat(101) },
      { usage: { tokens: -1 } },
      { usage: { percent: 1e308 } },
      { tasks: { done: 0.5, all: 1 } },
      { answer: { id: "1" } },
      { written: "text" },
      { contract: "1" },
    ])
      expect((await mod.post("report", body)).status).toBe(400);
    const deep = "[".repeat(100_000);
    expect((await mod.post("report", {}, { body: deep })).status).toBe(400);
    const long = "a".repeat(17 * 1024 * 1024);
    expect((await mod.post("report", {}, { body: long })).status).toBe(413);
  });

  test("refuses a mod of another contract, with one line in the log", async () => {
    const mod = new Mod("older");
    for (let i = 0; i < 3; i++) expect((await mod.post("next", { contract: 0 })).status).toBe(409);
    const refusals = readFileSync(log, "utf8").matchAll(
      /the mod of session older: it has contract 0/g,
    );
    expect([...refusals]).toHaveLength(1);
  });

  test("serves others during floods, half messages and silence", async () => {
    const { modSocket = "" } = (await neovim.lock()).content;
    const sockets = [
      "",
      "POST /ne",
      "POST / HTTP/1.1\r\nHost: m\r\nContent-Length: 9\r\n\r\nab",
    ].map((text) => connect(modSocket, () => sockets.length && text));
    const hostile = new Mod("hostile");
    const flood = Array.from({ length: 300 }, () => hostile.post("next", {}, { headers: {} }));
    const mod = await connected("flooded");
    const polls = Array.from({ length: 100 }, () => mod.post("next"));
    const ended: Response[] = [];
    for (const poll of polls) void poll.then((response) => ended.push(response));
    await eventually("only the last poll waits", () => ended.length === 99);
    const answered = await call("flooded", "draft");
    await eventually("the last poll", () => ended.length === 100);
    const { id } = (await (ended[99] as Response).json()) as Operation;
    await mod.answer(id, { value: { text: "mine", cursor: 4 } });
    expect(await answered()).toEqual({ value: { text: "mine", cursor: 4 } });
    await Promise.all(flood);
    for (const socket of sockets) socket.destroy();
  });
});

describe("an operation", () => {
  test("arrives once, in order, with its text", async () => {
    const mod = await connected("ordered");
    const texts = ["one", "two\nlines", "/three"];
    const answers = [];
    for (const text of texts) answers.push(await call("ordered", "submit", text));
    for (const text of texts) {
      const { id, op, text: received } = await mod.next();
      expect([op, received]).toEqual(["submit", text]);
      await mod.answer(id);
    }
    for (const answered of answers) expect(await answered()).toEqual([] as never);
    const run = await call("ordered", "run", "compact", "the plan");
    const { id, ...line } = await mod.next();
    expect(line).toEqual({ op: "run", text: "compact", args: "the plan" });
    await mod.answer(id, { value: { text: "Compacted" } });
    expect(await run()).toEqual({ value: { text: "Compacted" } });
  });

  test("fails with the CLI's reason", async () => {
    const mod = await connected("refusing");
    for (const [answer, code] of [
      [{ refused: "under a dialog", code: "dialog" }, "dialog"],
      [{ refused: "a hook", code: "gone" }, "refused"],
    ] as const) {
      const answered = await call("refusing", "submit", "text");
      await mod.answer((await mod.next()).id, answer);
      const { failure } = await answered();
      expect(failure?.code).toBe(code);
      expect(failure?.message).toContain(answer.refused);
    }
    const answered = await call("refusing", "run", "nosuch", "");
    const refused =
      "HooksError: our-plugin: $.command.run: no command named /nosuch in this session";
    await mod.answer((await mod.next()).id, { refused });
    expect((await answered()).failure).toEqual({
      code: "no_command",
      message: "Claude has no command /nosuch",
    });
  });

  test("joins no word of the draft with the text that it inserts", async () => {
    const mod = await connected("filling");
    for (const [text, cursor, given, inserted] of [
      ["", 0, "lines\n", "lines\n"],
      ["my draft", 8, "lines\n", "\nlines\n"],
      ["my draft", 8, "word", " word"],
      ["my draft", 3, "word", "word"],
      ["my\n", 3, "word", "word"],
    ] as const) {
      const answered = await call("filling", "fill", given);
      const read = await mod.next();
      expect(read.op).toBe("draft");
      await mod.answer(read.id, { value: { text, cursor } });
      const { id, ...operation } = await mod.next();
      expect(operation).toEqual({ op: "fill", text: inserted, args: "" });
      await mod.answer(id, { value: { text, cursor } });
      expect((await answered()).failure).toBeUndefined();
    }
  });

  test("fails for a result that is not in the contract", async () => {
    const mod = await connected("wrong");
    for (const value of [{ text: 1 }, { text: "", cursor: 0.5 }, { text: "", cursor: 1e308 }]) {
      const answered = await call("wrong", "draft");
      await mod.answer((await mod.next()).id, { value });
      expect(await failure(answered)).toBe("defect");
    }
  });

  test("is not repeated when the CLI ends before the answer", async () => {
    claims("A prompt is sent once");
    const mod = await connected("ending");
    const answered = await call("ending", "submit", "once");
    await mod.next();
    const abort = new AbortController();
    const poll = mod.post("next", {}, { signal: abort.signal }).catch(() => {});
    await mod.post("report");
    abort.abort();
    await poll;
    const { failure: lost } = await answered();
    expect(lost).toMatchObject({ code: "gone", message: expect.stringContaining("still arrive") });
    await eventually("no mod", async () => !(await has("ending")));
    const next = await connected("ending");
    const draft = await call("ending", "draft");
    const { id, op } = await next.next();
    expect(op).toBe("draft");
    await next.answer(id, { value: { text: "", cursor: 0 } });
    await draft();
  });

  test("is lost, and not repeated, if the mod has not received it", async () => {
    const mod = await connected("losing");
    const lost = await call("losing", "submit", "lost");
    const kept = await call("losing", "submit", "kept");
    await mod.next();
    const { id } = await mod.next();
    const poll = mod.post("next", { open: [id] });
    expect(await failure(lost)).toBe("gone");
    await mod.answer(id);
    expect(await kept()).toEqual([] as never);
    await call("losing", "stop");
    await poll;
  });

  test("has a bounded result of visible characters", async () => {
    const mod = await connected("excessive");
    const result = async (name: string, value: unknown) => {
      const answered = await call("excessive", name, ...(name === "ask" ? ["why?"] : []));
      await mod.answer((await mod.next()).id, { value });
      return (await answered()).value as never;
    };
    const text = "a\u001b[2J\u202e\n\tb";
    expect(await result("ask", { text })).toEqual({ text: "a<1b>[2J<202e>\n\tb" } as never);
    const long: { text: string } = await result("ask", { text: "\u001b".repeat(2 ** 20) });
    expect(long.text.length).toBeLessThanOrEqual(2 ** 18 + 1);
    const names = ["a b", "a\u202e", "", "a".repeat(101), "mcp__server:ünï.code"];
    for (let i = 0; i < 20_000; i++) names.push(`name${i}`);
    const description = `${"x".repeat(300)}\n`;
    const all: object[] = await result(
      "commands",
      names.map((name) => ({ name, description })),
    );
    expect(all).toHaveLength(2_000);
    expect(all[0]).toEqual({ name: names[4], description: `${"x".repeat(199)}…` });
  });

  test("is not sent where there is no mod", async () => {
    expect(await failure(await call("nowhere", "submit", "text"))).toBe("no_mod");
  });
});

describe("a session", () => {
  test("has one mod, which follows it through /clear", async () => {
    const mod = await connected("before-clear");
    const other = new Mod("before-clear");
    expect((await other.post("next")).status).toBe(423);
    mod.session = "after-clear";
    await mod.post("report");
    writeSession("after-clear");
    await eventually("the mod of the next session", () => has("after-clear"));
    expect((await other.post("report")).status).toBe(204);
  });

  test("shows usage and tasks in its row", async () => {
    const mod = await connected("counted");
    const usage = { percent: 12, tokens: 24_000, window: 200_000, cost: 0.5 };
    await mod.post("report", { usage });
    await eventually("usage", async () => Bun.deepEquals(await row("counted", "usage"), usage));
    const folder = join(neovim.home, ".claude/tasks/counted");
    mkdirSync(folder, { recursive: true });
    const write = (id: number, status: string, activeForm?: string) =>
      writeFileSync(
        join(folder, `${id}.json`),
        JSON.stringify({ subject: `task ${id}`, status, activeForm }),
      );
    write(1, "completed");
    write(2, "in_progress", "Writing the \u001b[31mparser");
    write(3, "pending");
    writeFileSync(join(folder, "4.json"), "{");
    const tasks = { done: 1, all: 3, doing: "Writing the <1b>[31mparser" };
    await eventually("tasks", async () => Bun.deepEquals(await row("counted", "tasks"), tasks));
    const [seen, began] = [new Set<string>(), performance.now()];
    for (let i = 0; i < 300; i++) {
      write(2, "in_progress", `Task ${i}`);
      seen.add(await row("counted", "tasks.doing"));
    }
    expect(seen.size).toBeLessThanOrEqual(2 + (performance.now() - began) / 1_000);
    rmSync(folder, { recursive: true });
    await eventually("no tasks", async () => (await row("counted", "tasks")) === null);
  });

  test("sends the answer that Claude writes, while Neovim reads it", async () => {
    const mod = await connected("writing");
    const follow = () =>
      neovim.lua(`written, shown = {}, nil
        stop = mod.follow("writing", function(update)
          if shown and shown.answer == update.answer then
            update.lines = vim.list_extend(vim.list_slice(shown.lines, 1, update.row), update.lines)
          end
          shown = update
        end)`);
    const last = () =>
      neovim.lua("return shown and { table.concat(shown.lines, '|'), shown.done }");
    await follow();
    await neovim.lua("stop()");
    await follow();
    for (const args of ["on", "", "on"]) {
      const { id, op, args: given } = await mod.next();
      expect([op, given]).toEqual(["follow", args]);
      await mod.answer(id);
    }
    for (const [text, done] of [
      ["```\nOne ", false],
      ["two.\nthree", true],
    ])
      await mod.post("report", { written: { text, done } });
    await eventually("the whole answer", async () =>
      Bun.deepEquals(await last(), ["```|One two.|three|```|", true]),
    );
    await mod.post("report", { written: { text: "Next", done: false } });
    await eventually("the next", async () => Bun.deepEquals(await last(), ["Next|", false]));
    await neovim.lua("stop()");
    expect(await mod.next()).toMatchObject({ op: "follow", args: "" });
    await mod.post("report", { written: { text: "unread", done: false } });
    expect(await last()).toEqual(["Next|", false]);
  });

  test("has its mod again after the executable has restarted", async () => {
    const mod = await connected("restarted");
    const answered = await call("restarted", "submit", "lost");
    const pid = await neovim.ready();
    process.kill(pid, "SIGKILL");
    expect(await failure(answered)).toBe("gone");
    await neovim.ready(pid);
    await mod.post("report");
    await eventually("the mod", () => has("restarted"));
  });
});
