import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import fc from "fast-check";
import { claims, lacks, needs, temporaryFolder } from "#test";
import { basename, join } from "../../src/lib/platform";
import { mappingsOf } from "../../src/remote/endpoint";
import { type Disk, type Mapping, PathMap, type PathStyle } from "../../src/remote/path-map";
import { tries } from "../fuzz/effort";

/** A disk without symlinks. */
const disk = (style: PathStyle, folds = style === "win32"): Disk => ({
  style,
  real: (path) => path,
  folds: () => folds,
});

const map = (mapping: Record<string, string>, style: PathStyle = "posix", on = disk("posix")) =>
  new PathMap(
    Object.entries(mapping).map(([remote, host]) => ({ remote, host })),
    style,
    on,
  );

describe("a path on the other side", () => {
  const LINUX = map({ "/workspaces/x": "/home/me/x" });
  const WINDOWS = map({ "C:\\src": "/s" }, "win32");
  const SHARES = map({ "\\\\wsl.localhost\\Ubuntu\\x": "/x", "\\\\s\\x\\y": "/y" }, "win32");
  const IN_WSL = map({ "/w": "C:\\s", "/u": "\\\\wsl.localhost\\U\\x" }, "posix", disk("win32"));
  const cases: [string, PathMap, remote: string, host: string][] = [
    [
      "names that look like codes",
      LINUX,
      "/workspaces/x/%2e%2e/50%.txt",
      "/home/me/x/%2e%2e/50%.txt",
    ],
    ["names with dots", LINUX, "/workspaces/x/.../..a/b..", "/home/me/x/.../..a/b.."],
    ["another composition", LINUX, "/workspaces/x/e\u0301", "/home/me/x/e\u0301"],
    ["WSL's own disk", IN_WSL, "/u/a", "\\\\wsl.localhost\\U\\x\\a"],
  ];
  test.each(cases)("%s", (_name, paths, remote, host) => {
    expect(paths.toHost(remote)).toBe(host);
    expect(paths.toRemote(host)).toBe(remote);
  });

  const spelled: [string, PathMap, remote: string, host: string][] = [
    ["dots and slashes", LINUX, "/workspaces//./y/../x/a/../b", "/home/me/x/b"],
    ["a root with other composed characters", map({ "/w/é": "/s" }), "/w/e\u0301/a", "/s/a"],
    ["another case", WINDOWS, "c:/SRC/a", "/s/a"],
    ["a long path of Windows", WINDOWS, "\\\\?\\C:\\src\\a", "/s/a"],
    ["the older name of WSL's disk", SHARES, "\\\\wsl$\\ubuntu\\x\\a", "/x/a"],
    ["a long path of a share", SHARES, "\\\\?\\UNC\\S\\x\\y\\a", "/y/a"],
  ];
  test.each(spelled)("understands %s", (_name, paths, remote, host) => {
    expect(paths.toHost(remote)).toBe(host);
  });

  test("folds case on a disk that does", () => {
    const folding = map({ "/w": "/Users/me/Src" }, "posix", disk("posix", true));
    expect(folding.toRemote("/users/ME/src/A")).toBe("/w/A");
    expect(map({ "/w": "/Users/me/Src" }).toRemote("/Users/me/src/A")).toBeUndefined();
  });

  test("prefers the longer name of two remote folders", () => {
    const twice = map({ "/w": "/s", "/work/spaces": "/s" });
    expect(twice.toHost("/w/a")).toBe("/s/a");
    expect(twice.toRemote("/s/a")).toBe("/work/spaces/a");
  });

  test("finds no file that a longer mapping hides there", () => {
    const hidden = map({ "/w": "/s", "/w/pkg": "/other" });
    expect(hidden.toRemote("/s/pkg/a")).toBeUndefined();
    expect(hidden.toRemote("/s/a")).toBe("/w/a");
  });

  const refused: [string, PathMap, string][] = [
    ["a file outside, by dots", LINUX, "/workspaces/x/../../etc/passwd"],
    ["dots above the root", LINUX, "/../../workspaces/y"],
    ["a folder with the same beginning", LINUX, "/workspaces/xy/a"],
    ["another case", LINUX, "/Workspaces/x/a"],
    ["a relative path", LINUX, "x/a"],
    ["a NUL", LINUX, "/workspaces/x/a\0b"],
    ["a line end", LINUX, "/workspaces/x/a\nb"],
    ["a control character of 8 bits", LINUX, "/workspaces/x/\u009b31m"],
    ["a path of 4,097 bytes", LINUX, `${"/workspaces/x/".padEnd(4_095, "a/")}ü`],
    ["one that is as long here", map({ "/w": "/home/me" }), "/w/".padEnd(4_096, "a/")],
    ["a path of 40,000 characters", WINDOWS, `C:\\src\\${"a\\".repeat(20_000)}`],
    ["a drive's own folder", WINDOWS, "C:src\\a"],
    ["a path without a drive", WINDOWS, "\\src\\a"],
    ["trailing dots", WINDOWS, "C:\\src\\a."],
    ["a trailing blank", WINDOWS, "C:\\src \\a"],
    ["a stream", WINDOWS, "C:\\src\\a.txt:b"],
    ["a device", WINDOWS, "C:\\src\\NUL.txt"],
    ["a device's path", WINDOWS, "\\\\.\\C:\\src\\a"],
    ["a share's root alone", SHARES, "\\\\s\\x"],
    ["a backslash", IN_WSL, "/w/..\\..\\Windows\\a"],
    ["a colon", IN_WSL, "/w/a:b"],
    ["a name that Windows shortens", IN_WSL, "/w/a."],
  ];
  test.each(refused)("maps to nothing %s", (_name, paths, path) => {
    expect(paths.toHost(path)).toBeUndefined();
  });

  const unseen: [string, PathMap, string][] = [
    ["a name that Windows cannot have", WINDOWS, "/s/a:b"],
    ["a name that is a path of Windows", WINDOWS, "/s/a\\..\\..\\b"],
    ["a buffer's name", LINUX, "term:///home/me/x//1:sh"],
  ];
  test.each(unseen)("does not tell the remote of %s", (_name, paths, path) => {
    expect(paths.toRemote(path)).toBeUndefined();
  });
});

