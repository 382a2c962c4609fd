import { existsSync, statSync } from "node:fs";
import { appendFile, chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { NEOVIMS, type NeovimVersion, nightly } from "#test";
import { join } from "../../src/lib/platform";
import { type Claude, pluginArguments } from "../support/claude";
import { isolatedEnv } from "../support/claude-home";
import type { Block } from "../support/model-answer";
import { type ModelRequest, newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { bash, edit, read, say } from "../support/turns";
import { Bench } from "./bench";
import { eventually } from "./eventually";
import { lockFiles } from "./lock-file";

/** Long enough for a dozen tool calls with their hooks on a busy machine. */
const TURN_MS = 60_000;

const MAIN = "local one = 1\nlocal two = 2\nlocal three = 3\n";
const FILES: Record<string, string> = {
  "main.lua": MAIN,
  "crlf.txt": "one\r\ntwo\r\n",
  "gone.txt": "gone\n",
  "old.txt": "old 1\nold 2\n",
  "mine.txt": "a\nb\nc\n",
};

/** The CLI runs both lines before Claude reads the skill. */
const SKILL = `---
description: Adds lines
allowed-tools: Bash
---
One: !\`echo one >> skill.txt\`
Two: !\`sleep 0.3; echo two >> mine.txt\`
`;

/** The CLI knows this command, and lets it edit files in this mode. macOS's needs the empty suffix. */
const SED = process.platform === "darwin" ? "sed -i ''" : "sed -i";

const write = (path: string, content: string): Block[] => [
  { tool: "Write", input: { file_path: path, content } },
];

/** A repository in which the genuine CLI changes files, and a Neovim in which the user reviews that. */
class Review extends Bench {
  constructor(version: NeovimVersion) {
    const args = [
      "--permission-mode",
      "acceptEdits",
      "--allowedTools=Bash,Skill",
      ...pluginArguments(),
    ];
    super({ version, files: FILES, shown: ["main.lua"], columns: 160, args });
  }

  protected override async prepare(): Promise<void> {
    for (const name of ["gone.txt", "old.txt"]) await chmod(this.path(name), 0o755);
    await mkdir(this.path(".claude/skills/adds"), { recursive: true });
    await writeFile(this.path(".claude/skills/adds/SKILL.md"), SKILL);
    this.git("init -q .", "add -A", "commit -qm first");
  }

  git(...commands: string[]): void {
    for (const line of commands) {
      const words = ["git", "-c", "user.name=a", "-c", "user.email=a@b", ...line.split(" ")];
      const done = Bun.spawnSync(words, { cwd: this.project, env: isolatedEnv(this.home) });
      if (done.exitCode !== 0) throw new Error(`${line}: ${done.stderr}`);
    }
  }

  another(mode: string, ...settings: string[]): Promise<Claude> {
    const args = ["--permission-mode", mode, "--allowedTools=Bash", ...settings];
    return this.startClaude(args, "second.log");
  }

  async turn(prompt: string, ...blocks: Block[][]): Promise<void> {
    this.model.script([...blocks, say(`Did ${prompt}.`)]);
    await this.claude.prompt(prompt);
    await this.claude.terminal.waitFor(`Did ${prompt}.`, TURN_MS);
    await this.claude.waitForIdle();
  }

  command(line: string): Promise<boolean> {
    return this.neovim.lua(`vim.cmd([[${line}]]) return true`);
  }

  /** The number of hunks that are still to be reviewed. */
  count = (): Promise<number> =>
    this.neovim.lua(`return require("claude-code.editor.review").count()`);

  list = (): Promise<string[]> =>
    this.neovim.lua(`
      return vim.tbl_map(function(item)
        local name = item.module ~= "" and item.module or vim.fn.bufname(item.bufnr)
        return vim.fn.fnamemodify(name, ":.") .. ":" .. item.lnum .. " " .. item.text
      end, vim.fn.getqflist())`);

  /** The entry under the cursor of the quickfix window belongs to `name`. */
  select(name: string): Promise<number> {
    return this.neovim.lua(`
      vim.cmd("copen")
      for row, item in ipairs(vim.fn.getqflist()) do
        local data = item.user_data.claude_code
        if vim.fs.basename(data.path) == "${name}" then
          vim.api.nvim_win_set_cursor(0, { row, 0 })
          return row
        end
      end
      error("${name} is not listed")`);
  }
}

/* The steps follow each other. */
requireNamespace();
describe.each(NEOVIMS)("$name", (version) => {
  const review = new Review(version);

  test("lists everything that the CLI changes by its tools, and its shell", async () => {
    await review.command(
      "edit mine.txt | call setline(1, 'A of mine') | silent write | edit main.lua",
    );
    const main = review.path("main.lua");
    await review.turn(
      "tidy up",
      read(main),
      edit(main, "local two = 2", "local two = 22"),
      write(review.path("new.txt"), "new\n"),
      bash(`${SED} s/two/TWO/ crlf.txt; ${SED} 's/^c$/C/' mine.txt`),
      bash("rm gone.txt && mv old.txt moved.txt"),
      bash("touch g0.txt; cat > here.txt <<'X'\nheredoc\nX"),
    );
    await eventually(review.count, 8);
    await review.command("Claude review!");
    // The prompt is that of the entry above.
    const from = "turn 1";
    await eventually(review.list, [
      `crlf.txt:2 +1 -1  TWO  ${from}  ‹tidy up›  Bash`,
      `g0.txt:1 new empty file  ${from}  Bash`,
      `gone.txt:1 deleted  ${from}  Bash`,
      `here.txt:1 new file  ${from}  Bash`,
      `main.lua:2 +1 -1  local two = 22  ${from}  Edit`,
      `mine.txt:3 +1 -1  C  ${from}  Bash`,
      `moved.txt:1 renamed from old.txt  ${from}  Bash`,
      `new.txt:1 new file  ${from}  Write`,
    ]);
  });

  test("keeps and undoes entries to the byte, and takes decisions back", async () => {
    for (const name of ["crlf.txt", "gone.txt", "moved.txt", "here.txt", "main.lua"]) {
      const left = (await review.list()).length;
      await review.select(name);
      await review.neovim.terminal.type("gr");
      await eventually(async () => (await review.list()).length, left - 1);
    }
    for (const name of ["crlf.txt", "gone.txt", "old.txt", "main.lua"]) {
      expect(await review.onDisk(name)).toBe(FILES[name] as string);
    }
    expect(["gone.txt", "old.txt"].map((name) => statSync(review.path(name)).mode & 0o777)).toEqual(
      [0o755, 0o755],
    );
    expect(["moved.txt", "here.txt"].filter((name) => existsSync(review.path(name)))).toEqual([]);
    expect((await review.neovim.buffer(review.path("main.lua")))?.text).toBe(MAIN);
    expect(await review.onDisk("mine.txt")).toBe("A of mine\nb\nC\n");

    await review.select("g0.txt");
    await review.neovim.terminal.type("Vjga");
    await eventually(review.count, 1);
    await review.command("Claude back");
    await eventually(async () => (await review.list()).length, 3);
    // The message follows the cursor's way through the files: a command from outside would run in one of them.
    const messages = () => review.neovim.lua<string>("return vim.fn.execute('messages')");
    await eventually(async () => (await messages()).includes("took back"), true);
    await review.command("1,2Claude keep");
    await eventually(review.count, 1);
  });

  test("gives the model comments, and which edits were undone, once", async () => {
    await review.command("edit main.lua");
    await review.command("2Claude comment! two is enough");
    await review.claude.terminal.waitFor(/@ide:review:comments/);
    review.model.script([say("Noted.")]);
    await review.claude.terminal.press("Enter");
    const received = newsText(await review.model.nextRequest());
    expect(received).toContain("1. main.lua:2: two is enough\n   > local two = 2");
    expect(received).toContain("Do not make these again unless the user asks for it.");
    expect(received).toContain("main.lua\nline 2:\n+local two = 2\n-local two = 22");
    await review.claude.waitForIdle();
    review.model.script([say("And now.")]);
    await review.claude.prompt("and now");
    expect(newsText(await review.model.nextRequest())).not.toContain("Do not make these again");
    await review.claude.waitForIdle();
    await review.command("Claude comment!");
    await review.neovim.terminal.waitFor(/no comment to send/);
    await review.command("Claude review done");
    await eventually(review.count, 0);
  });

  test("restores what its tools and its shell changed in two turns, one of them undone", async () => {
    const main = review.path("main.lua");
    const texts = () => Promise.all(["main.lua", "mine.txt"].map((name) => review.onDisk(name)));
    const before = await texts();
    await review.turn("more", read(main), edit(main, "two", "zwei"), bash("echo more >> mine.txt"));
    await review.turn("and three", edit(main, "three", "drei"));
    await review.command("Claude undo turn 5");
    await review.neovim.terminal.waitFor(/undid turn 5 ‹and three›/);
    const undone = await texts();
    await review.neovim.lua("vim.ui.select = function(_, _, done) done(nil, 1) end return true");
    await review.command("Claude restore 4");
    await eventually(texts, before);
    await review.command("Claude back");
    await eventually(texts, undone);
    await review.command("Claude restore 4");
    await eventually(texts, before);
  });

  test.each([
    ["typed", "/adds", [], ["mine.txt:4 +1 -0  two  turn 6", "skill.txt:1 new file  turn 6"]],
    [
      "called by the model",
      "add lines",
      [[{ tool: "Skill", input: { skill: "adds" } }]],
      ["mine.txt:5 +1 -0  two  turn 7", "skill.txt:2 +1 -0  one  turn 7"],
    ],
  ])("lists what shell lines of a skill change: %s", async (_how, prompt, calls, [one, two]) => {
    await review.turn(prompt, ...calls);
    await appendFile(review.path("old.txt"), "of the user\n");
    await eventually(review.count, 2);
    await review.command("Claude review!");
    await eventually(review.list, [`${one}  ‹${prompt}›  Skill`, `${two}  Skill`]);
    await review.command("Claude review done");
    await eventually(review.count, 0);
  });

  test("reads a CLI without our hooks by its conversation and git, and says so", async () => {
    const state = () =>
      review.neovim.lua<[boolean, string]>(`
        local found = vim.tbl_filter(function(finding)
          return finding.cause == "review-incomplete"
        end, require("claude-code.health").findings())
        local what = found[1] and found[1].what or ""
        local line = require("claude-code").statusline()
        return { line:find("review incomplete") ~= nil, what:match(".* run") or what }`);
    expect(await state()).toEqual([false, ""]);
    await using second = await review.another("acceptEdits");
    await second.waitForEditor();
    review.model.script([say("Hello.")]);
    await second.prompt("chat");
    await second.terminal.waitFor(/Hello\./, TURN_MS);
    await second.waitForIdle();
    expect(await state()).toEqual([false, ""]);
    const main = review.path("main.lua");
    review.model.script([
      [...read(main), ...bash("echo unhooked >> new.txt")],
      edit(main, "local three = 3", "local three = 33"),
      say("Unhooked."),
    ]);
    await second.prompt("edit");
    await second.terminal.waitFor(/Unhooked\./, TURN_MS);
    await eventually(state, [true, "Claude's hooks have not run"]);
    await review.command("Claude review!");
    await eventually(review.list, [
      "main.lua:3 +1 -1  local three = 33  Edit",
      "new.txt:2 +1 -0  unhooked  Bash",
    ]);
    await review.neovim.terminal.waitFor(/Claude's hooks have not run/);
    await review.select("main.lua");
    await review.neovim.terminal.type("gr");
    await eventually(() => review.onDisk("main.lua"), MAIN);
    await review.command("Claude review done");
    await eventually(state, [false, ""]);
  });
});

/*
 * Further changes of the genuine CLI (Claude Code 2.1.330) that are reviewed in a real Neovim. The steps
 * follow each other.
 */
nightly.describe.each(NEOVIMS)("$name", (version) => {
  const review = new Review(version);

  /** The agent runs beside the session that started it (2.1.330), so either may ask first. */
  const bySubagent = (request: ModelRequest): Block[] => {
    const isSub = JSON.stringify(request.messages[0]).includes("SUBTASK");
    if (!isSub) return say("All done.");
    return request.messages.length > 2 ? say("sub done") : write(review.path("sub.txt"), "sub\n");
  };

  test("distinguishes what a subagent writes", async () => {
    review.model.script([
      [
        {
          tool: "Agent",
          input: {
            description: "sub",
            prompt: "SUBTASK",
            subagent_type: "general-purpose",
            run_in_background: false,
          },
        },
      ],
      ...Array.from({ length: 4 }, () => bySubagent),
    ]);
    await review.claude.prompt("delegate");
    await review.claude.terminal.waitFor(/Agent "sub" finished/, TURN_MS);
    await review.claude.waitForIdle();
    await eventually(review.count, 1);
    await review.command("Claude review!");
    const wanted = "sub.txt:1 new file  turn 1  ‹delegate›  Write of a subagent";
    await eventually(review.list, [wanted]);
    await review.command("1Claude keep");
    await eventually(review.count, 0);
  });

  test("lists at once what a command had changed when the user pressed Esc", async () => {
    review.model.script([bash("echo half >> mine.txt; sleep 30"), say("never")]);
    await review.claude.prompt("be slow");
    await eventually(() => review.onDisk("mine.txt"), `${FILES["mine.txt"]}half\n`);
    await review.claude.terminal.press("Escape");
    await eventually(review.count, 1);
    await review.command("Claude review!");
    await eventually(review.list, ["mine.txt:4 +1 -0  half  turn 2  ‹be slow›  Bash"]);
  });

  test("drops what the user rewinds in the CLI from the review, and keeps the user's own changes", async () => {
    const mine = `${MAIN}-- mine\n`;
    await review.command("edit main.lua | call append('$', '-- mine') | silent write");
    await review.command(
      "edit mine.txt | call setline(2, 'B of mine, unsaved') | hide edit main.lua",
    );
    const main = review.path("main.lua");
    review.model.script([
      read(main),
      edit(main, "local two = 2", "local two = 22"),
      write(review.path("rewound.txt"), "new\n"),
      say("Rewind me."),
    ]);
    await review.claude.prompt("try it");
    await review.claude.terminal.waitFor(/Rewind me\./, TURN_MS);
    await eventually(review.count, 3);
    await review.claude.prompt("/rewind");
    await review.claude.terminal.waitFor(/Restore the code and\/or conversation/);
    await review.claude.terminal.press("Up");
    await review.claude.terminal.waitFor(/❯ try it/);
    await review.claude.terminal.press("Enter");
    await review.claude.terminal.waitFor(/3\. Restore code/);
    await review.claude.terminal.press("3");
    await eventually(() => review.onDisk("main.lua"), mine);
    await eventually(review.list, ["mine.txt:4 +1 -0  half  turn 2  ‹be slow›  Bash"]);
    expect(existsSync(review.path("rewound.txt"))).toBe(false);
    await eventually(async () => (await review.neovim.buffer(main))?.text, mine);
    expect((await review.neovim.buffer(review.path("mine.txt")))?.text).toContain(
      "B of mine, unsaved\n",
    );
    await review.command("buffer mine.txt | edit! | buffer main.lua");
  });

  test("distinguishes a second session in auto mode; follows commit and checkout", async () => {
    await using second = await review.another("auto", ...pluginArguments());
    await second.waitForEditor();
    review.model.script([
      read(review.path("main.lua")),
      edit(review.path("main.lua"), "three = 3", "three = 33"),
      bash(`${SED} s/gone/GONE/ gone.txt`),
      say("Second done."),
    ]);
    await second.prompt("go on");
    await second.terminal.waitFor(/Second done\./, TURN_MS);
    await eventually(review.count, 3);
    await review.command("Claude review! session");
    await eventually(review.list, [
      "gone.txt:1 +1 -1  GONE  turn 1  ‹go on›  Bash",
      "main.lua:3 +1 -1  local three = 33  turn 1  Edit",
    ]);
    review.git("checkout -q gone.txt", "commit -qm kept main.lua");
    await eventually(review.count, 1);
  });

  test("has the same review in a Neovim that starts after kill -9", async () => {
    process.kill(await review.neovim.pid(), "SIGKILL");
    await review.neovim.close();
    await rm(join(review.home, "nvim.sock"), { force: true });
    // Otherwise Neovim asks its own question about the open buffer.
    await rm(join(review.home, ".local/state/nvim/swap"), { recursive: true, force: true });
    await eventually(async () => (await lockFiles(review.home)).length, 0, 20_000);
    await review.startNeovim([]);
    await eventually(review.count, 1);
    await review.command("Claude review");
    await eventually(review.list, ["mine.txt:4 +1 -0  half  turn 2  ‹be slow›  Bash"]);
    await review.neovim.terminal.waitFor(/hunk 1\/1/);
    await review.neovim.terminal.type("gr");
    await eventually(() => review.onDisk("mine.txt"), FILES["mine.txt"] ?? "");
    await eventually(review.count, 0);
  });
});
