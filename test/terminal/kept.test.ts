import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import {
  claims,
  eventually,
  isolatedEnv,
  NEOVIMS,
  NEWEST,
  type NeovimVersion,
  type SessionRow,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { join } from "../../src/lib/platform";
import { Terminal } from "../support/tmux";

const OPTION = "@claude_code_nvim";

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

  /** The panes beside the first one, with their tags. */
  async panes(): Promise<{ pane: string; pid: number; tag: string }[]> {
    const format = `#{pane_id} #{pane_pid} #{pane_dead} #{${OPTION}}`;
    const lines = await (await this.terminal()).tmux("list-panes", "-a", "-F", format);
    return lines
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .filter(([pane, , dead]) => pane !== "%0" && dead === "0")
      .map(([pane = "", pid, , tag = ""]) => ({ pane, pid: Number(pid), tag }));
  }

  async onlyPane() {
    const [pane, ...others] = await this.panes();
    if (!pane || others.length > 0) throw new Error(`panes: ${others.length + (pane ? 1 : 0)}`);
    return pane;
  }

  async setTag(pane: string, text: string): Promise<void> {
    await (await this.terminal()).tmux("set-option", "-p", "-t", pane, OPTION, text);
  }

  /** Claude's own list of its processes has this one, too. */
  async lists(pid: number): Promise<void> {
    const folder = join(this.home, ".claude/sessions");
    await mkdir(folder, { recursive: true });
    const content = { pid, sessionId: "1", cwd: this.project, kind: "interactive", name: "docs" };
    writeFileSync(join(folder, `${pid}.json`), JSON.stringify(content));
  }

  async shows(pane: string, text: string): Promise<void> {
    const terminal = await this.terminal();
    await eventually("the text", async () =>
      (await terminal.tmux("capture-pane", "-p", "-t", pane)).includes(text),
    );
  }
}

const own = async (neovim: TestNeovim) =>
  (await neovim.lua<SessionRow[]>(`return require("claude-code").sessions()`)).filter(({ n }) => n);

/** Waits until the server is ready; the port, and the token that clients must show. */
async function endpoint(neovim: TestNeovim) {
  await neovim.ready();
  return neovim.lua<{ port: number; token: string }>(
    `return { port = require("port").server.port, token = require("port").endpoint.token() }`,
  );
}

const asksForIde = (neovim: TestNeovim) =>
  eventually("a message", async () =>
    (await neovim.lua<string[]>("return SAID")).some((text) =>
      text.includes("type /ide there and choose Neovim"),
    ),
  );

async function kill(neovim: TestNeovim): Promise<void> {
  const gone = new Promise((resolve) => neovim.process.once("exit", resolve));
  neovim.process.kill("SIGKILL");
  await gone;
}

/** Starts Claude in a pane, and ends its Neovim. */
async function leave(world: World, version: NeovimVersion, end: (neovim: TestNeovim) => unknown) {
  const neovim = await world.neovim(version);
  const before = await endpoint(neovim);
  await neovim.command("Claude");
  const pane = await eventually("its pane, with a tag", async () => {
    const one = await world.onlyPane();
    return one.tag !== "" && one;
  });
  await end(neovim);
  return { ...before, ...pane };
}

