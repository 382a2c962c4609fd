import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { cliArguments } from "../../src/claude/cli-arguments";
import { Recorded } from "../review/recorded";
import { runHeadless } from "../support/claude";
import { Model } from "../support/model";
import type { Block } from "../support/model-answer";
import { requireNamespace } from "../support/namespace";
import { EXECUTABLE, NEWEST } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { Neovim } from "./neovim";

/*
 * What our hooks record of the genuine CLI (Claude Code 2.1.330), without any Neovim. Only the model is
 * a stand-in.
 */

requireNamespace();

const settings = cliArguments(EXECUTABLE).settings_with_hooks;
const ARGS = ["--permission-mode", "acceptEdits", "--allowedTools=Bash", settings];

const FILES = {
  "main.lua": "one\r\ntwo\r\n",
  "a.txt": "a\n",
  "gone.txt": "g\n",
  "old.txt": "o\n",
};
const COUNT = 'return require("claude-code.editor.review").count()';
const LISTED = `
  local names = vim.tbl_map(function(item)
    return vim.fs.basename(item.user_data.claude_code.path)
  end, vim.fn.getqflist())
  table.sort(names)
  return names`;

const bash = (command: string, more: object = {}): Block[] => [
  { tool: "Bash", input: { command, description: "d", ...more } },
];
const write = (path: string, content: string): Block[] => [
  { tool: "Write", input: { file_path: path, content } },
];

function world(files: Record<string, string>): Recorded {
  const made = new Recorded(files);
  mkdirSync(join(made.home, "tmp"), { recursive: true });
  return made;
}

/** Each change as `tool path: before > after`. */
const all = (recorded: Recorded) =>
  recorded.changes.flatMap((change, index) =>
    change.files.map((_file, place) => {
      const before = recorded.changes.slice(0, index).flatMap((one) => one.files).length;
      return `${change.tool} ${recorded.files[before + place]}`;
    }),
  );

describe("the hooks of the genuine CLI record", () => {
  test("Edit, Write, sed, rm, mv, a heredoc, eight files by Python, a failure, a subagent", async () => {
    using recorded = world(FILES);
    using model = new Model();
    const main = recorded.path("main.lua");
    model.script([
      read(main),
      edit(main, "two", "TWO"),
      write(recorded.path("new.txt"), "new\n"),
      bash("sed -i s/one/ONE/ main.lua"),
      bash("rm gone.txt && mv old.txt moved.txt"),
      bash("cat > here.txt <<'X'\nheredoc\nX"),
      bash("python3 -c \"for i in range(8): open(f'g{i}.txt', 'w').write('x')\""),
      bash("echo failed >> a.txt; exit 3"),
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
      write(recorded.path("sub.txt"), "sub\n"),
      say("sub done"),
      say("All done."),
    ]);
    const options = { project: recorded.folder, home: recorded.home, model, args: ARGS };
    expect(await runHeadless(options, "go")).toMatchObject({ code: 0, stdout: "All done.\n" });
    await recorded.compared();
    const changes = all(recorded);
    expect(changes).toEqual([
      'Edit main.lua: "one\\r\\ntwo\\r\\n" > "one\\r\\nTWO\\r\\n"',
      'Write new.txt: absent > "new\\n"',
      'Bash main.lua: "one\\r\\nTWO\\r\\n" > "ONE\\r\\nTWO\\r\\n"',
      'Bash gone.txt: "g\\n" > absent (644 > 0)',
      'Bash old.txt: "o\\n" > absent (644 > 0)',
      'Bash moved.txt: absent > "o\\n" (from old.txt)',
      'Bash here.txt: absent > "heredoc\\n"',
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((i) => `Bash g${i}.txt: absent > "x"`),
      'Bash a.txt: "a\\n" > "a\\nfailed\\n"',
      'Write sub.txt: absent > "sub\\n"',
    ]);
    const [sub] = recorded.changes.slice(-1);
    expect(sub?.agent).toBeString();
    expect(recorded.records.map((record) => record.type)).toEqual(
      expect.arrayContaining(["prompt", "begin", "stop", "end"]),
    );
    expect(recorded.log).not.toContain("WARN");

    // A Neovim that starts afterwards lists all of it, and undoes it to the byte.
    const { folder: project, home } = recorded;
    const neovim = await Neovim.start({ version: NEWEST, project, home, files: [] });
    await using _ = { [Symbol.asyncDispose]: () => neovim.close() };
    const names = ["a.txt", "gone.txt", ...[0, 1, 2, 3, 4, 5, 6, 7].map((i) => `g${i}.txt`)];
    const listed = [...names, "here.txt", "main.lua", "moved.txt", "new.txt", "sub.txt"].sort();
    await eventually(() => neovim.lua<number>(COUNT), listed.length);
    await neovim.lua("vim.cmd('Claude review!') return true");
    await eventually(() => neovim.lua<string[]>(LISTED), listed);
    await neovim.lua(`vim.cmd("copen | 1,${listed.length}Claude undo") return true`);
    await eventually(() => neovim.lua<number>(COUNT), 0);
    expect(
      readdirSync(project)
        .filter((name) => name !== ".git")
        .sort(),
    ).toEqual(Object.keys(FILES).sort());
    for (const [name, text] of Object.entries(FILES)) {
      expect(await Bun.file(recorded.path(name)).text()).toBe(text);
    }
  });
});
