import { eventually, NEOVIMS, perBlock, ROOT, rows, setDefaultTimeout } from "#test";
import { join } from "../../src/lib/platform";
import { TSCONFIG, TYPESCRIPT } from "../support/typescript";
import { LanguageProject } from "./world";

/* Real language servers in a real Neovim: what Claude receives, and what it changes. */
setDefaultTimeout(180_000);

const BIN = join(ROOT, "node_modules/.bin");
const SERVERS = {
  typescript: TYPESCRIPT,
  python: [join(BIN, "pyright-langserver"), "--stdio"],
  sh: [join(BIN, "bash-language-server"), "start"],
  cpp: ["clangd"],
  go: ["gopls"],
  rust: {
    cmd: ["rust-analyzer"],
    // Otherwise the server starts the compiler about 30 times to ask about itself and the standard library.
    cmd_env: { RUSTC: "false", CARGO: "false" },
    init_options: { linkedProjects: ["rust-project.json"], checkOnSave: false },
  },
};

const CRATE = { root_module: "rust/lib.rs", edition: "2021", deps: [], is_workspace_member: true };
const FILES = {
  "tsconfig.json": TSCONFIG,
  "src/parser.ts": `/** Reads a text. */
export class Parser {
  parse(text: string): number {
    return text.length;
  }
}
export function parse(a: string) {
  return new Parser().parse(a);
}
`,
  "src/use.ts": `\uFEFFimport { parse as p, Parser } from "./parser";
// parse in a comment
const x = p("😀"), y = new Parser().parse("parse");
export function main() {
  return new Parser().parse("b") + x + y;
}
`,
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
  // Otherwise clangd first reads the machine's whole C++ library, which takes 3 s of processor time.
  ".clangd": "Index:\n  StandardLibrary: No\n",
  "include/shape.h": `#pragma once
/** Anything with an area. */
struct Shape {
  virtual double area() const = 0;
  virtual ~Shape() = default;
};
/** The area of several shapes. */
double total(const Shape *shapes[], int count);
int add(int a, int b);
double add(double a, double b);
`,
  "src/shape.cpp": `#include "shape.h"
struct Square : Shape {
  double side = 1;
  double area() const override { return side * side; }
};
double total(const Shape *shapes[], int count) {
  double sum = 0; // total
  for (int i = 0; i < count; i++) sum += shapes[i]->area();
  return sum;
}
int add(int a, int b) { return a + b; }
double add(double a, double b) { return a + b; }
`,
  "src/main.cpp": `#include "shape.h"
int main() {
  const char *name = "é😀"; const Shape *none[] = {nullptr}; double t = total(none, 0);
  return add(1, 2) + (int)add(1.0, 2.0) + (int)t;
}
`,
  "go.mod": "module example.org/figures\n\ngo 1.21\n",
  "figure/figure.go": `// Package figure measures.
package figure

// Figure is anything with a measure.
type Figure interface {
	Measure() float64
}

type Disc struct{ Radius float64 }

func (d Disc) Measure() float64 { return d.Radius * d.Radius }

// Whole adds the measures of figures.
func Whole(figures []Figure) (all float64) {
	for _, f := range figures {
		all += f.Measure()
	}
	return
}
`,
  "cmd/cmd.go": `package cmd

import "example.org/figures/figure"

func Run() float64 {
	name := "é😀"; return figure.Whole([]figure.Figure{figure.Disc{Radius: 2}}) + float64(len(name)) // Whole
}
`,
  "rust-project.json": JSON.stringify({ crates: [CRATE] }),
  "rust/lib.rs": `//! Solids.
mod solid;
use solid::{bulk, Solid};

pub fn run(solid: &dyn Solid) -> f64 {
    let _name = "é😀"; bulk(solid)
}
`,
  "rust/solid.rs": `/// Anything with a volume.
pub trait Solid {
    fn volume(&self) -> f64;
}

/// All of it.
pub fn bulk(solid: &dyn Solid) -> f64 {
    solid.volume()
}
`,
};

