import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { eventually } from "../support/eventually";
import {
  isolatedEnv,
  NEOVIMS,
  NEWEST,
  type NeovimVersion,
  nightly,
  TestNeovim,
  temporaryFolder,
} from "../support/neovim";
import { Terminal } from "../support/tmux";

const OPTION = "@claude_code_nvim";

interface Row {
  n?: number;
  cwd: string;
  where: string;
  pid: number;
}

interface Mark {
  neovim: { pid: number; start: string };
  program: { pid: number; start: string };
  [field: string]: unknown;
}

/** A tmux with a project, in which one Neovim after the other runs. */
class World implements AsyncDisposable {
  readonly home = temporaryFolder();
  readonly project = join(this.home, "project");
  readonly #neovims: TestNeovim[] = [];
  #terminal: Terminal | undefined;

  async [Symbol.asyncDispose](): Promise<void> {
    for (const neovim of this.#neovims) await neovim[Symbol.asyncDispose]();
    await this.#terminal?.close();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  async terminal(): Promise<Terminal> {
    if (this.#terminal) return this.#terminal;
    for (const folder of ["run", "project", "elsewhere"])
      await mkdir(join(this.home, folder), { recursive: true });
    this.#terminal = await Terminal.start({
      ...{ command: ["cat"], cwd: this.project, env: isolatedEnv(this.home), columns: 400 },
    });
    return this.#terminal;
  }

  async neovim(
    version: NeovimVersion,
    options: { cwd?: string; setup?: string; env?: Record<string, string>; args?: string[] } = {},
  ): Promise<TestNeovim> {
    const inside = await (await this.terminal()).inside();
    const terminal = `{ provider = "tmux", keep = true, command = { "sh", "-c", "echo up; exec cat" } }`;
    const neovim = await TestNeovim.start({
      ...{ version, home: this.home, cwd: options.cwd ?? this.project },
      setup: `vim.tbl_extend("force", { terminal = ${terminal} }, ${options.setup ?? "{}"})`,
      env: { ...inside, ...options.env },
      args: options.args ?? [],
    });
    this.#neovims.push(neovim);
    await neovim.lua(`SAID = {} vim.notify = function(text) table.insert(SAID, text) end`);
    return neovim;
  }

  /** The panes beside the first one, with their marks. */
  async panes(): Promise<{ pane: string; pid: number; mark: string }[]> {
    const format = `#{pane_id} #{pane_pid} #{pane_dead} #{${OPTION}}`;
    const lines = await (await this.terminal()).tmux("list-panes", "-a", "-F", format);
    return lines
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .filter(([pane, , dead]) => pane !== "%0" && dead === "0")
      .map(([pane = "", pid, , mark = ""]) => ({ pane, pid: Number(pid), mark }));
  }

  async onlyPane() {
    const [pane, ...others] = await this.panes();
    if (!pane || others.length > 0) throw new Error(`panes: ${others.length + (pane ? 1 : 0)}`);
    return pane;
  }

  async setMark(pane: string, text: string): Promise<void> {
    await (await this.terminal()).tmux("set-option", "-p", "-t", pane, OPTION, text);
  }

  async screen(pane: string): Promise<string> {
    return (await this.terminal()).tmux("capture-pane", "-p", "-t", pane);
  }

  /** Ends all but the first pane. */
  async clear(): Promise<void> {
    for (const { pane } of await this.panes())
      await (await this.terminal()).tmux("kill-pane", "-t", pane);
  }
}

const read = (text: string): Mark => JSON.parse(Buffer.from(text, "base64").toString());
const write = (mark: object): string => Buffer.from(JSON.stringify(mark)).toString("base64");

const rows = async (neovim: TestNeovim) =>
  (await neovim.lua<Row[]>(`return require("claude-code").sessions()`)).filter(({ n }) => n);

const said = (neovim: TestNeovim) => neovim.lua<string[]>("return SAID");

