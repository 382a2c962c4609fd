import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { keepBusy } from "../support/busy";
import { eventually } from "../support/eventually";
import { EXECUTABLE, isolatedEnv, NEOVIMS, NEWEST } from "../support/neovim";
import { Project } from "./project";
import { publish, startSilentServer } from "./silent-server";

/* How hooks wait for a language server: for its report, for the deadline, or for nothing any more. */
setDefaultTimeout(60_000);

const GO = { continue: true } as const;

/** Counts the calls of the executable. */
const COUNT = `
  local editor = require("port").dispatcher
  local call = editor.call
  _G.calls = {}
  editor.call = function(method, params)
    table.insert(_G.calls, method)
    return call(method, params)
  end`;

/** Timers that run, and channels that are open. */
const LEFT_BEHIND = `
  local timers = 0
  vim.uv.walk(function(handle)
    if handle:get_type() == "timer" and handle:is_active() and not handle:is_closing() then
      timers = timers + 1
    end
  end)
  return { timers, #vim.api.nvim_list_chans() }`;

/** Machines that are busy with other tests take their time. */
const LONG_DEADLINE = "require('port').sessions.AFTER_EDIT_MS = 5000";

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

async function open(version = NEWEST, deadlineMs = 8_000): Promise<Project> {
  const project = await Project.open(
    version,
    `{ diagnostics = { after_edit = false, deadline_ms = ${deadlineMs} } }`,
  );
  await project.neovim.lua(LONG_DEADLINE);
  await startSilentServer(project);
  await project.neovim.lua(COUNT);
  return project;
}

/** Waits until `count` hooks wait in Neovim. */
const waiting = (project: Project, count = 1) =>
  eventually("a hook that waits", async () => {
    const calls = await project.neovim.lua<string[]>("return _G.calls");
    expect(calls.filter((name) => name === "when_settled")).toHaveLength(count);
  });

describe.each(NEOVIMS)("a hook waits with $name", (version) => {
  let project: Project;
  beforeAll(async () => {
    project = await open(version);
  });
  afterAll(() => project[Symbol.asyncDispose]());

  test.each([
    ["an error: blocked", "wrong", "block"],
    ["no error: allowed", "", undefined],
  ])("until the server reports %s", async (_name, problem, decision) => {
    const session = { session_id: `${decision}` };
    const name = `${decision}.txt`;
    await project.edit(name, "one\n", session);
    await project.neovim.lua("_G.calls = {}");
    const started = performance.now();
    const stopped = project.stop(session);
    await waiting(project);
    await Bun.sleep(300);
    await publish(project, name, problem);
    expect((await stopped).decision).toBe(decision);
    expect(performance.now() - started).toBeLessThan(7_500);
    const all = await project.neovim.lua<string[]>("return _G.calls");
    const calls = all.filter((name) => !name.startsWith("review_"));
    expect(calls.at(-1)).toBe(decision ? "session_blocked" : "session_allowed");
    // Asked again when something changes, not all the time.
    expect(calls.length).toBeLessThan(9);
  });

  test("after an edit, for its new problems", async () => {
    await project.neovim.lua("require('port').config.get().diagnostics.after_edit = true");
    await project.neovim.lua("_G.calls = {}");
    const edited = project.edit("after.txt", "one\n", { session_id: "after" });
    await waiting(project);
    await publish(project, "after.txt", "wrong after all");
    const { output } = await edited;
    expect(JSON.stringify(output)).toContain("after.txt:1:1 error: wrong after all");
    await project.neovim.lua("require('port').config.get().diagnostics.after_edit = false");
  });

  test("two at once, each for its own files", async () => {
    const [a, b] = [{ session_id: "a" }, { session_id: "b" }];
    await project.edit("a.txt", "one\n", a);
    await project.edit("b.txt", "one\n", b);
    await project.neovim.lua("_G.calls = {}");
    const first = project.stop(a);
    const second = project.stop(b);
    await waiting(project, 2);
    await publish(project, "b.txt", "wrong in b");
    expect((await second).reason).toContain("b.txt:1:1 error: wrong in b");
    await publish(project, "a.txt", "wrong in a");
    expect((await first).reason).toContain("a.txt:1:1 error: wrong in a");
  });
});

/** A server that must be asked: it finds one error in each text that says "wrong". */
const PULL_SERVER = `
  local function server()
    local texts = {}
    return {
      request = function(method, params, done)
        if method == "initialize" then
          done(nil, { capabilities = { textDocumentSync = 1, diagnosticProvider = vim.empty_dict() } })
        elseif method == "textDocument/diagnostic" then
          local position = { line = 0, character = 0 }
          local wrong = texts[params.textDocument.uri]:find("wrong")
          vim.schedule(function()
            done(nil, { kind = "full", items = wrong and { {
              message = "pulled", severity = 1, range = { start = position, ["end"] = position },
            } } or {} })
          end)
        else
          done(nil, vim.NIL)
        end
        return true, 1
      end,
      notify = function(method, params)
        if method == "textDocument/didOpen" then
          texts[params.textDocument.uri] = params.textDocument.text
        elseif method == "textDocument/didChange" then
          texts[params.textDocument.uri] = params.contentChanges[1].text
        end
        return true
      end,
      is_closing = function() return false end,
      terminate = function() end,
    }
  end
  vim.api.nvim_create_autocmd("FileType", { callback = function(args)
    vim.lsp.start({ name = "pull", cmd = server, root_dir = vim.fn.getcwd() }, { bufnr = args.buf })
  end })`;

