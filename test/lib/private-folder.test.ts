import {
  chmodSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { Recorded } from "#review";
import { claims, first, needs, restoresEnv, stateFolderOf, temporaryFolder } from "#test";
import { stateFolder } from "../../src/lib/paths";
import { join } from "../../src/lib/platform";
import { makePrivateFolder, readPrivateFile } from "../../src/lib/private-folder";

/* Data about the user's projects: no one else may read or write it. */

const { getuid } = process;
let folder: string;
let umask = 0;
restoresEnv("XDG_STATE_HOME");
beforeEach(() => {
  folder = temporaryFolder();
  process.env.XDG_STATE_HOME = folder;
  umask = process.umask(0);
});
afterEach(() => {
  process.umask(umask);
  process.getuid = getuid as () => number;
});
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("gives folders of the state mode 700, whatever the umask is, and was", () => {
  claims("Only you can read or change what we keep on disk");
  const folder = join(stateFolder(), "edits/1/deep");
  mkdirSync(join(stateFolder(), "edits"), { recursive: true });
  makePrivateFolder(folder);
  const folders = [".", "edits", "edits/1", "edits/1/deep"].map((name) =>
    join(stateFolder(), name),
  );
  expect(folders.map(mode)).toEqual(["700", "700", "700", "700"]);
});

test("refuses a folder of another user in the state folder", () => {
  makePrivateFolder(join(stateFolder(), "review"));
  process.getuid = () => 4_711;
  expect(() => makePrivateFolder(join(stateFolder(), "review"))).toThrow("another user");
});

test("reads a file only if no one else can have written it", () => {
  const path = join(stateFolder(), "a.json");
  makePrivateFolder(stateFolder());
  writeFileSync(path, "{}", { mode: 0o600 });
  expect(readPrivateFile(path)).toBe("{}");
  chmodSync(path, 0o620);
  expect(readPrivateFile(path)).toBeUndefined();
  chmodSync(path, 0o600);
  process.getuid = () => 4_711;
  expect(readPrivateFile(path)).toBeUndefined();
});

test("hooks leave nothing that others can change for a user with umask 000", async () => {
  claims("Only you can read or change what we keep on disk");
  using world = new Recorded({ "a.txt": "one\n" });
  await world.prompt();
  await world.edit("a.txt", "two\n");
  await world.stop();
  const top = stateFolderOf(world.home);
  const all = ["", ...(readdirSync(top, { recursive: true }) as string[])];
  const open = all.filter((name) => statSync(join(top, name)).mode & 0o077);
  expect(open).toEqual([]);
});

const NAMES =
  "journal.jsonl compare.request compare.lock journal.lock root incomplete pruned snapshot.json ../../hooks.log".split(
    " ",
  );
const KINDS = ["a FIFO", "/dev/zero"] as const;
/** Tries each name once, and each kind with every other one, before the rest. */
const PLACES = [0, 1].flatMap((shift) =>
  NAMES.map((name, at) => [KINDS[(at + shift) % 2], name] as const),
);
needs("symlinks").each(first(NAMES.length, PLACES))(
  "%s in the place of %s keeps no hook waiting",
  async (what, name) => {
    claims("FIFOs and endless files keep nothing waiting");
    using world = new Recorded({ "a.txt": "one\n" });
    await world.prompt();
    const path = join(world.folder, name);
    rmSync(path, { force: true });
    if (what === "a FIFO") Bun.spawnSync(["mkfifo", path]);
    else symlinkSync("/dev/zero", path);
    for (const event of ["user-prompt-submit", "stop"]) await world.hook(event, { prompt: "x" });
    rmSync(path, { force: true });
  },
);