/** Waits until the server is ready; the port, and the token that clients must show. */
async function endpoint(neovim: TestNeovim) {
  await eventually("a ready server", () =>
    neovim.lua<boolean>(`return require("claude-code").status().state == "ready"`),
  );
  return neovim.lua<{ port: number; token: string }>(
    `return { port = require("port").server.port, token = require("port").endpoint.token() }`,
  );
}

async function kill(neovim: TestNeovim): Promise<void> {
  const gone = new Promise((resolve) => neovim.process.once("exit", resolve));
  neovim.process.kill("SIGKILL");
  await gone;
}

/** A program of somebody else's; rejected while an executable that ends still has the port. */
async function listening(port: number): Promise<Server> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  server.once("error", reject).listen(port, "127.0.0.1", () => resolve(server));
  return promise;
}

/** Starts Claude in a pane, and ends its Neovim. */
async function leave(world: World, version: NeovimVersion, end: (neovim: TestNeovim) => unknown) {
  const neovim = await world.neovim(version);
  const before = await endpoint(neovim);
  await neovim.command("Claude");
  const pane = await eventually("its pane", () => world.onlyPane());
  await end(neovim);
  return { ...before, ...pane };
}

describe.each(NEOVIMS)("a Claude that $name leaves in tmux", (version) => {
  const world = new World();
  afterAll(() => world[Symbol.asyncDispose]());

  const ends: [name: string, end: (neovim: TestNeovim) => Promise<void>][] = [
    ["kill -9", kill],
    [
      ":qa",
      async (neovim) => {
        await neovim.command("mksession! tmux.vim");
        await neovim.quit();
      },
    ],
  ];
  test.each(ends)(
    "by %s runs on, and the next Neovim has it, its port and token",
    async (_, end) => {
      const left = await leave(world, version, end);
      expect(await world.panes()).toHaveLength(1);

      // A pane has no window in a session file.
      const file = join(world.project, "tmux.vim");
      const next = await world.neovim(version, { args: existsSync(file) ? ["-S", file] : [] });
      expect(await endpoint(next)).toEqual({ port: left.port, token: left.token });
      const [row, ...others] = await rows(next);
      expect(row).toMatchObject({ n: 1, where: "tmux", cwd: world.project, pid: left.pid });
      expect(others).toEqual([]);
      await next.command("Claude send one more");
      await eventually("the text", async () =>
        (await world.screen(left.pane)).includes("one more"),
      );
      // It starts no other, and goes to where Neovim is.
      await next.command("Claude focus");
      expect((await world.onlyPane()).pane).toBe(left.pane);
      await next.command("Claude close");
      await eventually("the end of the pane", async () => (await world.panes()).length === 0);
      await next.quit();
    },
  );

  test("by kill -9 is started by no command again", async () => {
    const left = await leave(world, version, kill);
    const next = await world.neovim(version, { setup: "{ auto_start = false }" });
    await next.lua(`require("port").running.RETRY_MS = 100`);
    // What was listed as a session elsewhere is the same.
    const file = { pid: left.pid, sessionId: "1", cwd: world.project, kind: "interactive" };
    const listed = join(world.home, ".claude/sessions");
    await mkdir(listed, { recursive: true });
    writeFileSync(join(listed, `${left.pid}.json`), JSON.stringify(file));
    const all = () => next.lua<Row[]>(`return require("claude-code").sessions()`);
    await eventually("its row", async () => (await all()).some(({ pid }) => pid === left.pid));
    await next.command("Claude");
    await eventually("one row", async () => (await all()).map(({ n }) => n).join() === "1");
    expect(await endpoint(next)).toEqual({ port: left.port, token: left.token });
    expect((await world.onlyPane()).pane).toBe(left.pane);
    // No CLI runs there that would connect again: it is given a port that /ide takes for another.
    await eventually("a message", async () =>
      (await said(next)).some((text) => text.includes("type /ide there and choose Neovim")),
    );
    const changed = await endpoint(next);
    expect(changed.port).not.toBe(left.port);
    expect(changed.token).not.toBe(left.token);
    await world.clear();
    expect(await next.lua(`return require("port").terminal.is_open()`)).toBe(false);
    expect(await rows(next)).toEqual([]);
    await next.quit();
  });
});

