import { type ChildProcess, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import * as fc from "fast-check";
import { commitAll, git } from "#review";
import {
  eventually,
  isRunning,
  NEOVIMS,
  needs,
  type SessionRow,
  startSleeping,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { join, SYSTEM } from "../../src/lib/platform";

/* Running CLIs describe themselves in `sessions/PID.json`: the sessions of the workspace. */

/** Claude Code's (2.1.330) name of the process ids that mean the same processes as here. */
const DOMAIN = {
  linux: () => `linux:${content("/etc/machine-id").trim()}:${readlinkSync("/proc/self/ns/pid")}`,
  win32: () => `linux:${hostname().toLowerCase()}`,
  darwin: () => "linux",
}[SYSTEM]();

function content(path: string): string {
  return existsSync(path) ? readFileSync(path, "latin1") : "";
}

/** Undefined if the system does not report it. */
function startOf(pid: number): string | undefined {
  return content(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ")[19];
}

describe.each(NEOVIMS)("the files of running CLIs and Neovim $name", (version) => {
  let home: string;
  let project: string;
  let folder: string;
  let neovim: TestNeovim;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    home = temporaryFolder();
    project = temporaryFolder();
    folder = join(home, ".claude/sessions");
    mkdirSync(folder, { recursive: true });
    neovim = await TestNeovim.start({
      version,
      home,
      cwd: project,
      setup: "{ auto_start = false }",
    });
    await neovim.lua(`rows = require("port").session_rows rows.remove(rows.add({}))`);
    await neovim.command("ClaudeCodeStart");
    await neovim.ready();
  });
  afterAll(async () => {
    await neovim[Symbol.asyncDispose]();
    for (const child of children) child.kill("SIGKILL");
    for (const path of [home, project]) rmSync(path, { recursive: true, force: true });
  });
  beforeEach(async () => {
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    for (const child of children.splice(0)) child.kill("SIGKILL");
    await neovim.lua(`
      for _, row in ipairs(rows.list()) do rows.remove({ n = row.n, pid = row.pid, id = row.id }) end
      require("claude-code").sessions()`);
  });

  function run(): number {
    const child = startSleeping();
    children.push(child);
    return child.pid as number;
  }

  function write(pid: number, fields: object = {}): void {
    const content = {
      ...{ pid, sessionId: `id-${pid}`, cwd: project, kind: "interactive", status: "idle" },
      ...{ procStart: startOf(pid), pidDomain: DOMAIN },
    };
    writeFileSync(join(folder, `${pid}.json`), JSON.stringify({ ...content, ...fields }));
  }

  /** An empty table of Lua's is an object here. */
  const rows = async () =>
    Object.values(await neovim.lua<SessionRow[] | object>("return rows.list()"));

  async function row(what: string, wanted: (row: SessionRow) => boolean): Promise<SessionRow> {
    let found: SessionRow | undefined;
    await eventually(what, async () => {
      found = (await rows()).find(wanted);
      return found !== undefined;
    });
    return found as SessionRow;
  }

  test("shows each state as it changes, and the end", async () => {
    const pid = run();
    write(pid, { name: "fix\u001b[31m login", nameSource: "user" });
    const first = await row("its row", (one) => one.state === "idle");
    expect(first).toMatchObject({ pid, id: `id-${pid}`, name: "fix [31m login", where: "outside" });
    for (const [status, waitingFor, state, kind] of [
      ["busy", "", "working"],
      ["idle", "", "idle"],
      ["shell", "", "working"],
      ["waiting", "permission prompt", "blocked", "permission"],
      ["waiting", "input needed", "blocked", "question"],
      ["waiting", "something new", "blocked"],
    ]) {
      write(pid, { status, waitingFor });
      await row(`${status} ${waitingFor}`, (one) => one.state === state && one.kind === kind);
    }
    write(pid, { status: "idle", sessionId: "after-clear" });
    await row("another conversation", (one) => one.id === "after-clear" && one.state === "idle");
    expect(await rows()).toHaveLength(1);
    rmSync(join(folder, `${pid}.json`));
    await eventually("its end", async () => (await rows()).length === 0);
  });

  test("shows only sessions of the workspace and of its repositories' work trees", async () => {
    commitAll(project, {});
    const beside = temporaryFolder();
    const linked = join(beside, "linked");
    git(project, "worktree", "add", "-q", "-b", "topic", linked);
    const [inside, outside, below] = [run(), run(), run()];
    write(inside, { cwd: linked });
    write(outside, { cwd: beside });
    write(below, { cwd: join(project, "some/where") });
    await row("the one in the work tree", (one) => one.worktree === "linked");
    const last = await row("the one below", (one) => one.pid === below);
    expect(last).toMatchObject({ branch: "main" });
    expect(await rows()).toContainEqual(expect.objectContaining({ pid: inside, branch: "topic" }));
    expect(await rows()).toHaveLength(2);
    rmSync(beside, { recursive: true, force: true });
    rmSync(join(project, ".git"), { recursive: true });
  });

  test("shows no process that has ended, reuses an id, or runs on another machine", async () => {
    const [dead, other, right] = [run(), run(), run()];
    write(dead);
    process.kill(dead, "SIGKILL");
    await eventually("its end", () => !isRunning(dead));
    write(dead, { procStart: "1" });
    write(other, { procStart: "1" });
    write(run(), { pidDomain: "linux:elsewhere:pid:[1]", procStart: "1", sessionId: "foreign" });
    write(right);
    await row("the one that runs", (one) => one.pid === right);
    const others = (await rows()).filter((one) => one.pid !== right);
    // Only Linux says when a process began.
    expect(others).toHaveLength(process.platform === "linux" ? 0 : 1);
  });

  test("shows background sessions; no spare ones, daemons or unknown kinds", async () => {
    const background = run();
    const bg = { kind: "bg", name: "nightly", nameSource: "user", status: "busy" };
    write(background, { ...bg, jobId: "--print" });
    write(run(), { kind: "daemon" });
    write(run(), { kind: "bg", spare: true });
    write(run(), { kind: "of another version" });
    const found = await row("the background session", (one) => one.pid === background);
    expect(found).toMatchObject({ where: "background", name: "nightly", state: "working" });
    expect(found).not.toHaveProperty("job");
    expect(await rows()).toHaveLength(1);
  });

  needs("FIFOs")("shows the user no error, whatever the files hold", async () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom("interactive", "idle", "waiting", project, DOMAIN),
    );
    const keys = [
      ...["pid", "sessionId", "cwd", "kind", "name", "nameSource", "status", "waitingFor"],
      ...["procStart", "pidDomain", "spare", "updatedAt", "statusUpdatedAt", "jobId"],
    ];
    const changes = fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 4 });
    const garbage = fc.oneof(fc.string({ unit: "binary" }), fc.json(), changes);
    const pid = run();
    for (const content of fc.sample(garbage, { numRuns: 150, seed: 1 })) {
      if (typeof content === "string") writeFileSync(join(folder, `${pid}.json`), content);
      else write(pid, content);
    }
    spawnSync("mkfifo", [join(folder, "7.json")]);
    mkdirSync(join(folder, "8.json"));
    writeFileSync(join(folder, "9.json"), Buffer.alloc(300_000, " "));
    writeFileSync(join(folder, "99999999999999999999.json"), "{}");
    const last = run();
    write(last, { sessionId: "last" });
    await row("the last one", (one) => one.id === "last");
    expect(await neovim.command("messages")).toBe("");
    expect(await neovim.lua<string>("return vim.v.errmsg")).toBe("");
  });
});
