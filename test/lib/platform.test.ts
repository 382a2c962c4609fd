import { mkdirSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { onEachNeovim, temporaryFolder } from "#test";
import { behindShim } from "../../src/claude/cli";
import { refuseNoName } from "../../src/editor/path";
import { fileUri, pathsOfUri, rawUri } from "../../src/lib/file-uri";
import { type Disk, isBelow, realPathOn } from "../../src/lib/paths";
import { dirname, join, pathsOf, type System } from "../../src/lib/platform";
import { reviewFolder } from "../../src/review/journal/folder";

const SYSTEMS: System[] = ["win32", "darwin"];
const windows = pathsOf("win32");
/** Some are names on one system alone, some differ only in case or composition, and some are those of home folders. */
const NAMES =
  "Src,src,aux,NUL.txt,dot.,a:b,İ,i,ı,ß,100%,50%20,#1,\u00fcber,u\u0308ber,Jörg Doe's,日本";
const name = fc.constantFrom(...NAMES.split(","));
const names = fc.array(name, { minLength: 1, maxLength: 5 });
const root = (system: System) =>
  system === "win32" ? fc.constantFrom("C:/", "//server/share/") : fc.constant("/");

/** The name as the disk compares it: NTFS by upper case of each character, APFS also by composition. */
function folded(text: string, system: System): string {
  if (system === "darwin") return text.normalize("NFD").toLowerCase();
  const upper = (one: string) => (one.toUpperCase().length === 1 ? one.toUpperCase() : one);
  return [...text].map(upper).join("");
}

/** A disk that keeps each name as it was first written. */
function diskWith(files: readonly string[][], root: string, system: System): Disk {
  const paths = pathsOf(system);
  const spelled = new Map([[folded(root, system), root]]);
  const keyOf = (path: string) => folded(paths.resolve(path), system);
  for (const file of files) {
    let folder = root;
    for (const one of file) {
      const path = paths.join(folder, one);
      folder = spelled.get(keyOf(path)) ?? path;
      spelled.set(keyOf(path), folder);
    }
  }
  const real = (path: string) => {
    const found = spelled.get(keyOf(path));
    if (found === undefined) throw new Error("ENOENT");
    return found;
  };
  const exists = (path: string) => spelled.has(keyOf(path));
  return { paths, real, exists, target: () => undefined };
}

/** The same file in another spelling, by the bits of `seed`. */
function respelled(path: string, system: System, seed: number): string {
  const forms = (one: string) =>
    [one, one.toUpperCase(), one.toLowerCase(), one.normalize("NFC"), one.normalize("NFD")].filter(
      (form) => folded(form, system) === folded(one, system),
    );
  const pick = (all: string[], i: number) => all[(seed >> (i % 16)) % all.length] ?? "";
  const separators = system === "win32" ? ["/", "\\"] : ["/"];
  const parts = path.split("/").map((part, i) => pick(forms(part), i));
  return parts.reduce((all, part, i) => all + pick(separators, i) + part);
}

const worlds = SYSTEMS.map((system) => ({
  system,
  world: fc.record({
    files: fc.array(names, { minLength: 1, maxLength: 6 }),
    root: root(system),
    missing: fc.array(fc.constantFrom("new", "Neu", "x y"), { maxLength: 2 }),
    seeds: fc.tuple(fc.nat(), fc.nat()),
  }),
}));

test.each(worlds)("finds the disk's spelling of each path on $system", ({ system, world }) => {
  fc.assert(
    fc.property(world, ({ files, root, missing, seeds }) => {
      const disk = diskWith(files, root, system);
      for (const file of files) {
        const stored = disk.real(disk.paths.join(root, ...file));
        const wanted = disk.paths.join(stored, ...missing);
        const [one, other] = seeds.map((seed) =>
          realPathOn(disk, [respelled(stored, system, seed), ...missing].join("/")),
        );
        expect([one, other, realPathOn(disk, wanted)]).toEqual([wanted, wanted, wanted]);
        const top = realPathOn(disk, respelled(disk.paths.dirname(stored), system, seeds[1]));
        expect(isBelow(wanted, top)).toBe(true);
        expect(disk.paths.join(top, disk.paths.relative(top, wanted))).toBe(wanted);
        expect(reviewFolder(one as string)).toBe(reviewFolder(wanted));
      }
    }),
  );
});

test("reads back the URIs of Windows, and those of the CLI without a slash", () => {
  fc.assert(
    fc.property(root("win32"), names, (top, parts) => {
      const path = top + parts.join("/");
      expect(pathsOfUri(fileUri(path, true), true)[0]).toBe(path);
      expect(pathsOfUri(rawUri(path, true), true)).toContain(path);
      const uri = `file://${windows.native(path)}`;
      expect(pathsOfUri(uri, true).map(windows.normal)).toContain(path);
    }),
  );
});

const NO_NAMES = "aux,Nul.txt,nul .txt,COM¹,conin$,.env.,.env ,.env::$DATA,a?,src/con/x".split(",");
test.each(NO_NAMES)("knows that Windows opens another file for %s", (name) => {
  expect(() => refuseNoName(`C:/x/${name}`)).toThrow("No file on Windows can have the name");
});

test.each(["C:/x/.env", "//server/share/İ/auxiliary", "C:/Users/Jörg Doe's/ü/com"])(
  "takes %s",
  (path) => {
    expect(() => refuseNoName(path)).not.toThrow();
  },
);

test("finds the program behind npm's claude.cmd, and no other", () => {
  const folder = temporaryFolder();
  const shim = join(folder, "claude.cmd");
  expect(behindShim(shim)).toBe(shim);
  const program = withShim(folder);
  expect(behindShim(shim)).toBe(program);
  expect(behindShim(join(folder, "claude"))).toBe(join(folder, "claude"));
});

function withShim(folder: string): string {
  const program = join(folder, "node_modules/@anthropic-ai/claude-code/bin/claude.exe");
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, "", { mode: 0o755 });
  return program;
}