// Title, tool, its symbol, path, line and relation, and lines of the answer; "@" names the server that reports.
const ANSWERS = rows([
  "typescript: a definition, by a line that is a little off | find_symbol parse src/use.ts 6 | src/parser.ts:3 parse: parse(text: string): number {⏎  (method) Parser.parse(text: string): number⏎@typescript",
  "typescript: a class by only its name, with its documentation | find_symbol Parser | src/parser.ts:2 Parser: export class Parser {⏎  class Parser⏎Reads a text.",
  "several of one name, as each server that was asked reports | find_references parse | 2 symbols are called parse. For one of them ask with `path` and `line`:⏎  src/parser.ts:3: parse(text: string): number {⏎  src/parser.ts:7: export function parse(a: string) {⏎as cpp, go, python, rust, sh, typescript report; the text may match elsewhere",
  'typescript: uses under another name, behind an emoji and a BOM | find_references parse src/parser.ts 7 | parse (src/parser.ts:7): 3 uses in 1 file⏎src/use.ts⏎  1 import { parse as p, Parser } from "./parser"; (2×)⏎  3 const x = p("😀"), y = new Parser().parse("parse");⏎@typescript',
  "typescript: an outline | outline - src/parser.ts | src/parser.ts⏎  2-6 class Parser⏎    3-5 method parse⏎  7-9 function parse",
  "pyright: uses in a file that nobody has open | find_references area app.py | area (app.py:4): 1 use in 1 file⏎  5 return sum(circle.area() for circle in circles) # area⏎@python",
  "bash-language-server: uses | find_references greet | greet (run.sh:1): 1 use in 1 file⏎  4 greet⏎@sh",
  'clangd: uses, the prototype among them, behind an emoji | find_references total src/main.cpp | total (src/shape.cpp:6): 2 uses in 2 files⏎  8 double total(const Shape *shapes[], int count);⏎  3 const char *name = "é😀"; const Shape *none[] = {nullptr}; double t = total(none, 0);⏎@cpp',
  "clangd: overloads as several symbols, each once | find_references add src/main.cpp | 2 symbols are called add. For one of them ask with `path` and `line`:⏎  src/shape.cpp:11: int add(int a, int b) { return a + b; }⏎  src/shape.cpp:12: double add(double a, double b) { return a + b; }",
  "clangd: implementations, although the name first occurs in a comment | find_references area include/shape.h - implementations | area (include/shape.h:4): 1 implementation in 1 file⏎  4 double area() const override { return side * side; }",
  "gopls: a method by its receiver, of two with its name | find_symbol Disc.Measure |   func (d Disc) Measure() float64",
  'gopls: uses in another package | find_references Whole cmd/cmd.go | Whole (figure/figure.go:14): 1 use in 1 file⏎  6 name := "é😀"; return figure.Whole([]figure.Figure{figure.Disc{Radius: 2}}) + float64(len(name)) // Whole⏎@go',
  "rust-analyzer: a signature after the module's name | find_symbol bulk | rust/solid.rs:7 bulk: pub fn bulk(solid: &dyn Solid) -> f64 {⏎  pub fn bulk(solid: &dyn Solid) -> f64⏎All of it.",
  'rust-analyzer: uses, columns in UTF-8 | find_references bulk rust/solid.rs | bulk (rust/solid.rs:7): 2 uses in 1 file⏎  6 let _name = "é😀"; bulk(solid)⏎@rust',
]);

// Title, path, symbol and new name, and a part of each file afterwards.
const RENAMES = rows([
  "pyright, in a file that nobody has open | app.py area size | app.py: def size(⏎other.py: sum(circle.size() for circle in circles)  # area",
  "clangd, in prototype, definition and use | src/main.cpp total sum_of | include/shape.h: double sum_of(const Shape *shapes[], int count);⏎src/shape.cpp: double sum_of(const Shape *shapes[], int count) {⏎src/main.cpp: double t = sum_of(none, 0);",
  "gopls, with its documentation | cmd/cmd.go Whole Sum | figure/figure.go: // Sum adds the measures⏎cmd/cmd.go: return figure.Sum(",
  "rust-analyzer, whose edits have an annotation that none of them needs | rust/lib.rs bulk whole | rust/solid.rs: pub fn whole(⏎rust/lib.rs: ; whole(solid)",
]);