describe.each(NEOVIMS)("a Claude that $name leaves in tmux", (version) => {
  const world = new World();
  afterAll(() => world[Symbol.asyncDispose]());

  test.each([
    ["kill -9", kill],
    [":qa", (neovim: TestNeovim) => neovim.quit()],
  ] as const)("by %s keeps running; the next Neovim shows it and sends to it", async (_, end) => {
    const left = await leave(world, version, end);
    const next = await world.neovim(version);
    const { port, token } = await endpoint(next);
    expect(port).not.toBe(left.port);
    expect(token).not.toBe(left.token);
    await asksForIde(next);
    const [row, ...others] = await own(next);
    expect(row).toMatchObject({ n: 1, where: "tmux", cwd: world.project, pid: left.pid });
    expect(others).toEqual([]);
    await next.command("Claude send one more");
    await world.shows(left.pane, "one more");
    // This starts no other Claude, and the pane moves to Neovim's window.
    await next.command("Claude focus");
    expect((await world.onlyPane()).pane).toBe(left.pane);
    await next.command("Claude close");
    await eventually("the end of the pane", async () => (await world.panes()).length === 0);
    await next.quit();
  });

  test("is shown by :Claude before the server has started", async () => {
    const left = await leave(world, version, kill);
    const next = await world.neovim(version, { setup: "{ auto_start = false }" });
    await world.lists(left.pid);
    const all = () => next.lua<SessionRow[]>(`return require("claude-code").sessions()`);
    // No question about sessions looks into tmux.
    expect(await next.lua(`return require("port").running.is_any_open()`)).toBe(false);
    await next.command("Claude");
    await eventually("one row, with its name", async () =>
      expect((await all()).map(({ n, name }) => [n, name])).toEqual([[1, "docs"]]),
    );
    await asksForIde(next);
    expect((await world.onlyPane()).pane).toBe(left.pane);
  });
});

describe("a pane that is kept", () => {
  const world = new World();
  let left: Awaited<ReturnType<typeof leave>>;
  beforeAll(async () => {
    left = await leave(world, NEWEST, kill);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** It stays unchanged. */
  const expectNotTaken = async (neovim: TestNeovim) => {
    await endpoint(neovim);
    const before = await world.onlyPane();
    expect(await own(neovim)).toEqual([]);
    expect(await world.onlyPane()).toEqual(before);
    await neovim.quit();
    expect((await world.onlyPane()).pane).toBe(left.pane);
  };

  test.each([
    ["another program has written", "garbage!"],
    ["has no number", "1"],
    ["has a command in it", "1.1,}#(true)"],
    ["has an enormous number", `${2 ** 22 + 1}.${2 ** 60}`],
    ["names a Neovim that runs", `${process.pid}.1`],
  ])("is not taken with a tag that %s", async (_, tag) => {
    await world.setTag(left.pane, tag);
    await expectNotTaken(await world.neovim(NEWEST));
    expect((await world.onlyPane()).tag).toBe(tag);
  });

  test("is not taken by a Neovim that edits a commit message, nor in another project", async () => {
    await world.setTag(left.pane, left.tag);
    const editing = await world.neovim(NEWEST, { args: [".git/COMMIT_EDITMSG"] });
    await eventually("its decision", () =>
      editing.lua<string>(`return require("port").autostart.reason`),
    );
    await expectNotTaken(await world.neovim(NEWEST, { cwd: join(world.home, "elsewhere") }));
    await editing.quit();
  });

  test("is not seen in another tmux", async () => {
    await using other = new World();
    const inside = await (await other.terminal()).inside();
    await expectNotTaken(await world.neovim(NEWEST, { env: inside }));
  });

  test("leaves no token in an option of tmux, an argument or a file", async () => {
    claims("The token is in no argument, log or error");
    const { token } = left;
    const terminal = await world.terminal();
    const options = await terminal.tmux("show-options", "-p", "-t", left.pane);
    expect(options.trim()).toBe(`${OPTION} ${left.tag}`);
    expect(left.tag).toMatch(/^\d+\.1$/);
    const { stdout } = Bun.spawnSync(["ps", "-wwAo", "args="]);
    expect(stdout.toString()).toContain("cat");
    expect(stdout.toString()).not.toContain(token);
    const files = readdirSync(world.home, { recursive: true })
      .map((name) => join(world.home, String(name)))
      .filter((path) => statSync(path).isFile() && readFileSync(path).includes(token));
    expect(files).toEqual([]);
  });

  test("is taken by one of two Neovims that start at once", async () => {
    const both = await Promise.all([world.neovim(NEWEST), world.neovim(NEWEST)]);
    await Promise.all(both.map(endpoint));
    const numbers = await Promise.all(both.map(async (one) => (await own(one)).length));
    expect(numbers.toSorted()).toEqual([0, 1]);
  });
});
