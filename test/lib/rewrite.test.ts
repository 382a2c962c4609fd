import {
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { claims, lacks, temporaryFolder } from "#test";
import { rewrite, unlessHeld } from "../../src/lib/atomic-write";
import { join } from "../../src/lib/platform";

let folder: string;
const path = (name: string) => join(folder, name);
beforeEach(() => {
  folder = temporaryFolder();
  writeFileSync(path("file"), "old\n");
  linkSync(path("file"), path("other name"));
  writeFileSync(path("secret"), "secret\n");
});

test("keeps all names of a file", () => {
  rewrite(path("file"), Buffer.from("new\n"), lstatSync(path("file")));
  expect(readFileSync(path("other name"), "utf8")).toBe("new\n");
});

const swaps: [what: string, swap: () => void][] = [
  ["another file", () => renameSync(path("secret"), path("file"))],
  ["nothing", () => {}],
];
const unixSwaps: typeof swaps = [
  ["a symlink", () => symlinkSync("secret", path("file"))],
  ["a FIFO", () => Bun.spawnSync(["mkfifo", path("file")])],
];
test.each([...swaps, ...(lacks("symlinks") ? [] : unixSwaps)])(
  "writes nothing if %s has just taken its place",
  (_what, swap) => {
    claims("An undo changes only what you decided about");
    const stats = lstatSync(path("file"));
    rmSync(path("file"));
    swap();
    expect(() => rewrite(path("file"), Buffer.from("new\n"), stats)).toThrow();
    expect(readFileSync(path("other name"), "utf8")).toBe("old\n");
    const secrets = ["secret", "file"].flatMap((name) => {
      const isFile = lstatSync(path(name), { throwIfNoEntry: false })?.isFile();
      return isFile ? [readFileSync(path(name), "utf8")] : [];
    });
    expect(secrets).toEqual(["secret\n"]);
  },
);

test("replaces a file once other programs have closed it, or says that they have not", () => {
  let refusals = 2;
  const replace = () => {
    if (refusals-- > 0) throw Object.assign(new Error("rename"), { code: "EPERM" });
  };
  unlessHeld("a file", replace, [0, 0]);
  refusals = 9;
  const held = {
    code: "EPERM",
    message: expect.stringContaining("another program has a file open"),
  };
  expect(() => unlessHeld("a file", replace, [0, 0])).toThrow(expect.objectContaining(held));
});
