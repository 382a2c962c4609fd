import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { claims, needs, temporaryFolder } from "#test";
import { below, type Place, removeFoldersBelow } from "../../src/lib/below";
import { join } from "../../src/lib/platform";
import { writeBelow } from "../../src/review/decide/apply";

let top: string;
let root: string;
const at = (name: string) => join(root, name);
const outside = (name: string) => join(top, "outside", name);
const text = (path: string) => readFileSync(path, "utf8");

beforeEach(() => {
  top = temporaryFolder();
  root = join(top, "root");
  for (const folder of [root, at("in"), join(top, "outside")]) mkdirSync(folder);
  writeFileSync(at("in/file"), "of the project\n");
  writeFileSync(outside("file"), "of elsewhere\n", { mode: 0o600 });
});

/** The folder moves away, and a symlink to one outside takes its place. */
const swap = () => {
  renameSync(at("in"), at("away"));
  symlinkSync(join(top, "outside"), at("in"));
};
const untouched = () => {
  expect(readdirSync(join(top, "outside"))).toEqual(["file"]);
  expect(text(outside("file"))).toBe("of elsewhere\n");
  expect(lstatSync(outside("file")).mode & 0o777).toBe(0o600);
};

const uses: [what: string, use: (place: Place) => void, done: () => boolean][] = [
  ["read", (place) => expect(`${place.read(99)?.bytes}`).toBe("of the project\n"), () => true],
  [
    "write",
    (place) => place.write(Buffer.from("new\n"), 0o755),
    () => text(at("away/file")) === "new\n",
  ],
  [
    "change the mode",
    (place) => place.setMode(0o755),
    () => (lstatSync(at("away/file")).mode & 0o777) === 0o755,
  ],
  ["remove", (place) => place.remove(), () => !existsSync(at("away/file"))],
];
test.each(uses)("does not follow a symlink that replaces an open folder: %s", (_, use, done) => {
  claims("An undo changes only what you decided about");
  below(root, "in/file", (place) => {
    swap();
    use(place);
  });
  expect(done()).toBe(true);
  untouched();
});

test.each(uses)("does not enter a folder that is a symlink: %s", (_, use) => {
  swap();
  expect(() => below(root, "in/file", use, true)).toThrow("it is behind a symlink");
  expect(() => below(root, "in/more/file", use, true)).toThrow("it is behind a symlink");
  expect(() => removeFoldersBelow(root, "in")).toThrow("it is behind a symlink");
  untouched();
});

needs("symlinks")("reads no FIFO or folder, and only the target of a symlink", () => {
  Bun.spawnSync(["mkfifo", at("fifo")]);
  symlinkSync(outside("file"), at("link"));
  const read = (name: string) => below(root, name, (place) => place.read(20)?.bytes.toString());
  expect(read("link")).toBe(outside("file").slice(0));
  for (const name of ["fifo", "in"]) expect(() => read(name)).toThrow("not a regular file");
  writeFileSync(at("long"), "x".repeat(21));
  expect(() => read("long")).toThrow("it has 21 bytes");
  for (const name of ["none", "none/none"]) expect(read(name)).toBeUndefined();
  expect(() => below(at("gone"), "file", () => true, true)).toThrow("ENOENT");
  for (const name of ["", ".", "..", "../outside/file"])
    expect(() => read(name)).toThrow("it is behind a symlink");
  for (const name of ["link", "fifo", "in"])
    expect(() => below(root, name, (place) => place.setMode(0o777))).toThrow();
  untouched();
});

test("writes a file with its folders and its mode, if only folders are in its way", () => {
  const bytes = Buffer.from("new\n");
  writeBelow(root, { path: "a/b/c", expected: [], bytes, mode: 0o755 });
  expect([text(at("a/b/c")), lstatSync(at("a/b/c")).mode & 0o777]).toEqual(["new\n", 0o755]);
  mkdirSync(at("d/e/f"), { recursive: true });
  writeBelow(root, { path: "d", expected: [], bytes });
  expect(text(at("d"))).toBe("new\n");
  expect(() => writeBelow(root, { path: "a", expected: [], bytes })).toThrow();
  expect(() => writeBelow(root, { path: "d/e", expected: [], bytes })).toThrow();
  swap();
  expect(() => writeBelow(root, { path: "in/new", expected: [], bytes })).toThrow("not inside");
  untouched();
});
