import { mkdirSync, writeFileSync } from "node:fs";
import {
  claims,
  EXECUTABLE,
  eventually,
  isolatedEnv,
  NEOVIMS,
  NEWEST,
  needs,
  nightly,
} from "#test";
import { join } from "../../src/lib/platform";
import { keepBusy } from "../support/busy";
import { later } from "../support/later";
import { languageServer } from "../support/lsp-stdio";
import { Calls } from "./calls";
import { Project } from "./project";
import { publish, startSilentServer } from "./silent-server";

/* How hooks wait for a language server: for its report, until the deadline, or no longer. */
const GO = { continue: true } as const;

/** The numbers of running timers and of open channels. */
const LEFT_BEHIND = `
  local timers = 0
  vim.uv.walk(function(handle)
    if handle:get_type() == "timer" and handle:is_active() and not handle:is_closing() then
      timers = timers + 1
    end
  end)
  return { timers, #vim.api.nvim_list_chans() }`;

const NEVER_MS = 600_000;
const LONG_DEADLINE = `require('port').sessions.AFTER_EDIT_MS = ${NEVER_MS}`;

/** The fewest of each in some time: other timers come and go. */
async function least(project: Project): Promise<number[]> {
  let counts = [99, 99];
  for (let i = 0; i < 30; i++) {
    const now = await project.neovim.lua<number[]>(LEFT_BEHIND);
    counts = counts.map((count, kind) => Math.min(count, now[kind] ?? 0));
    await Bun.sleep(10);
  }
  return counts;
}

/** The end of a turn waits this long, whether servers are busy or not. */
const deadline = (project: Project, ms: number) =>
  project.neovim.lua(
    `local turn = require("port").sessions
     turn.DEADLINE_MS, turn.BUSY_DEADLINE_MS = ..., (...)`,
    ms,
  );

async function open(version = NEWEST): Promise<Project> {
  const project = await Project.open(version, "{ diagnostics = { after_edit = false } }");
  await project.neovim.lua(LONG_DEADLINE);
  await deadline(project, NEVER_MS);
  await startSilentServer(project);
  return project;
}

describe.each(NEOVIMS)("a hook waits with $name", (version) => {
  let project: Project;
  let calls: Calls;
  beforeAll(async () => {
    project = await open(version);
    calls = await Calls.count(project);
  });
  afterAll(() => project[Symbol.asyncDispose]());

  test.each([
    ["an error: blocked", "wrong", "block"],
    ["no error: allowed", "", undefined],
  ])("until the server reports %s", async (_name, problem, decision) => {
    const session = { session_id: `${decision}` };
    const name = `${decision}.txt`;
    await project.edit(name, "one\n", session);
    await calls.forget();
    const stopped = project.stop(session);
    await calls.waiting();
    await Bun.sleep(300);
    await publish(project, name, problem);
    expect((await stopped).decision).toBe(decision);
    const asked = (await calls.list()).filter((name) => /^(session|when)_/.test(name));
    expect(asked.at(-1)).toBe(decision ? "session_blocked" : "session_allowed");
    // Neovim is asked again when something changes, not all the time.
    expect(asked.length).toBeLessThan(9);
  });

  test("after an edit, for its new problems", async () => {
    await project.neovim.lua("require('port').config.get().diagnostics.after_edit = true");
    await calls.forget();
    const edited = project.edit("after.txt", "one\n", { session_id: "after" });
    await calls.waiting();
    await publish(project, "after.txt", "wrong after all");
    const { output } = await edited;
    expect(JSON.stringify(output)).toContain("after.txt:1:1 error: wrong after all");
    await project.neovim.lua("require('port').config.get().diagnostics.after_edit = false");
  });

  test("two at once, each for its own files", async () => {
    const [a, b] = [{ session_id: "a" }, { session_id: "b" }];
    await project.edit("a.txt", "one\n", a);
    await project.edit("b.txt", "one\n", b);
    await calls.forget();
    const first = project.stop(a);
    const second = project.stop(b);
    await calls.waiting(2);
    await publish(project, "b.txt", "wrong in b");
    expect((await second).reason).toContain("b.txt:1:1 error: wrong in b");
    await publish(project, "a.txt", "wrong in a");
    expect((await first).reason).toContain("a.txt:1:1 error: wrong in a");
  });
});

