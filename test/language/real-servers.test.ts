import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "../support/eventually";
import { NEOVIMS, ROOT } from "../support/neovim";
import { TSCONFIG, TYPESCRIPT } from "../support/typescript";
import { LanguageProject, PYTHON } from "./world";

/* Real language servers in a real Neovim: what Claude receives. */
setDefaultTimeout(120_000);

const BIN = join(ROOT, "node_modules/.bin");
const SERVERS = {
  typescript: TYPESCRIPT,
  python: PYTHON,
  sh: [join(BIN, "bash-language-server"), "start"],
};

const FILES = {
  "tsconfig.json": TSCONFIG,
  "README.md": "Call parse.\n",
  "src/parser.ts": `/** Reads a text. */
export class Parser {
  parse(text: string): number {
    return text.length;
  }
}
export function parse(a: string) {
  return new Parser().parse(a);
}
export interface Shape { area(): number }
export class Square implements Shape {
  area() { return 1; }
}
`,
  "src/use.ts": `import { parse as p, Parser } from "./parser";
// parse in a comment
const x = p("😀"), y = new Parser().parse("parse");
export function main() {
  return new Parser().parse("b") + x + y;
}
`,
  "src/over.ts": `export class Box {
  put(a: string): void;
  put(a: number): void;
  put(_a: unknown) {}
}
`,
  "src/put.ts": '\uFEFFimport { Box } from "./over";\nnew Box().put(1);\nnew Box().put("");\n',
  "src/kinds.ts":
    'import * as other from "./parser";\nexport type Square = { Square: other.Square };\n',
  "app.py": `class Circle:
    """A round one."""

    def area(self) -> float:
        return 3.0
`,
  "other.py": `from app import Circle


def total(circles: list[Circle]) -> float:
    return sum(circle.area() for circle in circles)  # area
`,
  "run.sh": "greet() {\n  echo hi\n}\ngreet\n",
};

const reported = (names: string) =>
  `as ${names} ${names.includes(",") ? "report" : "reports"}; the text may match elsewhere`;

describe.each(NEOVIMS)("real language servers with $name", (version) => {
  let world: LanguageProject;
  beforeAll(async () => {
    world = await LanguageProject.open(version, FILES, { servers: () => SERVERS });
    // A cold start takes many seconds on a machine that does much else.
    await Promise.all(
      ["src/parser.ts", "app.py", "run.sh"].map((path) =>
        eventually(
          `the server of ${path}`,
          async () =>
            (await world.ask("outline", { path })).text.includes("the text may match elsewhere") &&
            !(await world.ask("outline", { path })).isError,
          90_000,
        ),
      ),
    );
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const answers: [string, string, object, string[]][] = [
    [
      "a definition, by a line that is a little off",
      "find_symbol",
      { symbol: "parse", path: "src/use.ts", line: 6 },
      [
        "src/parser.ts:3 parse: parse(text: string): number {",
        "  (method) Parser.parse(text: string): number",
        reported("typescript"),
      ],
    ],
    [
      "a class by its name alone, with its documentation",
      "find_symbol",
      { symbol: "Parser" },
      [
        "src/parser.ts:2 Parser: export class Parser {",
        "  class Parser",
        "Reads a text.",
        reported("typescript"),
      ],
    ],
    [
      "overloads, each of which the server names",
      "find_references",
      { symbol: "put", path: "src/put.ts" },
      ["  src/over.ts:2: put(a: string): void;"],
    ],
    [
      "all uses of overloads",
      "find_references",
      { symbol: "put", path: "src/put.ts", line: 2 },
      ["  2 new Box().put(1);", '  3 new Box().put("");', reported("typescript")],
    ],
    [
      "in the first line of a file with a BOM",
      "find_references",
      { symbol: "Box", path: "src/over.ts" },
      ['  1 import { Box } from "./over";'],
    ],
    [
      "several of one name",
      "find_references",
      { symbol: "parse" },
      [
        "2 symbols are called parse. For one of them ask with `path` and `line`:",
        "  src/parser.ts:3: parse(text: string): number {",
        "  src/parser.ts:7: export function parse(a: string) {",
        reported("python, sh, typescript"),
      ],
    ],
    [
      "uses under another name, behind an emoji too",
      "find_references",
      { symbol: "parse", path: "src/parser.ts", line: 7 },
      [
        "parse (src/parser.ts:7): 3 uses in 1 file",
        "src/use.ts",
        '  1 import { parse as p, Parser } from "./parser"; (2×)',
        '  3 const x = p("😀"), y = new Parser().parse("parse");',
        reported("typescript"),
      ],
    ],
    [
      "the symbol that a line declares, where it uses another of that name",
      "find_references",
      { symbol: "Square", path: "src/kinds.ts", line: 2 },
      ["Square (src/kinds.ts:2): 0 uses", reported("typescript")],
    ],
    [
      "implementations",
      "find_references",
      { symbol: "Shape", relation: "implementations" },
      [
        "Shape (src/parser.ts:10): 1 implementation in 1 file",
        "  11 export class Square implements Shape {",
      ],
    ],
    [
      "an outline of a file",
      "outline",
      { path: "src/parser.ts" },
      ["src/parser.ts", "  2-6 class Parser", "    3-5 method parse", "  7-9 function parse"],
    ],
    [
      "Python",
      "find_references",
      { symbol: "area", path: "app.py" },
      [
        "area (app.py:4): 1 use in 1 file",
        "  5 return sum(circle.area() for circle in circles) # area",
        reported("python"),
      ],
    ],
    [
      "Bash",
      "find_references",
      { symbol: "greet" },
      ["greet (run.sh:1): 1 use in 1 file", "  4 greet", reported("sh")],
    ],
  ];
  test.each(answers)("%s", async (_name, tool, args, lines) => {
    const text = await world.call(tool, args);
    const shown = text.split("\n").filter((line) => lines.includes(line));
    expect([shown, text]).toEqual([lines, text]);
  });

  test("pyright renames in files that nobody has open", async () => {
    const args = { path: "app.py", symbol: "area", new_name: "size" };
    expect(await world.call("rename_symbol", args)).toContain(
      "renamed area to size in 2 files, 2 places, as python reports",
    );
    expect(world.read("other.py")).toContain("sum(circle.size() for circle in circles)  # area");
  });

  test("knows what a shell and git write", async () => {
    const { project } = world;
    const git = (...args: string[]) =>
      Bun.spawnSync(["git", "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
        cwd: project.folder,
      });
    git("add", "-A");
    git("commit", "-qm", "one");
    const shows = (count: number) =>
      eventually(`${count} uses`, async () => {
        const text = await world.call("find_references", { symbol: "main", path: "src/use.ts" });
        expect(text).toContain(`: ${count} use`);
      });
    await shows(0);
    project.write("src/new.ts", 'import { main } from "./use";\nmain();\n');
    await shows(2);
    Bun.spawnSync(["sed", "-i", "s/^main();/main(); main();/", "src/new.ts"], {
      cwd: project.folder,
    });
    await shows(3);
    git("add", "-A");
    git("commit", "-qm", "two");
    git("checkout", "-q", "HEAD~1");
    await shows(0);
  });
});
