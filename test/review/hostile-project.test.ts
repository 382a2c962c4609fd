import { appendFileSync, existsSync, symlinkSync } from "node:fs";
import { claims, eventually, first, NEOVIMS, TestClient, TestNeovim, temporaryFolder } from "#test";
import { command, Git, LIMITS } from "../../src/review/git/run";
import { Recorded, RecordedHere } from "./recorded";

/* A folder from the internet attacks the hooks and the executable through its `.git`. */
describe("no filter driver runs", () => {
  claims("A project's git configuration runs nothing");
  const driver = (name: string | Buffer, mark: string) =>
    Buffer.concat([
      Buffer.from('[filter "'),
      Buffer.from(name),
      Buffer.from(`"]\n\tclean = touch ${mark}; cat\n\tprocess = touch ${mark}\n`),
    ]);

  test.each<[what: string, name: string | Buffer, more: string]>([
    ["whose name is not UTF-8", Buffer.from("ev\xff", "latin1"), ""],
    ["whose name looks like an attribute's state", "unset", ""],
    ["beside too many others for one environment", "evil", '[filter "x#"]\n\tclean = cat\n'],
    ["behind a configuration that git cannot read to its end", "evil", "[broken\n"],
  ])("%s", async (_what, name, more) => {
    using world = new RecordedHere({ "a.dat": "one\n" });
    const mark = world.path(".git/ran");
    const attribute = [Buffer.from("*.dat filter="), Buffer.from(name), Buffer.from("\n")];
    world.write(".gitattributes", Buffer.concat(attribute));
    appendFileSync(world.path(".git/config"), driver(name, mark));
    const count = more.includes("#") ? 30_000 : 1;
    const others = Array.from({ length: count }, (_, i) => more.replace("#", `${i}`));
    appendFileSync(world.path(".git/config"), others.join(""));
    await world.prompt();
    world.write("a.dat", "two\n");
    await world.stop();
    expect(existsSync(mark)).toBe(false);
  });

  test("runs none if reading their names takes too long", () => {
    using world = new RecordedHere({ "a.dat": "one\n" });
    world.write(".gitattributes", "*.dat filter=evil\n");
    const mark = world.path(".git/ran");
    appendFileSync(world.path(".git/config"), driver("evil", mark));
    const config = '[filter "x"]\n\tclean = cat\n'.repeat(250_000);
    appendFileSync(world.path(".git/config"), config);
    world.write("a.dat", "two\n");
    const git = Git.in(world.root);
    const { ms } = LIMITS;
    LIMITS.ms = 10;
    const status = git?.wait(command(["status", "--porcelain"], { ms: 30_000 }));
    LIMITS.ms = ms;
    expect(status?.code).toBeNull();
    expect(existsSync(mark)).toBe(false);
  });
});

test.each(["evil", "a.b", "Ünï", ""])("runs no hook of the configuration: %p", async (name) => {
  claims("A project's git configuration runs nothing");
  using world = new RecordedHere({ "a.txt": "one\n" });
  const mark = world.path(".git/ran");
  const events = ["reference-transaction", "post-index-change"].map((one) => `\tevent = ${one}\n`);
  const hook = `[hook "${name}"]\n\tcommand = touch ${mark}\n\tenabled = true\n${events.join("")}`;
  appendFileSync(world.path(".git/config"), hook);
  await world.prompt();
  await world.edit("a.txt", "two\n");
  await world.stop();
  world.sh("git add a.txt");
  await world.answer("undo", { files: [{ path: world.path("a.txt") }] });
  expect(existsSync(mark)).toBe(false);
  // git before 2.54 does not know such hooks; later versions read this setting.
  const isOn = Git.in(world.root)?.wait(command(["config", `hook.${name}.enabled`]));
  expect(isOn?.stdout.toString()).toBe("false\n");
});

const OLD = "touch -t 202001010000 a.txt";
/** git compares file times in whole seconds. */
const SECOND = "sleep 1.1";