describe.each(NEOVIMS)("real language servers with $name", (version) => {
  const world = perBlock(() => LanguageProject.open(version, FILES, { servers: () => SERVERS }));
  beforeAll(async () => {
    const { project } = world;
    const commands = ["shape", "main"].map((name) => {
      const file = `src/${name}.cpp`;
      return { directory: project.folder, file, command: `c++ -Iinclude -c ${file}` };
    });
    project.write("compile_commands.json", JSON.stringify(commands));
    for (const path of ["src/main.cpp", "cmd/cmd.go", "rust/lib.rs"]) {
      await project.neovim.command(`edit ${project.path(path)}`);
    }
    // A cold start takes many seconds on a busy machine.
    const paths = ["src/main.cpp", "cmd/cmd.go", "rust/lib.rs", "src/parser.ts", "app.py"];
    const isReady = async (path: string) =>
      (await world.call("outline", { path })).includes("\nas ");
    const ready = [...paths, "run.sh"].map((path) =>
      eventually(`the server of ${path}`, () => isReady(path), 120_000),
    );
    await Promise.all(ready);
  });

  test.each(ANSWERS)("%s", async (_name, asked = "", answer = "") => {
    const [tool = "", ...given] = asked.split(" ");
    const [symbol, path, line, relation] = given.map((one) => (one === "-" ? undefined : one));
    const args = { symbol, path, relation, ...(line && { line: Number(line) }) };
    const reports = answer.replace(/⏎@(\w+)$/, "⏎as $1 reports; the text may match elsewhere");
    const lines = reports.split("⏎");
    // A server that is busy with another question may answer in part.
    await eventually(
      "the answer",
      async () => {
        const text = await world.call(tool, args);
        const shown = text.split("\n").filter((line) => lines.includes(line));
        expect([shown, text]).toEqual([lines, text]);
      },
      20_000,
    );
  });

  test.each(RENAMES)("renames with %s", async (_name, asked = "", after = "") => {
    const before = world.texts(Object.keys(FILES));
    const [path, symbol, new_name] = asked.split(" ");
    expect(await world.call("rename_symbol", { path, symbol, new_name })).toStartWith("renamed ");
    for (const [name = "", part = ""] of after.split("⏎").map((one) => one.split(/: (.*)/)))
      expect(world.read(name)).toContain(part);
    for (const [name, text] of Object.entries(before)) world.project.write(name, text);
  });

  test("applies a quick fix of clangd by title", async () => {
    const { project } = world;
    project.write("src/fix.cpp", "int broken() { return 1 }\n");
    const at = { path: "src/fix.cpp", line: 1 };
    await eventually("the fix", async () =>
      expect(await world.call("code_action", at)).toContain("insert ';' (quickfix, cpp)"),
    );
    await world.call("code_action", { ...at, action: "insert ';'" });
    expect(world.read("src/fix.cpp")).toBe("int broken() { return 1; }\n");
  });

  test("notices files that a shell or git writes", async () => {
    const { project } = world;
    const git = (...args: string[]) =>
      Bun.spawnSync(["git", "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
        cwd: project.folder,
      });
    git("add", "-A");
    git("commit", "-qm", "one");
    const uses = (symbol: string, path: string, count: number) =>
      eventually(`${count} uses`, async () =>
        expect(await world.call("find_references", { symbol, path })).toContain(`: ${count} use`),
      );
    const go =
      'package cmd\n\nimport "example.org/figures/figure"\n\nvar New = figure.Whole(nil)\n';
    await Bun.write(project.path("cmd/new.go"), go);
    await uses("Whole", "figure/figure.go", 2);
    await uses("main", "src/use.ts", 0);
    project.write("src/new.ts", 'import { main } from "./use";\nmain();\n');
    await uses("main", "src/use.ts", 2);
    Bun.spawnSync(["sed", "-i", "s/^main();/main(); main();/", "src/new.ts"], {
      cwd: project.folder,
    });
    await uses("main", "src/use.ts", 3);
    git("add", "-A");
    git("commit", "-qm", "two");
    git("checkout", "-q", "HEAD~1");
    await uses("main", "src/use.ts", 0);
  });
});