describe("for any path", () => {
  const name = fc.oneof(
    fc.constantFrom(..."a|B|..|.|...|%2e%2e|e\u0301|é|a b|x|pkg|CON|a.|w".split("|")),
    fc.string({ minLength: 1, maxLength: 6 }).filter((text) => !/[/\\\p{Cc}]/u.test(text)),
  );
  const rest = fc.array(name, { maxLength: 8 });
  const maps: [string, Record<string, string>, PathStyle, PathStyle][] = [
    ["one folder", { "/w/x": "/home/me/x" }, "posix", "posix"],
    ["the same folder", { "/home/me/x": "/home/me/x" }, "posix", "posix"],
    ["several", { "/w": "/home/me/w", "/w/pkg": "/o", "/x/y": "/home/me/y" }, "posix", "posix"],
    ["Windows there", { "C:\\w": "/mnt/c/w", "\\\\s\\x\\y": "/y" }, "win32", "posix"],
    ["Windows here", { "/mnt/c/w": "C:\\w" }, "posix", "win32"],
  ];

  test.each(maps)("round-trips paths, and maps nothing outside: %s", (...row) => {
    const [, mapping, style, here] = row;
    const paths = map(mapping, style, disk(here));
    const [remotes, hosts] = [Object.keys(mapping), Object.values(mapping)];
    const path = (roots: string[], of: PathStyle) =>
      fc
        .tuple(fc.constantFrom(...roots, ""), rest)
        .map(([root, names]) => [root, ...names].join(of === "win32" ? "\\" : "/"));
    const isNormal = (text: string) => !/(^|[/\\])\.{1,2}([/\\]|$)/.test(text);
    fc.assert(
      fc.property(path(remotes, style), path(hosts, here), (remote, host) => {
        const found = paths.toHost(remote);
        expect(found === undefined || hosts.some((one) => isBelow(found, one))).toBe(true);
        if (found !== undefined && isNormal(remote)) expect(paths.toRemote(found)).toBe(remote);
        const back = paths.toRemote(host);
        expect(back === undefined || remotes.some((one) => isBelow(back, one))).toBe(true);
        if (back !== undefined && isNormal(host)) expect(paths.toHost(back)).toBe(host);
        if (remotes.every((one) => !isBelow(remote, one)) && isNormal(remote))
          expect(found).toBeUndefined();
      }),
      { numRuns: tries(3_000) },
    );
  });

  function isBelow(path: string, folder: string): boolean {
    return path === folder || path.startsWith(`${folder}/`) || path.startsWith(`${folder}\\`);
  }
});