onEachNeovim((session) => {
  /** In Lua, with the rules of Windows. */
  const onWindows = <T>(code: string, given: unknown) =>
    session.neovim.lua<T>(
      `local port, given = require("port"), ...
      port.platform.is_windows = true
      local ok, answer = pcall(function() ${code} end)
      port.platform.is_windows = false
      return assert(ok, answer) and answer`,
      given,
    );

  test("writes paths of Windows in Lua as the executable does", async () => {
    const part = fc.oneof(name, fc.constantFrom(".", "..", ""));
    const path = fc
      .tuple(
        fc.constantFrom("c:/", "C:\\", "\\\\server\\share\\x\\", "//server/share/x/"),
        fc.array(fc.tuple(part, fc.constantFrom("/", "\\")), { maxLength: 6 }),
      )
      .map(([top, parts]) => `${top + parts.flat().join("")}end`);
    const paths = fc.sample(path, 300).filter((one) => !/x[\\/].*\.\.[\\/]/.test(one));
    const code = "return vim.tbl_map(port.paths.normal, given)";
    expect(await onWindows<string[]>(code, paths)).toEqual(
      paths.map((one) => windows.resolve(one)),
    );
  });

  test("knows absolute paths of Windows and their titles, and what is inside of a folder", async () => {
    const code = "return vim.tbl_map(port.paths.is_absolute, given)";
    const given = ["C:/x", "c:\\x", "\\\\server\\share\\x", "x\\y", "\\x", "oil:///x", "C:x"];
    expect((await onWindows<boolean[]>(code, given)).indexOf(false)).toBe(3);
    expect((await onWindows<boolean[]>(code, given)).lastIndexOf(true)).toBe(2);
    const title = "return port.paths.title(given)";
    expect(await onWindows<string>(title, "src\\a.ts")).toBe("src/a.ts");
    const inside =
      "return vim.tbl_map(function(pair) return port.paths.is_inside(unpack(pair)) end, given)";
    const pairs = [
      ["C:/x", "C:/"],
      ["C:/xy/z", "C:/x"],
      ["//server/share/x", "//server/share"],
    ];
    expect(await onWindows<boolean[]>(inside, pairs)).toEqual([true, false, true]);
  });

  test("finds the program behind npm's claude.cmd, in Lua", async () => {
    const folder = temporaryFolder();
    const program = withShim(folder);
    const find = 'return require("port").claude_cli.behind_shim(...)';
    expect(await session.neovim.lua<string>(find, join(folder, "claude.cmd"))).toBe(program);
  });
});
