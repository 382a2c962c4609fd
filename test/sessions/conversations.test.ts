import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { commitAll, git } from "#review";
import { deadPid, needs, nightly, startSleeping, temporaryFolder } from "#test";
import { join } from "../../src/lib/platform";
import {
  type Conversation,
  lastPrompts,
  pastConversations,
} from "../../src/sessions/conversations";

/* The past conversations of a project. */

const MB = 1024 * 1024;

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

describe("past conversations", () => {
  const home = temporaryFolder();
  const project = join(temporaryFolder(), "my.project");
  const linked = join(temporaryFolder(), "linked");
  let count = 0;

  beforeAll(() => {
    mkdirSync(project);
    commitAll(project, {});
    git(project, "worktree", "add", "-q", "-b", "topic", linked);
  });
  const { CLAUDE_CONFIG_DIR } = process.env;
  afterAll(() => {
    if (CLAUDE_CONFIG_DIR === undefined) delete process.env.CLAUDE_CONFIG_DIR;
    else process.env.CLAUDE_CONFIG_DIR = CLAUDE_CONFIG_DIR;
    for (const path of [home, project, linked]) rmSync(path, { recursive: true, force: true });
  });

  /** Writes a conversation, each a minute newer than the last one. Returns its id. */
  function write(cwd: string, entries: (object | string)[], name = cwd): string {
    const folder = join(home, ".claude/projects", name.replaceAll(/[^a-zA-Z0-9]/g, "-"));
    mkdirSync(folder, { recursive: true });
    const own = id(++count);
    const lines = entries.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
    const path = join(folder, `${own}.jsonl`);
    writeFileSync(path, `${lines.join("\n")}\n`);
    utimesSync(path, 1_700_000_000 + 60 * count, 1_700_000_000 + 60 * count);
    return own;
  }

  const user = (cwd: string, content: unknown, more: object = {}) => ({
    ...{ type: "user", message: { role: "user", content }, cwd, gitBranch: "main" },
    ...more,
  });

  function list(cwd = project): Conversation[] {
    process.env.CLAUDE_CONFIG_DIR = join(home, ".claude");
    return pastConversations([cwd]);
  }

  beforeEach(() => rmSync(join(home, ".claude"), { recursive: true, force: true }));

  test("lists those of all work trees and of folders below, the newest first", () => {
    expect(list()).toEqual([]);
    const first = write(project, [user(project, "rename the parser")]);
    const second = write(linked, [user(linked, "fix", { gitBranch: "topic" })]);
    const third = write(join(project, "src"), [user(join(project, "src"), "look below")]);
    write(`${project}2`, [user(`${project}2`, "a neighbour of nearly the same name")]);
    write(project.replace("my.", "my-"), [user(project.replace("my.", "my-"), "another one")]);
    const all = list();
    expect(all.map((one) => one.id)).toEqual([third, second, first]);
    expect(all[1]).toMatchObject({ title: "fix", branch: "topic", cwd: linked, exists: true });
    expect(all[0]?.exists).toBe(false);
    expect(list(linked).map((one) => one.id)).toEqual([third, second, first]);
  });

  test("uses the user's name, a summary, or the first prompt as the title", () => {
    const prompts = [
      user(project, "<command-name>/clear</command-name>"),
      user(project, "Caveat", { isMeta: true }),
      user(project, [{ type: "text", text: "the\n first\u001b[31m \u202eprompt" }]),
      user(project, "the second"),
    ];
    write(project, prompts);
    write(project, [...prompts, { type: "ai-title", aiTitle: "the CLI's" }]);
    write(project, [{ type: "summary", summary: "a summary" }, ...prompts]);
    const named = [{ type: "custom-title", customTitle: "old" }, ...prompts, user(project, "x")];
    write(project, [...named, { type: "custom-title", customTitle: "new" }]);
    write(project, [user(project, "y".repeat(500))]);
    expect(list().map((one) => one.title)).toEqual([
      `${"y".repeat(119)}…`,
      "new",
      "a summary",
      "the CLI's",
      "the first<1b>[31m <202e>prompt",
    ]);
  });

  test("uses the command, or a word for an image, as the title of one without text", () => {
    const args = "<command-args>src/a.ts carefully</command-args>";
    const fixit = `<command-message>fixit</command-message>\n<command-name>/fixit</command-name>\n${args}`;
    const mcp = "<command-name>/mcp</command-name>\n<command-args></command-args>";
    write(project, [user(project, fixit), user(project, "thanks")]);
    write(project, [user(project, "<bash-input>make test</bash-input>")]);
    write(project, [user(project, [{ type: "image", source: {} }])]);
    write(project, [user(project, mcp), user(project, "<local-command-stdout>x")]);
    write(project, [user(project, mcp), user(project, "then words")]);
    write(project, [user(project, "<system-reminder>x</system-reminder>")]);
    expect(list().map((one) => one.title)).toEqual([
      ...["then words", "/mcp", "[Image]", "!make test", "/fixit src/a.ts carefully"],
    ]);
  });

  test("lists none that is running, but one whose CLI was killed", () => {
    const running = write(project, [user(project, "runs")]);
    const killed = write(project, [user(project, "was killed")]);
    const elsewhere = write(project, [user(project, "runs in a container")]);
    const child = startSleeping();
    const dead = deadPid();
    const folder = join(home, ".claude/sessions");
    mkdirSync(folder);
    const say = (pid: number | undefined, sessionId: string, more: object = {}) =>
      writeFileSync(join(folder, `${pid}.json`), JSON.stringify({ pid, sessionId, ...more }));
    say(child.pid, running);
    say(dead, killed);
    say(99_999_999, elsewhere, { pidDomain: "linux:elsewhere:pid:[1]" });
    expect(list().map((one) => one.id)).toEqual([killed]);
    child.kill();
  });

  const prompts = (cwd = project) => {
    process.env.CLAUDE_CONFIG_DIR = join(home, ".claude");
    return lastPrompts([cwd]);
  };
  const large = {
    type: "attachment",
    attachment: { type: "prompt_snapshot", text: "s".repeat(70_000) },
  };

  test("gives the prompts of all conversations, the newest first, though much is between them", () => {
    const at = (minute: number, content: unknown, cwd = project) =>
      user(cwd, content, { timestamp: `2026-11-29T07:${minute}:00.000Z` });
    const queued = { type: "queued_command", prompt: "while it works" };
    const paste = `\n\n<pasted_content id="a5c0">\n<p>\ntwo\n</pasted_content id="a5c0">\n`;
    const result = { type: "tool_result", tool_use_id: "x", content: "a result" };
    write(project, [at(10, "one"), large, at(30, paste), large, at(31, [result])]);
    write(project, [
      ...[at(20, 'says "user" and "tool_use_id"'), large, at(40, "one"), large],
      {
        type: "attachment",
        attachment: queued,
        cwd: join(project, "src"),
        timestamp: "2026-11-29T07:50",
      },
      ...[at(51, "<task-notification>", project), at(52, "elsewhere", `${project}2`), large],
      ...[at(53, "<command-name>/clear</command-name>"), at(54, "x".repeat(30_000))],
    ]);
    const all = ["while it works", "one", "<p>\ntwo", 'says "user" and "tool_use_id"'];
    expect(prompts()).toEqual(all);
  });

  test("finds the last prompts in long conversations, reading 32 MB of them", () => {
    const middle = Array.from({ length: 500 }, () => large);
    write(project, [user(project, "too long ago")]);
    write(project, [user(project, "too far"), ...middle, user(project, "last")]);
    expect(prompts()).toEqual(["last"]);
  });

  needs("FIFOs")("reads files of any content", () => {
    write(project, ["", "{", "null", "[]", '{"cwd": 7}', "{}"]);
    write(project, ["not JSON", '{"type":"user","message":null,"cwd":"/"}', "\u0000".repeat(99)]);
    const good = write(project, ["{cut off", user(project, "good"), '{"type":"custom-title"']);
    const folder = join(home, ".claude/projects", project.replaceAll(/[^a-zA-Z0-9]/g, "-"));
    spawnSync("mkfifo", [join(folder, `${id(901)}.jsonl`)]);
    mkdirSync(join(folder, `${id(902)}.jsonl`));
    writeFileSync(join(folder, "agent-1.jsonl"), JSON.stringify(user(project, "a subagent's")));
    expect(list().map((one) => one.id)).toEqual([good]);
    expect(prompts()).toEqual(["good"]);
  });

  nightly.test("lists the newest 200, of 5 MB each", () => {
    const filler = JSON.stringify({ type: "assistant", text: "z".repeat(20_000), cwd: project });
    const middle = Array.from({ length: Math.ceil((5 * MB) / filler.length) }, () => filler);
    const path = write(project, [user(project, "first"), ...middle, user(project, "last")]);
    const folder = join(home, ".claude/projects", project.replaceAll(/[^a-zA-Z0-9]/g, "-"));
    for (let n = 1; n <= 200; n++) {
      spawnSync("ln", [join(folder, `${path}.jsonl`), join(folder, `${id(1_000 + n)}.jsonl`)]);
    }
    const found = list();
    expect(found).toHaveLength(200);
    expect(found[0]?.bytes).toBeGreaterThan(5 * MB);
  });
});