describe("a folder that cannot be shared is refused, and named", () => {
  const bad: [string, Mapping][] = [
    ["the root here", { remote: "/w", host: "/" }],
    ["the home folder", { remote: "/w", host: homedir() }],
    ["the folder above it", { remote: "/w", host: join(homedir(), "..") }],
    ["a tilde", { remote: "/w", host: "~" }],
    ["a relative folder", { remote: "/w", host: "src" }],
    ["no folder", { remote: "/w", host: "" }],
    ["the root there", { remote: "/", host: "/tmp/x" }],
    ["a tilde there", { remote: "~", host: "/tmp/x" }],
  ];
  test.each(bad)("%s", (_name, mapping) => {
    expect(() => new PathMap([mapping], "posix")).toThrow(
      /cannot be shared: give the absolute path/,
    );
  });
});

describe("a devcontainer.json from a hostile project chooses no folder here", () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  const base = "${" + "localWorkspaceFolderBasename}";
  const cases: [string, string, string | undefined][] = [
    ["a folder there", '{ "workspaceFolder": "/w", }', "/w"],
    ["none", "{}", undefined],
    [
      "one by its name",
      `{ // "workspaceFolder": "/"\n"workspaceFolder": "/w/${base}" }`,
      "/w/NAME",
    ],
    ["no text", '{ "workspaceFolder": ["/w"] }', undefined],
    ["too deep", `{ "x": ${"[".repeat(100_000)}`, undefined],
    ["too long", `{ "workspaceFolder": "/w" } //${"x".repeat(1024 * 1024)}`, undefined],
    ["a mount", '{ "workspaceFolder": "/w", "workspaceMount": "source=/,target=/w" }', "/w"],
  ];
  test.each(cases)("%s", (_name, text, expected) => {
    writeFileSync(join(folder, ".devcontainer.json"), text);
    const remote = (expected ?? "/workspaces/NAME").replace("NAME", basename(folder));
    expect(mappingsOf(join(folder, "sub"))).toEqual([{ remote, host: folder }]);
  });

  needs("symlinks")("ignores one above the repository, and a device", () => {
    symlinkSync("/dev/zero", join(folder, ".devcontainer.json"));
    const remote = `/workspaces/${basename(folder)}`;
    expect(mappingsOf(folder)).toEqual([{ remote, host: folder }]);
    const inside = join(folder, "x/sub");
    mkdirSync(join(folder, "x/.git"), { recursive: true });
    writeFileSync(join(folder, "x/.devcontainer.json"), "{}");
    mkdirSync(join(inside, ".git"), { recursive: true });
    expect(mappingsOf(inside)).toEqual([{ remote: inside, host: inside }]);
  });
});

