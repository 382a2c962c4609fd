import { existsSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import {
  claims,
  deadPid,
  eventually,
  expectMode,
  isolatedEnv,
  NEWEST,
  needs,
  perBlock,
  ROOT,
  stateFolderOf,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { tryLock } from "../../src/lib/lock";
import { join, resolve } from "../../src/lib/platform";
import { messageFor } from "../../src/review/commit/commit";
import { PRIVATE_BY_DEFAULT, Privacy } from "../../src/review/record/privacy";
import { RecordedHere } from "./recorded";

const neovim = perBlock(() => TestNeovim.start({ version: NEWEST }));

test("gives hooks Neovim's options, and each change of them", async () => {
  claims("A private file's text is not recorded");
  const path = join(stateFolderOf(neovim.home), "privacy.json");
  const address = await neovim.lua<string>("return vim.v.servername");
  const inNeovim = "return require('claude-code.editor.privacy.defaults')";
  expect(PRIVATE_BY_DEFAULT).toEqual(await neovim.lua<string[]>(inNeovim));
  const patterns = async () => JSON.parse(await Bun.file(path).text());
  await eventually("the defaults", async () =>
    expect((await patterns()).last).toEqual(PRIVATE_BY_DEFAULT),
  );
  expectMode(path, 0o600);
  const setup = "{ privacy = { defaults = false, patterns = { 'a' } } }";
  await neovim.lua(`require('claude-code').setup(${setup})`);
  await eventually("the pattern", async () =>
    expect((await patterns()).of[address]).toEqual(["a"]),
  );
  // Hooks in its terminals use its own options, whatever another Neovim has set since.
  await using other = await TestNeovim.start({ version: NEWEST, home: neovim.home });
  await eventually("the other's", async () =>
    expect((await patterns()).last).toEqual(PRIVATE_BY_DEFAULT),
  );
  const isPrivate = (NVIM: string) => {
    const code =
      'console.log(new (require("./src/review/record/privacy").Privacy)().isPrivate("/x/a"))';
    const env = { ...isolatedEnv(neovim.home), NVIM };
    return Bun.spawnSync([process.execPath, "-e", code], { cwd: ROOT, env })
      .stdout.toString()
      .trim();
  };
  expect(["/none", address].map(isPrivate)).toEqual(["false", "true"]);
  expect(other.process.exitCode).toBeNull();
});

test("keeps the options of two Neovims that report them at the same time", async () => {
  const home = temporaryFolder();
  const [mine, theirs] = [join(home, "mine"), join(home, "theirs")];
  const path = join(stateFolderOf(home), "privacy.json");
  for (const address of [mine, theirs]) writeFileSync(address, "");
  const lock = tryLock(`${path}.lock`);
  const code = `
    const { keepPrivatePatterns } = require("./src/review/record/privacy");
    const kept = keepPrivatePatterns({ defaults: false, patterns: ["m"] });
    console.log("asked");
    Promise.resolve(kept).then(() => console.log("kept"));`;
  const child = Bun.spawn([process.execPath, "-e", code], {
    ...{ cwd: ROOT, env: { ...isolatedEnv(home), NVIM: mine }, stderr: "inherit" },
  });
  const said = child.stdout.getReader();
  const text = async () => new TextDecoder().decode((await said.read()).value);
  expect(await text()).toBe("asked\n");
  expect(existsSync(path)).toBe(false);
  const pipe = (pid: number) => `\\\\.\\pipe\\nvim.${pid}.0`;
  const others = { [theirs]: ["t"], [pipe(process.pid)]: ["p"] };
  const before = { last: ["t"], of: { ...others, [pipe(deadPid())]: ["gone"] } };
  writeFileSync(path, JSON.stringify(before), { mode: 0o600 });
  lock?.[Symbol.dispose]();
  expect(await text()).toBe("kept\n");
  const of = { ...others, [mine]: ["m"] };
  expect(await Bun.file(path).json()).toEqual({ last: ["m"], of });
});

test("finds the same files private in hooks and in Neovim", async () => {
  const patterns = "*.{a,b{1,2}} notes/** !notes/open.md x[!0-9]?.t [z-a] ~/own"
    .split(" ")
    .concat(resolve("/abs/*"));
  const privacy = new Privacy([...PRIVATE_BY_DEFAULT, ...patterns]);
  await neovim.lua("require('port').config.setup({ privacy = { patterns = ... } })", patterns);
  const names =
    ".env .ENV.local a.env env ID_ED25519 k.pem~ kpem secrets.yml secrets.txt x.tfvars.json m.a m.b1 " +
    "m.b3 m.{a x1y.t xyz.t x.t é.pe\u0301m notes/a.md notes/open.md x/notes/deep/a notesx/a " +
    ".ssh/config .sshx/config ide/1.lock";
  const below = names.split(" ").map((name) => resolve(`/somewhere/${name}`));
  const paths = [...below, resolve("/abs/x"), resolve("/abs/x/y")];
  const inNeovim = await neovim.lua<boolean[]>(
    "return vim.tbl_map(require('claude-code.editor.privacy').is_private, ...)",
    paths,
  );
  const found = paths.map((path) => privacy.isPrivate(path));
  expect(found).toEqual(inNeovim);
  expect(privacy.isPrivate(join(homedir(), "own"))).toBe(true);
});

needs("a shell")(
  "does not show Claude a private file that takes another's place, for a commit's message",
  async () => {
    claims("A private file's text and name stay in Neovim");
    using world = new RecordedHere({ old: "one\n", a: "one\n" });
    await world.prompt();
    world.sh("rm old; mkdir old; echo two | tee a > old/.env; git add -A");
    const { signal } = new AbortController();
    const commit = { root: world.root, tree: "HEAD", index: world.path(".git/index"), signal };
    const asked = await messageFor(commit, { command: ["sh", "-c", "cat"], env: {} });
    expect(asked).toContain("+two");
    expect(asked).not.toContain("env");
  },
);