test.each(NEOVIMS)(
  "a server that must be asked, for a file in no window, with $name",
  async (version) => {
    await using project = await Project.open(version);
    await project.neovim.lua(LONG_DEADLINE);
    await project.neovim.lua(PULL_SERVER);
    const context = async (text: string) =>
      JSON.stringify((await project.edit("pull.txt", text)).output ?? "nothing");
    expect(await context("wrong\n")).toContain("pulled");
    expect(await context("right\n")).toBe('"nothing"');
    expect(await project.stop()).toEqual(GO);
    expect(await context("wrong again\n")).toContain("pulled");
  },
);

describe("when the report does not come", () => {
  // Neovim 0.10 gives all texts of a file that is reloaded the same version.
  test("a late one on the text before does not count", async () => {
    await using project = await open();
    await project.edit("older.txt", "one\n");
    await publish(project, "older.txt", "wrong");
    await project.edit("older.txt", "two\n");
    const stopped = project.stop();
    await waiting(project);
    await publish(project, "older.txt", "wrong still", 1);
    await Bun.sleep(500);
    await publish(project, "older.txt", "");
    expect(await stopped).toEqual(GO);
  });

  test("the deadline ends the wait, and the reason says so", async () => {
    await using project = await open(NEWEST, 300);
    project.write("late.txt", "one\n");
    await project.neovim.command(`edit ${project.path("late.txt")}`);
    await publish(project, "late.txt", "from before");
    await project.edit("late.txt", "two\n");
    const { decision, reason } = await project.stop();
    expect(decision).toBe("block");
    expect(reason).toContain("late.txt:1:1 error: from before");
    expect(reason).toContain("this may be older than your last edit");
  });

  test("the server leaves the file: what there is counts at once", async () => {
    await using project = await open();
    await project.edit("ends.txt", "ERROR by the linter\n");
    const stopped = project.stop();
    await waiting(project);
    const started = performance.now();
    await project.neovim.lua(`
      for _, client in ipairs(vim.lsp.get_clients()) do
        vim.lsp.buf_detach_client(vim.fn.bufnr("ends.txt"), client.id)
      end`);
    expect((await stopped).reason).toContain("ERROR by the linter");
    expect(performance.now() - started).toBeLessThan(7_500);
  });

  test("Neovim is busy until after the deadline: allowed", async () => {
    await using project = await open(NEWEST, 2_000);
    await project.neovim.lua("require('port').config.get().diagnostics.busy_deadline_ms = 2000");
    await project.edit("busy.txt", "one\n");
    const stopped = project.stop();
    await waiting(project);
    const release = await keepBusy(project.neovim);
    expect(await stopped).toEqual(GO);
    expect(project.log).toContain("busy");
    await release();
  });

  test("Neovim is stopped: allowed soon", async () => {
    await using project = await open();
    await project.edit("stopped.txt", "one\n");
    const started = performance.now();
    project.neovim.process.kill("SIGSTOP");
    try {
      expect(await project.stop()).toEqual(GO);
    } finally {
      project.neovim.process.kill("SIGCONT");
    }
    expect(performance.now() - started).toBeLessThan(7_500);
  });

  test("Neovim ends: allowed at once", async () => {
    await using project = await open();
    await project.edit("gone.txt", "one\n");
    const stopped = project.stop();
    await waiting(project);
    const started = performance.now();
    await project.neovim.quit();
    expect(await stopped).toEqual(GO);
    expect(performance.now() - started).toBeLessThan(7_500);
  });

  test("the hook is killed: nothing stays behind in Neovim", async () => {
    await using project = await open(NEWEST, 700);
    await project.edit("killed.txt", "one\n");
    const before = await least(project);
    const child = Bun.spawn([EXECUTABLE, "hook", "stop"], {
      cwd: project.folder,
      env: isolatedEnv(project.neovim.home),
      stdin: new Blob([JSON.stringify({ session_id: "one", cwd: project.folder })]),
    });
    await waiting(project);
    child.kill("SIGKILL");
    await child.exited;
    await eventually("no more than before", async () => {
      const now = await project.neovim.lua<number[]>(LEFT_BEHIND);
      expect(now.every((count, kind) => count <= (before[kind] ?? 0))).toBe(true);
    });
    expect(await project.neovim.lua("return vim.fn.execute('messages')")).toBe("");
  });
});