test.each(NEOVIMS)("asks a server for a file in no window, with $name", async (version) => {
  await using project = await Project.open(version);
  await project.neovim.lua(LONG_DEADLINE);
  const switches = join(project.neovim.home, "switches");
  mkdirSync(switches);
  writeFileSync(join(switches, "pull"), "");
  await project.serve({ text: languageServer(switches) });
  const context = async (text: string) =>
    JSON.stringify((await project.edit("pull.txt", text)).output ?? "nothing");
  expect(await context("WRONG\n")).toContain("error: WRONG");
  expect(await context("right\n")).toBe('"nothing"');
  expect(await project.stop()).toEqual(GO);
  expect(await context("WRONG again\n")).toContain("error: WRONG again");
});

describe("when the report does not come", () => {
  let project: Project;
  let calls: Calls;
  let session: { session_id: string };
  let count = 0;
  beforeAll(async () => {
    project = await open();
    calls = await Calls.count(project);
  });
  afterAll(() => project[Symbol.asyncDispose]());
  beforeEach(async () => {
    await deadline(project, NEVER_MS);
    await calls.forget();
    session = { session_id: `session-${++count}` };
  });
  const edit = (name: string, text: string) => project.edit(name, text, session);

  // Neovim 0.10 gives all texts of a file that is reloaded the same version.
  nightly.test("ignores a late report on the previous text", async () => {
    await edit("older.txt", "one\n");
    await publish(project, "older.txt", "wrong");
    await edit("older.txt", "two\n");
    const stopped = project.stop(session);
    await calls.waiting();
    await publish(project, "older.txt", "wrong still", 1);
    await Bun.sleep(250);
    await publish(project, "older.txt", "");
    expect(await stopped).toEqual(GO);
  });

  test("ends the wait at the deadline, and says so", async () => {
    project.write("late.txt", "one\n");
    await project.neovim.command(`edit ${project.path("late.txt")}`);
    await publish(project, "late.txt", "from before");
    await edit("late.txt", "two\n");
    const stopped = project.stop(session);
    await calls.waiting();
    await later(project.neovim, NEVER_MS);
    const { decision, reason } = await stopped;
    expect(decision).toBe("block");
    expect(reason).toContain("late.txt:1:1 error: from before");
    expect(reason).toContain("this may be older than your last edit");
  });

  test("counts the problems so far once the server leaves the file", async () => {
    await edit("ends.txt", "ERROR by the linter\n");
    const stopped = project.stop(session);
    await calls.waiting();
    await project.neovim.lua(`
      for _, client in ipairs(vim.lsp.get_clients()) do
        vim.lsp.buf_detach_client(vim.fn.bufnr("ends.txt"), client.id)
      end`);
    expect((await stopped).reason).toContain("ERROR by the linter");
  });

  nightly.test("allows the end while Neovim is busy until after the deadline", async () => {
    // Neovim's own clock is stopped, so it is busy before the time is over.
    await project.neovim.lua("NOW, HELD = vim.uv.now, vim.uv.now()");
    await project.neovim.lua("vim.uv.now = function() return HELD end");
    await deadline(project, 100);
    await edit("busy.txt", "one\n");
    const stopped = project.stop(session);
    await calls.waiting();
    const release = await keepBusy(project.neovim);
    expect(await stopped).toEqual(GO);
    expect(project.log).toContain("busy");
    await release();
    await project.neovim.lua("vim.uv.now = NOW");
  });

  needs("signals")("allows the end soon while Neovim is stopped", async () => {
    claims("A held turn is let go");
    await edit("stopped.txt", "one\n");
    project.neovim.process.kill("SIGSTOP");
    try {
      expect(await project.stop(session)).toEqual(GO);
    } finally {
      project.neovim.process.kill("SIGCONT");
    }
  });

  test("leaves nothing in Neovim when the hook is killed", async () => {
    await edit("killed.txt", "one\n");
    const before = await least(project);
    const child = Bun.spawn([EXECUTABLE, "hook", "stop"], {
      cwd: project.folder,
      env: isolatedEnv(project.neovim.home),
      stdin: new Blob([JSON.stringify({ ...session, cwd: project.folder })]),
    });
    await calls.waiting();
    child.kill("SIGKILL");
    await child.exited;
    await later(project.neovim, NEVER_MS);
    await eventually("no more than before", async () => {
      const now = await project.neovim.lua<number[]>(LEFT_BEHIND);
      expect(now.every((count, kind) => count <= (before[kind] ?? 0))).toBe(true);
    });
    expect(await project.neovim.lua("return vim.fn.execute('messages')")).toBe("");
  });

  test("allows the end at once when Neovim ends", async () => {
    await edit("gone.txt", "one\n");
    const stopped = project.stop(session);
    await calls.waiting();
    await project.neovim.quit();
    expect(await stopped).toEqual(GO);
  });
});