describe("a pane that is kept", () => {
  const world = new World();
  let left: Awaited<ReturnType<typeof leave>>;
  beforeAll(async () => {
    left = await leave(world, NEWEST, kill);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** It stays as it is, whoever has started. */
  const expectNotAdopted = async (neovim: TestNeovim) => {
    expect((await endpoint(neovim)).token).not.toBe(left.token);
    const before = await world.onlyPane();
    expect(await rows(neovim)).toEqual([]);
    expect(await world.onlyPane()).toEqual(before);
    await neovim.quit();
    expect((await world.onlyPane()).pane).toBe(left.pane);
  };

  const changes: [name: string, change: (mark: Mark) => object | string][] = [
    ["that is no mark", () => "garbage!"],
    ["that is no JSON", () => Buffer.from("{").toString("base64")],
    ["that is a list", () => []],
    ["of another version", (mark) => ({ ...mark, version: 2 })],
    ["of another container", (mark) => ({ ...mark, domain: "linux:another:pid:[1]" })],
    ["without a folder", (mark) => ({ ...mark, cwd: undefined })],
    ["with a port that is none", (mark) => ({ ...mark, port: "22" })],
    ["with a token that is none", (mark) => ({ ...mark, token: "a'b" })],
    ["with a port that no program can have", (mark) => ({ ...mark, port: 70_000 })],
    ["with a token of another form", (mark) => ({ ...mark, token: "a-b" })],
    ["with a number that has no next one", (mark) => ({ ...mark, n: 2 ** 60 })],
    [
      "of another folder, in a spelling that begins as this one's",
      (mark) => ({ ...mark, cwd: `${mark.cwd}/../elsewhere` }),
    ],
    ["of another program", (mark) => ({ ...mark, program: { ...mark.program, pid: 1 } })],
    [
      "of a program that began at another time",
      (mark) => ({ ...mark, program: { ...mark.program, start: "1" } }),
    ],
    ["of another folder", (mark) => ({ ...mark, cwd: join(world.home, "elsewhere") })],
    ["that is too long", (mark) => ({ ...mark, name: "x".repeat(9000) })],
  ];
  describe("is not adopted", () => {
    let neovim: TestNeovim;
    beforeAll(async () => {
      await world.setMark(left.pane, "");
      neovim = await world.neovim(NEWEST);
      expect((await endpoint(neovim)).token).not.toBe(left.token);
    });
    afterAll(() => neovim.quit());

    test.each(changes)("with a mark %s", async (_, change) => {
      const changed = change(read(left.mark));
      const text = typeof changed === "string" ? changed : write(changed);
      await world.setMark(left.pane, text);
      expect(await neovim.lua(`return require("port").terminal.is_open()`)).toBe(false);
      expect(await rows(neovim)).toEqual([]);
      expect((await world.onlyPane()).mark).toBe(text);
    });
  });

  test("is not adopted while its Neovim runs", async () => {
    const stat = readFileSync(`/proc/${process.pid}/stat`, "utf8");
    const neovim = { pid: process.pid, start: stat.replace(/^.*\) /s, "").split(" ")[19] };
    await world.setMark(left.pane, write({ ...read(left.mark), neovim }));
    await expectNotAdopted(await world.neovim(NEWEST));
  });

  test("is not adopted by a Neovim that edits a commit message, nor in another project", async () => {
    await world.setMark(left.pane, left.mark);
    const editing = await world.neovim(NEWEST, { args: [".git/COMMIT_EDITMSG"] });
    await eventually("its decision", () =>
      editing.lua<string>(`return require("port").autostart.reason`),
    );
    const elsewhere = await world.neovim(NEWEST, { cwd: join(world.home, "elsewhere") });
    await expectNotAdopted(elsewhere);
    await editing.quit();
  });

  test("is not seen in another tmux", async () => {
    await using other = new World();
    const inside = await (await other.terminal()).inside();
    await expectNotAdopted(await world.neovim(NEWEST, { env: inside }));
  });

  test("shows its token in no argument and no file", async () => {
    const { token } = left;
    expect(read(left.mark).token).toBe(token);
    const { stdout } = Bun.spawnSync(["ps", "-wwAo", "args="]);
    expect(stdout.toString()).toContain("cat");
    expect(stdout.toString()).not.toContain(token);
    const files = readdirSync(world.home, { recursive: true })
      .map((name) => join(world.home, String(name)))
      .filter((path) => statSync(path).isFile() && readFileSync(path).includes(token));
    expect(files).toEqual([]);
  });

  test("is adopted by one of two Neovims that start at once", async () => {
    await world.setMark(left.pane, left.mark);
    const both = await Promise.all([world.neovim(NEWEST), world.neovim(NEWEST)]);
    const ends = await Promise.all(both.map(endpoint));
    const numbers = await Promise.all(both.map(async (one) => (await rows(one)).length));
    expect(numbers.toSorted()).toEqual([0, 1]);
    expect(ends.map(({ token }) => token === left.token).toSorted()).toEqual([false, true]);
    // The next test wants it as it was.
    await Promise.all(both.map(kill));
  });

  nightly.describe("whose port another program has", () => {
    let stranger: Server;
    afterAll(() => stranger?.close());

    test("is adopted without it and with another token, and what to do is said", async () => {
      await world.setMark(left.pane, left.mark);
      stranger = await eventually("the port", () => listening(left.port));
      const neovim = await world.neovim(NEWEST);
      const { port, token } = await endpoint(neovim);
      expect(port).not.toBe(left.port);
      expect(token).not.toBe(left.token);
      expect(await rows(neovim)).toHaveLength(1);
      await eventually("a message", async () =>
        (await said(neovim)).some((text) => text.includes("type /ide there and choose Neovim")),
      );
      // From now on the mark has these.
      expect(read((await world.onlyPane()).mark)).toMatchObject({ port, token });
      await kill(neovim);
    });
  });

  test.each([
    ["long ago", -60],
    // The clock was set back.
    ["in the future", 3600],
  ])("whose Neovim ended %s is adopted with another token", async (_, seconds) => {
    const ended = Math.floor(Date.now() / 1000) + seconds;
    const { port, ...mark } = read(left.mark);
    await world.setMark(left.pane, write({ ...mark, port, ended }));
    const neovim = await world.neovim(NEWEST);
    expect((await endpoint(neovim)).token).not.toBe(left.token);
    expect(await rows(neovim)).toHaveLength(1);
    await eventually("a message", async () => (await said(neovim)).length > 0);
    await kill(neovim);
  });

  test("outside of the option port_range gives neither its port nor its token", async () => {
    await world.setMark(left.pane, left.mark);
    const range = left.port < 30_000 ? "{ 30000, 65535 }" : "{ 10000, 29999 }";
    const neovim = await world.neovim(NEWEST, { setup: `{ port_range = ${range} }` });
    const { port, token } = await endpoint(neovim);
    expect(port).not.toBe(left.port);
    expect(token).not.toBe(left.token);
    await kill(neovim);
  });

  test("takes what it knows with it when it ends", async () => {
    await world.clear();
    const options = await (await world.terminal()).tmux("list-panes", "-a", "-F", `#{${OPTION}}`);
    expect(options.trim()).toBe("");
    const neovim = await world.neovim(NEWEST);
    expect((await endpoint(neovim)).token).not.toBe(left.token);
    expect(await rows(neovim)).toEqual([]);
  });
});
