import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  eventually,
  NEOVIMS,
  type SessionRow,
  startSleeping,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { join } from "../../src/lib/platform";

/*
 * Sessions that `claude --bg` has started: listed, attached in a terminal, and never resumed. Past
 * conversations: resumed where they were, and never twice.
 */

const ID = "0f000000-0000-4000-8000-000000000001";
const JOB = "0f000000";
const PAST = "00000000-0000-4000-8000-000000000001";
const GONE = "00000000-0000-4000-8000-000000000002";

describe.each(NEOVIMS)("background and past sessions in Neovim $name", (version) => {
  const home = temporaryFolder();
  const project = temporaryFolder();
  const calls = join(home, "calls");
  const folder = join(home, ".claude/sessions");
  const cli = startSleeping;
  let background = cli();
  let neovim: TestNeovim;

  beforeAll(async () => {
    const claude = join(home, "claude");
    const script = `#!/bin/sh
      echo "$PWD \${CLAUDE_CODE_NVIM_SESSION:-none} $*" >> ${calls}
      case "$*" in
        *--bg*) exit 0 ;;
        *) exec cat ;;
      esac
    `;
    writeFileSync(claude, script, { mode: 0o755 });
    for (const path of [folder, below]) mkdirSync(path, { recursive: true });
    report("busy");
    neovim = await TestNeovim.start({
      ...{ version, home, cwd: project },
      setup: `{ terminal = { command = [[${claude}]], args = { "--model", "opus" } } }`,
    });
    await neovim.lua(`
      vim.ui.select = function(rows, options, callback)
        CHOICES = vim.tbl_map(options.format_item, rows)
        CHOOSE = function(index) callback(rows[index]) end
      end`);
  });
  afterAll(async () => {
    await neovim[Symbol.asyncDispose]();
    background.kill("SIGKILL");
    for (const path of [home, project]) rmSync(path, { recursive: true, force: true });
  });

  /** The file that Claude Code 2.1.330 keeps of a background session. */
  function report(status: string): void {
    const { pid } = background;
    const fields = { pid, sessionId: ID, cwd: project, kind: "bg", jobId: JOB, status };
    const content = JSON.stringify({ ...fields, name: "nightly", nameSource: "peer" });
    writeFileSync(join(folder, `${pid}.json`), content);
  }

  const rows = async () =>
    Object.values(await neovim.lua<SessionRow[]>(`return require("claude-code").sessions()`));
  const one = async (wanted: Partial<SessionRow>) => {
    await eventually(`a row with ${JSON.stringify(wanted)}`, async () =>
      expect(await rows()).toEqual([expect.objectContaining(wanted)]),
    );
    return (await rows())[0] as SessionRow;
  };
  const started = () =>
    existsSync(calls) ? readFileSync(calls, "utf8").split("\n").filter(Boolean) : [];
  /** Opens the list, and chooses the first line that has this text. */
  const choose = async (text: string) => {
    await neovim.lua("CHOICES = nil");
    await neovim.command("Claude sessions");
    await neovim.until("the list", "return CHOICES ~= nil");
    const choices = await neovim.lua<string[]>("return CHOICES");
    await neovim.lua("CHOOSE(...)", choices.findIndex((choice) => choice.includes(text)) + 1);
    return choices;
  };

  test("attaches one that the first command of a Neovim resumes", async () => {
    await neovim.command(`Claude --resume ${ID}`);
    await eventually("its start", () => started().length === 1);
    expect(started()).toEqual([`${project} none attach ${JOB}`]);
    await one({ n: 1, where: "background" });
    await neovim.command("Claude close");
    writeFileSync(calls, "");
  });

  test("lists one, and attaches it in a terminal with its own row", async () => {
    await one({ where: "background", state: "working", attached: false });
    expect(await choose("nightly")).toEqual(["  ● nightly: working, now (background)"]);
    const row = await one({ n: 1, where: "background", job: JOB, attached: true });
    expect(row.pid).toBe(background.pid);
    await eventually("its start", () => started().length === 1);
    expect(started()).toEqual([`${project} none attach ${JOB}`]);
    report("waiting");
    await one({ n: 1, state: "blocked" });
  });

  test("shows it instead of attaching or resuming it a second time", async () => {
    const shows = async (act: () => Promise<unknown>) => {
      await neovim.command("stopinsert | wincmd p");
      await act();
      await neovim.until("its terminal", `return vim.bo.filetype == "claude-code-terminal"`);
    };
    for (const command of [
      ...["Claude new attach night", `Claude new attach ${JOB}`, `Claude new -r ${ID}`],
      `Claude --resume ${ID}`,
    ]) {
      await shows(() => neovim.command(command));
    }
    await shows(() => choose("nightly"));
    expect(started()).toHaveLength(1);
    await one({ n: 1 });
  });

  test("keeps it running after its terminal was closed", async () => {
    await neovim.command("Claude close");
    const row = await one({ where: "background", state: "blocked", attached: false });
    expect(row.n).toBeUndefined();
  });

  test("keeps the row for another process of its own; without one the row ends", async () => {
    await neovim.command(`Claude --resume ${ID}`);
    await one({ n: 1 });
    expect(started().at(-1)).toBe(`${project} none attach ${JOB}`);
    const before = background;
    background = cli();
    report("idle");
    // While both files exist, the one that was read last counts.
    rmSync(join(folder, `${before.pid}.json`));
    before.kill("SIGKILL");
    await one({ n: 1, pid: background.pid });
    rmSync(join(folder, `${background.pid}.json`));
    await eventually("no process", async () => (await rows())[0]?.pid === undefined);
    await neovim.command("Claude close");
    expect(await rows()).toEqual([]);
  });

  test("starts one in a terminal, which closes, and says where it is", async () => {
    const before = started().length;
    await neovim.command("messages clear | Claude new --bg -n later do it");
    const words = "Claude (later) works in the background; :Claude sessions shows it";
    await neovim.plays(`<Ignore>  says ${words}`);
    const [call] = started().slice(before);
    expect(call).toStartWith(`${project} none `);
    expect(call).toEndWith(" --model opus --bg -n later do it");
    expect(call).not.toContain("--session-id");
    expect(await rows()).toEqual([]);
    await eventually("the end of its window", async () =>
      expect(await neovim.lua("return #vim.api.nvim_list_wins()")).toBe(1),
    );
  });

  const below = join(project, "below");

  /** Leaves a past conversation. */
  function write(id: string, cwd: string, content: string): void {
    const folder = join(home, ".claude/projects", cwd.replaceAll(/[^a-zA-Z0-9]/g, "-"));
    mkdirSync(folder, { recursive: true });
    const entry = { type: "user", message: { role: "user", content }, cwd, gitBranch: "main" };
    writeFileSync(join(folder, `${id}.jsonl`), `${JSON.stringify(entry)}\n`);
  }

  test("resumes a past one in its own folder, and never a second time", async () => {
    write(PAST, below, "rename the parser");
    write(GONE, join(project, "gone"), "in a folder that is gone");
    writeFileSync(calls, "");
    const choices = await choose("rename the parser");
    const index = choices.findIndex((choice) => choice.includes("rename the parser")) + 1;
    expect(choices).toContain("  ↺ rename the parser: 0.0 MB, now, main (past)");
    await eventually("its start", () => started().length === 1);
    expect(started()[0]).toStartWith(`${below} `);
    expect(started()[0]).toContain(`--resume ${PAST}`);
    await neovim.until("its row", `return require("claude-code").sessions()[1].id == "${PAST}"`);
    // In a list that was opened before.
    await neovim.lua("CHOOSE(...)", index);
    await Bun.sleep(300);
    expect(started()).toHaveLength(1);
    const after = await choose("in a folder that is gone");
    expect(after.filter((choice) => choice.includes("rename the parser"))).toEqual([]);
  });

  test("says why a past one without its folder is not resumed", async () => {
    await choose("in a folder that is gone");
    await eventually("the message", async () =>
      (await neovim.command("messages")).includes("which no longer exists"),
    );
    expect(started()).toHaveLength(1);
  });
});