describe.skipIf(lacks("symlinks"))("on a real disk", () => {
  let root: string;
  let paths: PathMap;
  beforeAll(() => {
    root = temporaryFolder();
    mkdirSync(join(root, "x/sub"), { recursive: true });
    mkdirSync(join(root, "outside"));
    writeFileSync(join(root, "outside/secret"), "secret");
    writeFileSync(join(root, "x/real.ts"), "");
    for (const [from, to] of [
      ["x/file", "outside/secret"],
      ["x/folder", "outside"],
      ["x/nowhere", "outside/none"],
      ["x/loop", "x/loop"],
      ["x/within", "x/real.ts"],
      ["linked", "x"],
    ] as const) {
      symlinkSync(join(root, to), join(root, from));
    }
    paths = new PathMap([{ remote: "/w", host: join(root, "x") }], "posix");
  });

  test.each(["file", "folder/secret", "folder/new", "folder", "nowhere", "nowhere/below"])(
    "refuses a symlink to the outside in both directions: %s",
    (name) => {
      claims("No symlink leads a remote out of them");
      expect(paths.toHost(`/w/${name}`)).toBeUndefined();
      expect(paths.toRemote(join(root, "x", name))).toBeUndefined();
    },
  );

  test("maps a symlink that stays inside, and a new file", () => {
    for (const name of ["within", "sub/new/file.ts", "real.ts"]) {
      expect(paths.toHost(`/w/${name}`)).toBe(join(root, "x", name));
      expect(paths.toRemote(join(root, "x", name))).toBe(`/w/${name}`);
    }
  });

  test("finds a file with another name here by its real path", () => {
    expect(paths.toRemote(join(root, "linked/real.ts"))).toBe("/w/real.ts");
    const linked = new PathMap([{ remote: "/w", host: join(root, "linked") }], "posix");
    expect(linked.toHost("/w/real.ts")).toBe(join(root, "linked/real.ts"));
    expect(linked.toRemote(join(root, "x/real.ts"))).toBe("/w/real.ts");
  });

  test("maps nothing in a folder that was replaced by a symlink", () => {
    mkdirSync(join(root, "swapped"));
    const swapped = new PathMap([{ remote: "/w", host: join(root, "swapped") }], "posix");
    expect(swapped.toHost("/w/a")).toBe(join(root, "swapped/a"));
    rmSync(join(root, "swapped"), { recursive: true });
    symlinkSync(join(root, "outside"), join(root, "swapped"));
    expect(swapped.toHost("/w/secret")).toBeUndefined();
    expect(swapped.toRemote(join(root, "swapped/secret"))).toBeUndefined();
  });

  test("refuses a folder in another one if a symlink leads outside", () => {
    const mappings = [
      { remote: "/w", host: join(root, "x") },
      { remote: "/w/folder", host: join(root, "x/folder") },
    ];
    expect(() => new PathMap(mappings, "posix")).toThrow("cannot be shared");
  });
});

describe("texts", () => {
  const paths = map({ "/w": "/home/me/src", "/w/pkg": "/home/me/src/packages" });
  test.each([
    ["in /home/me/src/a.ts:3", "in /w/a.ts:3"],
    ["(/home/me/src)", "(/w)"],
    ["/home/me/src.", "/w."],
    ["file:///home/me/src/a", "file:///w/a"],
    ["/home/me/src/packages/b", "/w/pkg/b"],
    ["/home/me/src2/a", "/home/me/src2/a"],
    ["/mnt/home/me/src/a", "/mnt/home/me/src/a"],
    ["/home/me/src.d/a", "/home/me/src.d/a"],
    ["$& $1", "$& $1"],
  ])("translates a language server's message: %s", (text, expected) => {
    expect(paths.textToRemote(text)).toBe(expected);
  });

  test.each([
    ["no such file: /home/me/src/a", "no such file: /w/a"],
    [
      "it led to /home/me/src/a, and leads to /home/me/.ssh/id now",
      "it led to /w/a, and leads to …",
    ],
    ["C:\\Users\\me is no file", "…"],
    ["N/A and/or 1/2", "N/A and/or 1/2"],
    ["file:///etc/passwd", "file://…"],
    ["the share \\\\server\\x", "the share …"],
    ["/wide/open", "…"],
    ["~/other/a.ts is too big", "…"],
  ])("translates an error of our own: %s", (text, expected) => {
    expect(paths.errorToRemote(text)).toBe(expected);
  });
});
