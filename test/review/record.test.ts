import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { claims, eventually, expectMode, first, needs, nightly, rows } from "#test";
import { join } from "../../src/lib/platform";
import { compareInTurns } from "../../src/review/record/comparison-request";
import { ReviewService } from "../../src/review/service";
import { hunk, Recorded, RecordedHere } from "./recorded";
import { APART_MS } from "./state/actors";
import { filesIn } from "./story";

/*
 * The hooks' records for the genuine CLI's input. The compiled executable handles each event, or the hooks' functions
 * do in this process if only their records matter.
 */
describe("Claude's editing tools", () => {
  test("records Edit and Write once for hooks of two installations", async () => {
    using world = new Recorded({ "main.lua": "one\ntwo\n" });
    await world.edit("main.lua", "one\nTWO\n");
    await world.hook("post-tool-use", {
      tool_name: "Edit",
      tool_use_id: "use-1",
      tool_input: { file_path: world.path("main.lua") },
      tool_response: { filePath: world.path("main.lua"), originalFile: "one\ntwo\n" },
    });
    await world.edit("sub/new.lua", "new\n", { agent_id: "agent-1" });
    expect(world.files).toEqual([
      'main.lua: "one\\ntwo\\n" > "one\\nTWO\\n"',
      'sub/new.lua: absent > "new\\n"',
    ]);
    expect(world.changes[0]).toMatchObject({
      v: 1,
      session: "one",
      prompt: "p1",
      tool: "Edit",
      use: "use-1",
      source: "tool",
      head: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
    expect(world.changes[1]).toMatchObject({ tool: "Write", agent: "agent-1" });
    expect(world.log).not.toContain("WARN");
  });

  test("records every byte in any line ends and encodings", async () => {
    const kinds: Record<string, [before: string, after: string]> = {
      crlf: ["one\r\ntwo\r\n", "one\r\nTWO\r\n"],
      // The CLI replaces mixed line ends with one kind.
      mixed: ["one\ntwo\r\nx\r\n", "one\nTWO\nx\n"],
      "byte order mark": ["\xef\xbb\xbfone\ntwo\n", "\xef\xbb\xbfone\nTWO\n"],
      "no last line end": ["one\ntwo", "one\nTWO"],
      utf16: ["\xff\xfeo\0n\0e\0\n\0", "\xff\xfeO\0N\0E\0\n\0"],
      empty: ["", "one\n"],
      "no line is left": ["one\r\ntwo\r\n", ""],
    };
    const all = Object.entries(kinds);
    const bytesOf = (text: string) => Buffer.from(text, "latin1");
    using world = new RecordedHere(
      Object.fromEntries(all.map(([name, [before]]) => [name, bytesOf(before)])),
    );
    await world.prompt();
    for (const [name, [before, after]] of all) {
      const encoding = name === "utf16" ? "utf-16le" : "utf-8";
      const shown = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytesOf(before));
      await world.hook("post-tool-use", {
        tool_name: "Edit",
        tool_input: { file_path: world.write(name, bytesOf(after)) },
        tool_response: { originalFile: shown.replaceAll("\r\n", "\n") },
      });
    }
    expect(world.files).toEqual(
      all.map(
        ([name, texts]) => `${name}: ${texts.map((text) => JSON.stringify(text)).join(" > ")}`,
      ),
    );
  });

  test("records two calls with the same id, and file names that look like ours or are invalid", async () => {
    claims("No name, no id and no late process hides a change");
    using world = new RecordedHere();
    await world.prompt();
    const same = { tool_use_id: "same" };
    const names = ["a.txt", "a.txt", ".claude-code-nvim.0123abcd.tmp", "b\uFFFD"];
    for (const [i, name] of names.entries()) await world.edit(name, `${i}\n`, same);
    expect(world.files).toEqual([
      'a.txt: absent > "0\\n"',
      'a.txt: "0\\n" > "1\\n"',
      '.claude-code-nvim.0123abcd.tmp: absent > "2\\n"',
      'b\uFFFD: absent > "3\\n"',
    ]);
    for (const text of ["x", "y"]) {
      const call = await world.begin("same");
      world.write("a.txt", text);
      await world.hook("post-tool-use-failure", { ...call, duration_ms: text.charCodeAt(0) });
      await world.compared();
    }
    expect(world.files.slice(4)).toEqual(['a.txt: "1\\n" > "x"', 'a.txt: "x" > "y"']);
  });

  needs("symlinks")("does not record text or a hash of a private file", async () => {
    claims("A private file's text is not recorded");
    using world = new RecordedHere({ ".env": "KEY=1\n", "sub/x.pem": "PEM" });
    await world.edit(".env", "KEY=2\n");
    symlinkSync(world.path("sub/x.pem"), world.path("innocent.txt"));
    await world.edit("innocent.txt", "PEM2");
    expect(world.files).toEqual([".env: private > private", "sub/x.pem: private > private"]);
    expect(readdirSync(join(world.folder, "blobs"))).toEqual([]);
  });

  needs("symlinks")("records a symlink's target, and nothing outside of the project", async () => {
    using world = new RecordedHere({ "real/a.txt": "one\n" });
    symlinkSync(world.path("real"), world.path("link"));
    symlinkSync("real/a.txt", world.path("a-link.txt"));
    await world.edit("link/a.txt", "two\n");
    await world.edit("a-link.txt", "three\n");
    symlinkSync(world.home, world.path("out"));
    await world.edit("out/x.txt", "x\n");
    await world.edit("../elsewhere.txt", "x\n");
    rmSync(world.path("../elsewhere.txt"));
    expect(world.files).toEqual([
      'real/a.txt: "one\\n" > "two\\n"',
      'real/a.txt: "two\\n" > "three\\n"',
    ]);
  });

  test("records names with line ends and quotes, in a working folder that moved", async () => {
    using world = new RecordedHere({ "sub/x.txt": "" });
    await world.edit('sub/a\n"b"\\.txt', "x\n", { cwd: world.path("sub") });
    expect(world.files).toEqual(['sub/a\n"b"\\.txt: absent > "x\\n"']);
  });
});

describe("reads the earlier text from the disk, whatever git considers clean", () => {
  const crlf = "one\r\ntwo\r\nthree\r\n";
  const mixed = "one\r\ntwo\nthree\r\n";
  const lines = "one\ntwo\nthree\n";
  // Each case: attributes, configuration, and the bytes on disk when the file was added. With a file's driver off, git
  // may read the file and consider it changed.
  type Case = [attributes: string, config: string, disk: string, known: boolean | "maybe"];
  const cases: Case[] = [
    ["* text=auto", "x.y 1", crlf, true],
    ["* text=auto", "x.y 1", lines, true],
    ["* text=auto", "x.y 1", mixed, false],
    ["", "core.autocrlf input", crlf, true],
    ["", "core.autocrlf true", crlf, true],
    ["", "core.autocrlf true", lines, true],
    ["* text eol=crlf", "x.y 1", lines, true],
    ["* working-tree-encoding=latin1", "x.y 1", "one\n\xe9\nthree\n", false],
    ["* ident", "x.y 1", "one\n$Id: mine $\nthree\n", false],
    ["* filter=up", "filter.up.clean 'tr a-z A-Z'", lines, "maybe"],
  ];

  const named = cases.map((one) => [JSON.stringify(one), one] as const);

  /** A turn in which Claude changes a file that git considers clean, and an undo. */
  async function undone(
    [attributes, config, disk]: Case,
    change: (world: RecordedHere, bytes: Buffer) => Promise<void>,
  ) {
    using world = new RecordedHere();
    world.git(`config ${config}`);
    world.write(".gitattributes", `${attributes}\n`);
    const bytes = Buffer.from(disk, "latin1");
    world.write("a.txt", bytes);
    world.git("add -A", "commit -qm second");
    await world.prompt();
    await Bun.sleep(APART_MS);
    await change(world, bytes);
    await world.stop();
    const { files } = await world.list();
    const path = world.path("a.txt");
    const answer = await world.answer("undo", { files: [{ path }] });
    const now = await Bun.file(path).bytes();
    return { files, answer, isBefore: Buffer.from(now).equals(bytes) };
  }

  test.each(named)("undoes an edit to the byte: %s", async (_name, one) => {
    const { files, isBefore } = await undone(one, (world, bytes) =>
      world.edit("a.txt", Buffer.from(bytes.toString("latin1").replace("three", "3"), "latin1")),
    );
    expect(files).toMatchObject([{ hunks: [{ added: 1, removed: 1 }] }]);
    expect(isBefore).toBe(true);
  });

  test.each(named)("undoes a command to the byte, or not at all: %s", async (_name, one) => {
    claims("An undo gives the bytes of before, or is refused");
    const { files, answer, isBefore } = await undone(one, (world) =>
      world.failing("perl -pi -e s/three/3/ a.txt; git add -A"),
    );
    const known = one[3] === "maybe" ? isBefore : one[3];
    expect(files).toMatchObject([
      known ? { hunks: [{ added: 1, removed: 1 }] } : { kind: "unseen" },
    ]);
    expect(isBefore).toBe(known);
    const problem = expect.stringContaining("its old text is not known");
    expect(answer).toMatchObject({ files: [known ? {} : { problem }] });
  });

  test("undoes line ends that git calls clean", async () => {
    const { files, isBefore } = await undone(cases[0] as Case, (world) =>
      world.failing("perl -pi -e 's/\\r//' a.txt; git add -A"),
    );
    expect(files).toHaveLength(1);
    expect(isBefore).toBe(true);
  });
});

nightly.test("records changed line ends even if too many files are touched", async () => {
  using world = new RecordedHere();
  world.write(".gitattributes", "* text=auto\n");
  for (let i = 0; i < 1_500; i++) world.write(`d/${i}.txt`, "one\r\n");
  world.git("config core.splitIndex true", "add -A", "commit -qm second");
  await world.prompt();
  await world.failing("touch d/*; perl -pi -e 's/\\r//' d/7.txt d/8.txt; git add -A");
  const found = ["d/7.txt", "d/8.txt"].map((name) => `${name}: "one\\r\\n" > "one\\n"`);
  expect(world.files.toSorted()).toEqual(found);
});

/** The CLI's answer to a command that changed these files. */
const diff = (files: { filePath: string; [field: string]: unknown }[]) => {
  return { files, moreFiles: 0, changedFiles: files.map(({ filePath }) => filePath) };
};

describe("the CLI's report of Bash", () => {
  test("records one command: changed, made, deleted and moved (from 2.1.330)", async () => {
    using world = new Recorded({
      "main.lua": "one\ntwo\nthree\n",
      "gone.txt": "bye\n",
      "ren.txt": "r\n",
    });
    await world.prompt();
    const at = (name: string) => world.path(name);
    await world.bash(
      "perl -pi -e s/two/TWO/ main.lua && echo new > made.txt && rm gone.txt && mkdir d && mv ren.txt d/ren2.txt",
      diff([
        { filePath: at("d/ren2.txt"), hunks: [hunk(0, 0, 1, 1, "+r")], created: true },
        { filePath: at("gone.txt"), hunks: [hunk(1, 1, 0, 0, "-bye")], deleted: true },
        { filePath: at("made.txt"), hunks: [hunk(0, 0, 1, 1, "+new")], created: true },
        { filePath: at("main.lua"), hunks: [hunk(1, 3, 1, 3, " one", "-two", "+TWO", " three")] },
        { filePath: at("ren.txt"), hunks: [hunk(1, 1, 0, 0, "-r")], deleted: true },
      ]),
    );
    expect(world.files).toEqual([
      'd/ren2.txt: absent > "r\\n" (from ren.txt)',
      'gone.txt: "bye\\n" > absent (644 > 0)',
      'made.txt: absent > "new\\n"',
      'main.lua: "one\\ntwo\\nthree\\n" > "one\\nTWO\\nthree\\n"',
      'ren.txt: "r\\n" > absent (644 > 0)',
    ]);
    expect(world.records.map((record) => record.type)).toEqual(["prompt", "begin", "change"]);
    expect(world.changes[0]).toMatchObject({ tool: "Bash", source: "bash", use: "use-1" });
  });

  test.each(first(1, ["by the CLI", "by a comparison"]))(
    "attributes files that git no longer ignores to the user: %s",
    async (how) => {
      using world = new RecordedHere({ "a.txt": "one\n", ".gitignore": "*.log\nlocal/\n" });
      world.write("x.log", "mine\n");
      world.write("local/c.ini", "mine\n");
      const long = Date.now() + 1_100;
      await world.prompt();
      await eventually("long before the command", () => Date.now() > long);
      const created = (name: string) => ({
        filePath: world.path(name),
        hunks: [hunk(0, 0, 1, 1, "+mine")],
        created: true,
      });
      const lines = [hunk(1, 2, 1, 1, "-*.log", "-local/", "+!*.log")];
      const files = [
        { filePath: world.path(".gitignore"), hunks: lines },
        created("x.log"),
        created("local/c.ini"),
        { ...created("new.log"), hunks: [hunk(0, 0, 1, 1, "+new")] },
      ];
      const command = "echo '!*.log' > .gitignore; echo new > new.log";
      if (how === "by the CLI") await world.bash(command, diff(files));
      else await world.failing(command);
      await world.stop();
      expect(world.files.toSorted()).toEqual([
        '.gitignore: "*.log\\nlocal/\\n" > "!*.log\\n"',
        'new.log: absent > "new\\n"',
      ]);
    },
  );

  test("does not know the earlier content of an unread file outside of a repository", async () => {
    using world = new RecordedHere({}, false);
    world.write("a.txt", "one\n");
    const file = { filePath: world.path("a.txt"), hunks: [hunk(1, 1, 1, 1, "-one", "+ONE")] };
    await world.bash("perl -pi -e s/one/ONE/ a.txt", diff([file]));
    expect(world.files).toEqual(['a.txt: unknown > "ONE\\n"']);
  });
});

describe("without the CLI's report: by comparison of the work tree", () => {
  needs("symlinks")("records each kind of change by a command that failed", async () => {
    using world = new Recorded({
      "a.txt": "one\n",
      "gone.txt": "one\n",
      "mine.txt": "one\n",
      "run.txt": "run\n",
      ".gitignore": "*.log\n",
    });
    // The user's own change, uncommitted.
    world.write("mine.txt", "mine\n");
    world.write("untracked.txt", "u\n");
    for (const name of ["gone.txt", "run.txt", "untracked.txt"]) chmodSync(world.path(name), 0o644);
    await world.prompt();
    const commands = [
      ["echo x >> a.txt", 'a.txt: "one\\n" > "one\\nx\\n"'],
      ["echo new > new.txt", 'new.txt: absent > "new\\n"'],
      ["rm gone.txt", 'gone.txt: "one\\n" > absent (644 > 0)'],
      ["git checkout -q mine.txt", 'mine.txt: "mine\\n" > "one\\n"'],
      ["rm untracked.txt", 'untracked.txt: "u\\n" > absent (644 > 0)'],
      ["chmod +x run.txt", 'run.txt: "run\\n" > "run\\n" (644 > 755)'],
      ["ln -s a.txt l", 'l: absent > "a.txt" (symlink)'],
      ["printf '\\000\\001' > b.dat", 'b.dat: absent > "\\u0000\\u0001"'],
      ["echo x > 'a\nb'", 'a\nb: absent > "x\\n"'],
      ["echo x > .env", ".env: absent > private"],
      // A name like that of a draft of ours, and one with a real U+FFFD.
      [
        "echo x > .claude-code-nvim.0123abcd.tmp",
        '.claude-code-nvim.0123abcd.tmp: absent > "x\\n"',
      ],
      ["echo x > 'a\uFFFD'", 'a\uFFFD: absent > "x\\n"'],
      ["echo x > ignored.log"],
      ["false"],
    ];
    await world.failing(commands.map(([command]) => command).join("; "));
    await world.stop();
    const expected = commands.flatMap(([, change]) => change ?? []);
    expect(world.files.toSorted()).toEqual(expected.toSorted());
    const change = world.changes.find(({ source }) => source === "trees");
    expect(change).toMatchObject({ session: "one", tool: "Bash", use: "use-1" });
  });

  const COMMIT = "git -c user.name=a -c user.email=b commit -qam x";

  const FORMATTER = {
    hooks: {
      PostToolUse: [{ matcher: "Edit|Write", hooks: [{ type: "command", command: "format" }] }],
    },
  };

  /** Steps by the user, by Claude and by its hooks, separated by two spaces. */
  async function tell(world: RecordedHere, story: string): Promise<void> {
    for (const step of story.split(/ {2,}/)) {
      const [, verb = "", rest = ""] = /^(\S+) ?(.*)$/.exec(step) ?? [];
      const files = Object.entries(filesIn(rest).texts) as [string, string][];
      if (verb === "edit") for (const file of files) await world.edit(...file);
      else if (verb === "user") for (const file of files) world.write(...file);
      else if (verb === "saved") {
        for (const file of files)
          await world.answer("written", { path: realpathSync(world.write(...file)) });
      } else if (verb === "sh") world.sh(rest);
      else if (verb === "run") await world.failing(rest);
      else if (verb === "turn") await world.turn(rest);
      else if (verb === "prompt") await world.prompt();
      else if (verb === "stop") await world.stop();
      else if (verb === "unlisted") expect((await world.list()).files).toEqual([]);
      else if (verb === "formatter")
        world.write(".claude/settings.json", JSON.stringify(FORMATTER));
      else if (verb === "cli") world.setEnv({ AI_AGENT: `claude-code_${rest}_harness` });
      else if (verb === "line") {
        await world.hook("pre-skill-shell-command", { tool_name: "Bash", tool_use_id: rest });
        world.sh(rest);
      } else if (verb === "expanded") {
        await world.hook("user-prompt-expansion");
        world.sh(rest);
      } else if (verb === "background") {
        const call = await world.begin();
        await world.hook("post-tool-use", { ...call, tool_response: { backgroundTaskId: "b1" } });
      } else throw new Error(`no such step: ${step}`);
    }
  }

  // Title, committed files ("-": no repository yet), the story, and the changes.
  test.each(
    rows(`
    what Claude writes and removes, which is not listed | a=one | prompt  edit s=x  run rm s  stop  unlisted | s: "x\\n" > absent (644 > 0); s: absent > "x\\n"
    what a command makes and removes, which is not listed | a=one | prompt  run echo x > s; chmod +x s  run rm s  stop  unlisted | s: "x\\n" > absent (755 > 0); s: absent > "x\\n"
    nothing of a commit | a.txt=one | sh echo mine > a.txt  turn ${COMMIT} |
    a folder that is moved, and one from outside | src/a.txt=one | sh mkdir $HOME/gen; echo k > $HOME/gen/k.txt  turn mv src lib; mv $HOME/gen . | gen/k.txt: absent > "k\\n"; lib/a.txt: absent > "one\\n" (from src/a.txt); src/a.txt: "one\\n" > absent (644 > 0)
    a folder in the place of a file | a=mine | turn rm a; mkdir a; echo x > a/x | a/x: absent > "x\\n"; a: "mine\\n" > absent (644 > 0)
    a file in the place of a folder | k.txt=k | sh mkdir notes; echo mine > notes/n.txt  turn rm -r notes; echo hi > notes | notes/n.txt: "mine\\n" > absent (644 > 0); notes: absent > "hi\\n"
    a move, a directory and a commit in one command | a.txt=one, b.txt=two | turn mkdir -p d && git mv a.txt d/a.txt && echo x >> b.txt && ${COMMIT} | a.txt: "one\\n" > absent (644 > 0); b.txt: "two\\n" > "two\\nx\\n"; d/a.txt: absent > "one\\n" (from a.txt)
    nothing committed on a branch that is another name of one | a.txt=one | sh git branch real && git symbolic-ref $(git symbolic-ref HEAD) refs/heads/real  turn echo two > a.txt | a.txt: "one\\n" > "two\\n"
    repositories without a commit, one in the other | - | sh git init -q . && mkdir inner && cd inner && git init -q . && echo x > x.txt  turn echo x > a.txt; echo y > inner/x.txt | a.txt: absent > "x\\n"; inner/x.txt: "x\\n" > "y\\n"
    nothing that the user stages in part | a=one | sh echo two > a; git add a; echo three > a  turn true  sh echo four > a; git add a; echo five > a  prompt |
    a text of Claude's that a command gives back | a=one | prompt  edit a=two  stop  user a=mine  prompt  run echo two > a  stop | a: "mine\\n" > "two\\n"; a: "one\\n" > "two\\n"
    a command's change in the background before an edit | a=one | prompt  edit a=two  background  user a=TWO  edit a=TWO three  stop | a: "TWO\\n" > "TWO\\nthree\\n"; a: "one\\n" > "two\\n"; a: "two\\n" > "TWO\\n"
    concurrent lines of a skill as Claude's, and nothing of the user's after the next call | a=one, b=b | prompt  line true  line echo two > a  run true  user b=mine  stop | a: "one\\n" > "two\\n"
    what a skill's line changes last in a turn, and nothing of the user's afterwards | a=one, b=b | prompt  line echo two > a  stop  run sleep 0.1  user b=mine  prompt | a: "one\\n" > "two\\n"
    what a typed skill changes in an older CLI | a=one, b=b, c=c | cli 2-1-330  prompt  expanded echo two > a  edit b=B  user c=mine  stop | a: "one\\n" > "two\\n"; b: "b\\n" > "B\\n"
    nothing of the user's after a typed command without shell lines | a=one | cli 2-1-332  prompt  expanded echo mine > a  stop |
    what a hook formats as Claude's | a=one five | formatter  prompt  edit a=one x five  edit n=y  user a=one X five, n=Y Y  stop | a: "one\\nfive\\n" > "one\\nx\\nfive\\n"; a: "one\\nx\\nfive\\n" > "one\\nX\\nfive\\n"; n: "y\\n" > "Y\\nY\\n"; n: absent > "y\\n"
    nothing of the user's in Neovim, in another file, or in a later turn | a=one, b=b, c=c | formatter  prompt  edit a=two  edit c=C  saved a=two mine  user b=mine  stop  run sleep 0.1  user c=C mine  prompt | a: "one\\n" > "two\\n"; c: "c\\n" > "C\\n"`),
  )("records %s", async (_what, files = "", story = "", found = "") => {
    const texts = filesIn(files === "-" ? "" : files).texts as Record<string, string>;
    using world = new RecordedHere(texts, files !== "-");
    await tell(world, story);
    expect(world.files.toSorted().join("; ")).toBe(found);
  });

  needs("symlinks")("does not undo a symlink as a file", async () => {
    using world = new RecordedHere({ "a.txt": "one\n" });
    world.sh("ln -s a.txt l; ln -s a.txt m");
    world.git("add -A", "commit -qm link");
    await world.turn("rm l m; echo x > m");
    const files = ["l", "m"].map((name) => ({ path: world.path(name) }));
    const undone = await world.answer("undo", { files });
    const problem = { problem: expect.stringContaining("is a symlink") };
    expect(undone).toMatchObject({ files: [problem, problem] });
  });

  nightly.test("records more files than are looked up at once", async () => {
    const names = Array.from({ length: 600 }, (_, i) => `d/${i}.txt`);
    using world = new RecordedHere(Object.fromEntries(names.map((name) => [name, "one\n"])));
    await world.turn("perl -pi -e s/one/two/ d/*.txt");
    expect(new Set(world.files.map((file) => file.replace(/^.*: /, "")))).toEqual(
      new Set(['"one\\n" > "two\\n"']),
    );
    expect(world.files).toHaveLength(600);
  });

  test("compares if the CLI calls changes unavailable, skipped or shared", async () => {
    const flags = [{ unavailable: "timeout" }, { skipped: true }, { shared: true }];
    using world = new RecordedHere(Object.fromEntries(flags.map((_, i) => [`${i}`, "one\n"])));
    await world.prompt();
    for (const [i, flag] of flags.entries()) {
      const call = await world.begin(`u${i}`);
      world.write(`${i}`, "two\n");
      const bashEditDiff = { files: [], changedFiles: [], ...flag };
      await world.hook("post-tool-use", { ...call, tool_response: { bashEditDiff } });
      const { incomplete } = await world.list();
      const others = [expect.stringContaining("Other commands ran")];
      expect(incomplete).toEqual("shared" in flag ? others : []);
    }
    await world.stop();
    expect(world.files).toEqual(flags.map((_, i) => `${i}: "one\\n" > "two\\n"`));
  });

  test.each([
    ["reports its changes", "reported"],
    ["reports their lines", "lines"],
    ["fails", "failed"],
  ])("attributes changes before Neovim's save to the command: it %s", async (_title, how) => {
    using world = new RecordedHere({ "a.txt": "one\n2\n3\n4\nfive\n" });
    await world.prompt();
    const call = await world.begin();
    await world.compared();
    const half = "ONE\n2\n3\n4\nfive\n";
    world.write("a.txt", half);
    world.write("a.txt", `${half}mine\n`);
    const path = realpathSync(world.path("a.txt"));
    await world.answer("written", { path, over: Buffer.from(half).toString("base64") });
    world.write("a.txt", "ONE\n2\n3\n4\nFIVE\nmine\n");
    const lines = ["-one", "+ONE", " 2", " 3", " 4", "-five", "+FIVE", "+mine"];
    const bashEditDiff = {
      changedFiles: [world.path("a.txt")],
      files:
        how === "lines"
          ? [{ filePath: world.path("a.txt"), hunks: [hunk(1, 5, 1, 6, ...lines)] }]
          : [],
    };
    if (how === "failed") await world.hook("post-tool-use-failure", { ...call, error: "x" });
    else await world.hook("post-tool-use", { ...call, tool_response: { bashEditDiff } });
    await world.stop();
    const { files } = await world.list();
    expect(files.map(({ hunks }) => hunks.map((hunk) => [hunk.old, hunk.new, hunk.mixed]))).toEqual(
      [
        [
          [[1, 1], [1, 1], false],
          [[5, 1], [5, 1], false],
        ],
      ],
    );
    await world.answer("undo", { files: [{ path }] });
    expect(await Bun.file(path).text()).toBe("one\n2\n3\n4\nfive\nmine\n");
  });

  test("begins with the commit, not with an older edit, before Neovim saves", async () => {
    using world = new RecordedHere({ "a.txt": "one\n" });
    await world.prompt();
    await world.edit("a.txt", "two\n");
    await world.stop();
    world.write("a.txt", "three\n");
    world.git("commit -qam second");
    await world.prompt();
    await world.begin();
    await world.compared();
    const path = realpathSync(world.write("a.txt", "three\nClaude's\nmine\n"));
    await world.answer("written", { path, over: btoa("three\nClaude's\n") });
    expect(world.files.slice(1)).toEqual(['a.txt: "three\\n" > "three\\nClaude\'s\\n"']);
  });

  test("records changes by a command that outlives its turn, while the command runs", async () => {
    claims("No name, no id and no late process hides a change");
    using world = new RecordedHere({ "a.txt": "one\n" });
    await world.prompt();
    const call = await world.begin();
    await world.hook("post-tool-use", { ...call, tool_response: { backgroundTaskId: "b1" } });
    await world.stop({ background_tasks: [{}] });
    world.write("a.txt", "two\n");
    const service = new ReviewService();
    service.follow([world.root]);
    await service.summary();
    // The service starts the compiled executable, which does this.
    compareInTurns(world.root);
    expect(world.files).toEqual(['a.txt: "one\\n" > "two\\n"']);
  });

  test("writes nothing in git's own folder, and runs none of its programs", async () => {
    claims("A project's git configuration runs nothing");
    using world = new RecordedHere({
      "a.txt": "one\n",
      "b.dat": "one\n",
      ".gitattributes": "*.dat filter=evil\n",
    });
    const ran = world.path(".git/ran");
    for (const key of [
      "core.fsmonitor",
      "filter.evil.clean",
      "filter.evil.smudge",
      "filter.evil.process",
    ]) {
      world.sh(`git config ${key} "touch ${ran}; cat"`);
    }
    world.sh("git config filter.evil.required true");
    const list = () =>
      [...new Bun.Glob("**").scanSync({ cwd: world.path(".git"), dot: true })]
        .sort()
        .map((name) => {
          const { size, mtimeMs } = statSync(world.path(`.git/${name}`));
          return `${name} ${size} ${mtimeMs}`;
        });
    const before = list();
    await world.turn("echo x >> a.txt; echo x >> b.dat; echo x > new.txt");
    expect(world.files.sort()).toEqual([
      'a.txt: "one\\n" > "one\\nx\\n"',
      'b.dat: unknown > "one\\nx\\n"',
      'new.txt: absent > "x\\n"',
    ]);
    expect(list()).toEqual(before);
  });

  nightly.test("records changes in repositories inside the project", async () => {
    using world = new RecordedHere({ "a.txt": "one\n", ".gitignore": "ignored/\n" });
    const make = (folder: string) =>
      world.sh(
        `mkdir -p ${folder} && cd ${folder} && git init -q . && echo one > f && git add f && ${COMMIT}`,
      );
    make("clone");
    make("clone/deep");
    make("ignored");
    world.git("worktree add -q tree");
    make("module");
    world.write(
      ".gitmodules",
      '[submodule "module"]\n\tpath = module\n[submodule "x"]\n\tpath = ../..\n',
    );
    make("gitlink");
    const paths = "module gitlink .gitmodules";
    world.git(`-c advice.addEmbeddedRepo=false add ${paths}`, "commit -qm module");
    await world.prompt();
    const places = "clone/f clone/deep/f ignored/f tree/a.txt module/f gitlink/f";
    await world.failing(`for f in ${places}; do echo two > $f; done; rm clone/deep/f`);
    await world.failing(`echo new > clone/new; (cd module && ${COMMIT}); (cd clone && ${COMMIT})`);
    await world.stop();
    expect(world.files.sort()).toEqual([
      'clone/deep/f: "one\\n" > absent (644 > 0)',
      'clone/f: "one\\n" > "two\\n"',
      'clone/new: absent > "new\\n"',
      'gitlink/f: "one\\n" > "two\\n"',
      'module/f: "one\\n" > "two\\n"',
      'tree/a.txt: "one\\n" > "two\\n"',
    ]);
    const sentences = world.changes.flatMap(({ incomplete }) => incomplete ?? []);
    expect(sentences).toEqual([]);
  });

  nightly.test("knows a text that only the commit of an inner repository has", async () => {
    using world = new RecordedHere({});
    world.sh("mkdir in && cd in && git init -q . && printf 'one\\r\\ntwo\\r\\n' > f && git add f");
    world.sh(`cd in && ${COMMIT}`);
    await world.prompt();
    await world.edit("in/f", "one\r\n2\r\n");
    expect(world.files).toEqual(['in/f: "one\\r\\ntwo\\r\\n" > "one\\r\\n2\\r\\n"']);
  });

  /** A prompt whose comparison waits, before git reads a work tree, until `go` is called. */
  async function slowPrompt(world: Recorded, folder = ""): Promise<{ go: () => Promise<void> }> {
    const [looks, waits] = [join(world.home, "looks"), join(world.home, "waits")];
    const git = `#!/bin/sh
      case " $* " in *"${folder} status "*) : >'${looks}'; while [ -e '${waits}' ]; do sleep 0.01; done ;; esac
      exec '${Bun.which("git")}' "$@"`;
    mkdirSync(join(world.home, "bin"));
    writeFileSync(join(world.home, "bin/git"), git, { mode: 0o755 });
    world.env.PATH = `${world.home}/bin:${world.env.PATH}`;
    writeFileSync(waits, "");
    await world.hook("user-prompt-submit", { prompt: "go on", prompt_id: "p2" });
    await eventually("git", () => existsSync(looks));
    const go = () => {
      rmSync(waits);
      return world.compared();
    };
    return { go };
  }

  const SLOW = { prompt_id: "p2", tool_name: "Bash", tool_use_id: "slow", tool_input: {} };

  nightly.test("records a command that ends while git is still reading the work tree", async () => {
    using world = new Recorded({ "a.txt": "one\n" });
    await world.prompt();
    const { go } = await slowPrompt(world);
    await world.hook("pre-tool-use", SLOW);
    world.write("a.txt", "two\n");
    await world.hook("post-tool-use-failure", SLOW);
    await go();
    expect(world.files).toEqual(['a.txt: "one\\n" > "two\\n"']);
  });

  nightly.test.each([
    ["the project", "."],
    ["an inner repository", "in"],
  ])("attributes to the user a text committed while git reads %s", async (_name, folder) => {
    using world = new Recorded({});
    const inside = (commands: string) => world.sh(`cd ${folder} && ${commands}`);
    world.sh("mkdir in && git init -q in");
    inside(`echo one > mine.txt && git add mine.txt && ${COMMIT}`);
    world.write(`${folder}/mine.txt`, "mine\n");
    await world.prompt();
    const { go } = await slowPrompt(world, folder === "." ? "" : "/in");
    await world.hook("pre-tool-use", SLOW);
    inside(`cp mine.txt x && mv x mine.txt && ${COMMIT}`);
    await go();
    await world.hook("post-tool-use-failure", SLOW);
    await world.stop({ prompt_id: "p2" });
    expect(world.files).toEqual([]);
  });
});

describe("reports gaps in what it knows", () => {
  const INNER = Array.from({ length: 22 }, (_, i) => `d${i}/.git/objects d${i}/.git/refs`).join(
    " ",
  );
  const HEADS = "for d in d*; do echo ref: refs/heads/main > $d/.git/HEAD; done";

  test("records a command's changes of files that Claude edited, without git", async () => {
    using world = new RecordedHere({ "a.txt": "one\n", "b.txt": "one\n" }, false);
    await world.prompt();
    await world.edit("a.txt", "two\n");
    await world.bash("echo three > a.txt; echo x > b.txt");
    await world.compared();
    world.write("a.txt", "mine\n");
    await world.prompt();
    await world.bash("echo four >> a.txt");
    await world.stop();
    expect(world.files).toEqual([
      'a.txt: "one\\n" > "two\\n"',
      'a.txt: "two\\n" > "three\\n"',
      'a.txt: "mine\\n" > "mine\\nfour\\n"',
    ]);
    expect(world.changes.find(({ tool }) => tool === "Bash")?.incomplete).toContain(
      "Outside a git",
    );
  });

  test.each(
    first(1, [
      ["git fails", "echo '[core' > .git/config", "could not be compared"],
      ["names that are not UTF-8", "touch $(printf 'a\\377b')", "not UTF-8 (a\uFFFDb)"],
      ["inner repositories", `mkdir -p ${INNER}; ${HEADS}`, "2 files or inner"],
    ]),
  )("once per turn: %s", async (_name, command, expected) => {
    using world = new RecordedHere({ "a.txt": "one\n" });
    await world.turn(command);
    const sentences = world.changes.flatMap(({ incomplete }) => incomplete ?? []);
    expect(sentences).toEqual([expect.stringContaining(expected)]);
  });
});

test("records prompt, stop and end in the project that CLAUDE_PROJECT_DIR names", async () => {
  using world = new Recorded();
  await world.prompt({ prompt: "x".repeat(2_000), cwd: "/" });
  await world.stop({ background_tasks: [{}] });
  await world.hook("session-end", { reason: "other" });
  expect(world.records).toMatchObject([
    { type: "prompt", session: "one", prompt: "p1", head: expect.any(String) },
    { type: "stop", background: true },
    { type: "end", session: "one" },
  ]);
  const [prompt] = world.records;
  expect(prompt?.type === "prompt" && prompt.text).toHaveLength(500);
  expectMode(world.folder, 0o700);
  expectMode(join(world.folder, "snapshot.json"), 0o600);
});

test("records a new file that a comparison sees before its hook runs", async () => {
  using recorded = new RecordedHere({ "a.txt": "a\n" });
  await recorded.prompt();
  const file_path = recorded.write("new.txt", "new\n");
  await recorded.stop({ background_tasks: [{ type: "subagent", status: "running" }] });
  await recorded.hook("post-tool-use", {
    tool_name: "Write",
    tool_use_id: "u1",
    agent_id: "agent",
    tool_input: { file_path },
    tool_response: { type: "create", filePath: file_path, originalFile: null },
  });
  expect(recorded.files).toEqual(['new.txt: absent > "new\\n"']);
});

test("lists what a command leaves only in git's index", async () => {
  claims("No git setting hides a change");
  using world = new RecordedHere({ "a.txt": "one\n", "gone.txt": "one\n" });
  await world.prompt();
  const commands = [
    "echo evil > a.txt; git add a.txt; echo one > a.txt",
    "echo evil > b.txt; git add b.txt; rm b.txt",
    "git rm -q --cached gone.txt",
  ];
  await world.failing(commands.join("; "));
  await world.failing("true");
  await world.stop();
  const listed = async () => (await world.list()).files;
  const found = await listed();
  const files = ["a.txt", "b.txt", "gone.txt"].map((name) => ({ path: join(world.root, name) }));
  const cannot_undo = expect.stringContaining("git diff --cached");
  expect(found).toMatchObject(files.map((file) => ({ ...file, cannot_undo })));
  await world.answer("keep", { files });
  expect(await listed()).toEqual([]);
});

test("does not pile up copies of git's index, even if git fails", async () => {
  using world = new RecordedHere({ "a.txt": "one\n" });
  await world.turn("true");
  world.write(".git/HEAD", "nothing");
  for (let turn = 1; turn <= 3; turn++) await world.turn("true");
  expect(readdirSync(join(world.folder, "indexes")).length).toBeLessThanOrEqual(2);
});