test.each(
  first(3, [
    [
      "git replace",
      "git replace $(git rev-parse HEAD:a.txt) $(echo two | git hash-object -w --stdin)",
    ],
    ["core.worktree", "git config core.worktree $HOME"],
    ["assume-unchanged", "git update-index --assume-unchanged a.txt"],
    ["skip-worktree", "git update-index --skip-worktree a.txt"],
    [
      "core.trustctime",
      `git config core.trustctime false; ${OLD}; git update-index --refresh; ${SECOND}`,
    ],
  ]),
)("finds a change whatever git says: %s", async (_what, command) => {
  claims("No git setting hides a change");
  using world = new RecordedHere({ "a.txt": "one\n" });
  await world.prompt();
  await world.failing(`${command}; echo two > a.txt; echo new > new; ${OLD}`);
  await world.stop();
  expect(world.files.sort()).toEqual(['a.txt: "one\\n" > "two\\n"', 'new: absent > "new\\n"']);
});

test.each([
  ["a repository without a line in .gitmodules", "git init -q in", "true", ["in/f"], 0],
  ["a folder that is no repository", "true", "mkdir in", [], 1],
  ["a folder behind a symlink", "mkdir ../x", "ln -s ../x in", ["in"], 0],
])("finds a change behind a gitlink: %s", async (_what, before, command, names, unknown) => {
  claims("No git setting hides a change");
  using world = new RecordedHere({ "a.txt": "one\n" });
  world.sh(`${before}; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),in`);
  await world.prompt();
  await world.failing(`${command}; echo new > in/f`);
  await world.stop();
  expect(world.files.map((file) => file.split(":")[0])).toEqual(names);
  expect(world.changes.filter(({ incomplete }) => incomplete)).toHaveLength(unknown);
});

const inGit: [what: string, command: string][] = [
  ["HEAD is a FIFO", "rm .git/HEAD && mkfifo .git/HEAD"],
  [
    "the branch never ends",
    "ln -sf /proc/self/pagemap .git/refs/heads/$(git branch --show-current)",
  ],
  [".git is a FIFO", "rm -r .git && mkfifo .git"],
  [".git is a symlink to itself", "rm -r .git && ln -s .git .git"],
  ["packed-refs is a FIFO", "rm .git/refs/heads/* && mkfifo .git/packed-refs"],
];

describe.each(first(3, inGit))("%s", (_what, command) => {
  test("lets hooks record Claude's changes", async () => {
    claims("FIFOs and endless files keep nothing waiting");
    using world = new Recorded({ "a.txt": "one\n" });
    world.sh(command);
    await world.hook("user-prompt-submit", { prompt: "do it" });
    await world.edit("a.txt", "two\n");
    expect(world.files).toEqual(['a.txt: "one\\n" > "two\\n"']);
  });

  test.each(NEOVIMS)("lets clients get answers, in $name", async (version) => {
    claims("FIFOs and endless files keep nothing waiting");
    using world = new Recorded({ "a.txt": "one\n" });
    world.sh(command);
    await using neovim = await TestNeovim.start({ version, cwd: world.root });
    const lock = await neovim.lock();
    // The review looks for commits as soon as the executable has started.
    await Bun.sleep(300);
    using client = await TestClient.open(lock);
    expect(await client.json("getOpenEditors")).toBeDefined();
    await neovim.quit();
    // A git that waits for a FIFO ends with the executable, too.
    await eventually("the end of git", () => gitProcesses(world.root).length === 0);
  });
});

function gitProcesses(folder: string): string[] {
  const { stdout } = Bun.spawnSync(["ps", "-eo", "args"]);
  const lines = stdout.toString().split("\n");
  return lines.filter((line) => line.includes("git -c") && line.includes(folder));
}

test.each(NEOVIMS)(
  "starts Claude's terminal beside settings that are a FIFO, in $name",
  async (version) => {
    const folder = temporaryFolder();
    await using neovim = await TestNeovim.start({ version, cwd: folder });
    await neovim.lock();
    Bun.spawnSync(["sh", "-c", "mkdir .claude && mkfifo .claude/settings.json"], { cwd: folder });
    symlinkSync("settings.json", `${folder}/.claude/settings.local.json`);
    const setup = `return require("port").folder_setup(...).off`;
    await neovim.until(
      "the settings",
      `return (${setup.slice("return ".length)} or ""):find("cannot be read")`,
      folder,
    );
  },
);
