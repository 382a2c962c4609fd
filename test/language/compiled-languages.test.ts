import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "../support/eventually";
import { NEOVIMS } from "../support/neovim";
import { LanguageProject } from "./world";

/* clangd, gopls and rust-analyzer in a real Neovim: what Claude receives, and what it changes. */
setDefaultTimeout(180_000);

const RUST = { linkedProjects: ["rust-project.json"], checkOnSave: false };
const SERVERS = {
  c: ["clangd"],
  cpp: ["clangd"],
  go: ["gopls"],
  rust: {
    cmd: ["rust-analyzer"],
    // It would start the compiler some 30 times to ask about it and about the standard library.
    cmd_env: { RUSTC: "false", CARGO: "false" },
    init_options: RUST,
    capabilities: { experimental: { serverStatusNotification: true } },
  },
};

/** Else it reads all of the machine's C++ library first: 3 s of processor time that no test needs. */
const CLANGD = { ".clangd": "Index:\n  StandardLibrary: No\n" };

const CPP = {
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
};

const GO = {
  "go.mod": "module example.org/figures\n\ngo 1.21\n",
  "figure/figure.go": `// Package figure measures.
package figure

// Figure is anything with a measure.
type Figure interface {
	Measure() float64
}

type Circle struct{ Radius float64 }

func (c Circle) Measure() float64 { return c.Radius * c.Radius }

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
	name := "é😀"; return figure.Whole([]figure.Figure{figure.Circle{Radius: 2}}) + float64(len(name)) // Whole
}
`,
};

const CRATE = { root_module: "rust/lib.rs", edition: "2021", deps: [], is_workspace_member: true };
const RS = {
  "rust-project.json": JSON.stringify({ crates: [CRATE] }),
  "rust/lib.rs": `//! Solids.
mod solid;
use solid::{bulk, mean as middle, Solid};

pub fn run(solid: &dyn Solid) -> f64 {
    let _name = "é😀"; bulk(solid) + middle(1.0)
}
`,
  "rust/solid.rs": `/// Anything with a volume.
pub trait Solid {
    fn volume(&self) -> f64;
}

pub struct Cube {
    pub side: f64,
}

impl Solid for Cube {
    fn volume(&self) -> f64 {
        self.side
    }
}

/// All of it.
pub fn bulk(solid: &dyn Solid) -> f64 {
    solid.volume()
}

pub fn mean(a: f64) -> f64 {
    a
}
`,
};

const reported = (name: string) => `as ${name} reports; the text may match elsewhere`;

type Expected = [name: string, tool: string, args: object, lines: string[]];

const ANSWERS: Expected[] = [
  [
    "clangd: a definition",
    "find_symbol",
    { symbol: "total" },
    [
      "src/shape.cpp:6 total: double total(const Shape *shapes[], int count) {",
      "  double total(const Shape *shapes[], int count)",
    ],
  ],
  [
    "clangd: uses, the prototype among them, behind an emoji",
    "find_references",
    { symbol: "total", path: "src/main.cpp" },
    [
      "total (src/shape.cpp:6): 2 uses in 2 files",
      "  8 double total(const Shape *shapes[], int count);",
      '  3 const char *name = "é😀"; const Shape *none[] = {nullptr}; double t = total(none, 0);',
      reported("cpp"),
    ],
  ],
  [
    "clangd: overloads are several symbols, each once",
    "find_references",
    { symbol: "add", path: "src/main.cpp" },
    [
      "2 symbols are called add. For one of them ask with `path` and `line`:",
      "  src/shape.cpp:11: int add(int a, int b) { return a + b; }",
      "  src/shape.cpp:12: double add(double a, double b) { return a + b; }",
    ],
  ],
  [
    "clangd: implementations, though the name stands in a comment first",
    "find_references",
    { symbol: "area", path: "include/shape.h", relation: "implementations" },
    [
      "area (include/shape.h:4): 1 implementation in 1 file",
      "  4 double area() const override { return side * side; }",
    ],
  ],
  [
    "clangd: an outline",
    "outline",
    { path: "src/shape.cpp" },
    ["  2-5 struct Square", "    4 method area double () const", reported("cpp")],
  ],
  [
    "gopls: a method by its receiver, of two with its name",
    "find_symbol",
    { symbol: "Circle.Measure" },
    ["  func (c Circle) Measure() float64"],
  ],
  [
    "gopls: methods of one name",
    "find_symbol",
    { symbol: "Measure" },
    [
      "2 symbols are called Measure. For one of them ask with `path` and `line`:",
      "  figure/figure.go:6: Measure() float64",
      "  figure/figure.go:11: func (c Circle) Measure() float64 { return c.Radius * c.Radius }",
    ],
  ],
  [
    "gopls: uses in another package",
    "find_references",
    { symbol: "Whole", path: "cmd/cmd.go" },
    [
      "Whole (figure/figure.go:14): 1 use in 1 file",
      '  6 name := "é😀"; return figure.Whole([]figure.Figure{figure.Circle{Radius: 2}}) + float64(len(name)) // Whole',
      reported("go"),
    ],
  ],
  [
    "gopls: implementations",
    "find_references",
    { symbol: "Figure", path: "figure/figure.go", relation: "implementations" },
    ["  9 type Circle struct{ Radius float64 }", reported("go")],
  ],
  [
    "gopls: an outline",
    "outline",
    { path: "figure/figure.go" },
    ["  11 method (Circle).Measure func() float64", reported("go")],
  ],
  [
    "rust-analyzer: a signature behind the module's name",
    "find_symbol",
    { symbol: "bulk" },
    [
      "rust/solid.rs:17 bulk: pub fn bulk(solid: &dyn Solid) -> f64 {",
      "  pub fn bulk(solid: &dyn Solid) -> f64",
      "All of it.",
    ],
  ],
  [
    "rust-analyzer: uses, columns in UTF-8",
    "find_references",
    { symbol: "bulk", path: "rust/solid.rs" },
    [
      "bulk (rust/solid.rs:17): 2 uses in 1 file",
      '  6 let _name = "é😀"; bulk(solid) + middle(1.0)',
      reported("rust"),
    ],
  ],
  [
    "rust-analyzer: implementations",
    "find_references",
    { symbol: "Solid", path: "rust/solid.rs", relation: "implementations" },
    ["  10 impl Solid for Cube {"],
  ],
];

const database = (folder: string) =>
  JSON.stringify(
    ["shape", "main"].map((name) => {
      const file = `src/${name}.cpp`;
      return { directory: folder, file, command: `c++ -Iinclude -c ${file}` };
    }),
  );

async function ready(world: LanguageProject, path: string): Promise<void> {
  await world.project.neovim.command(`edit ${world.project.path(path)}`);
  await eventually(
    `the server of ${path}`,
    async () =>
      (await world.ask("outline", { path })).text.includes("the text may match elsewhere"),
    120_000,
  );
}

describe.each(NEOVIMS)("clangd, gopls and rust-analyzer with $name", (version) => {
  let world: LanguageProject;

  beforeAll(async () => {
    world = await LanguageProject.open(
      version,
      { ...CLANGD, ...CPP, ...GO, ...RS },
      { servers: () => SERVERS },
    );
    world.project.write("compile_commands.json", database(world.project.folder));
    for (const path of ["src/main.cpp", "cmd/cmd.go", "rust/lib.rs"]) await ready(world, path);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test.each(ANSWERS)("%s", async (_name, tool, args, lines) => {
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

  const RENAMES: [string, object, Record<string, string>][] = [
    [
      "clangd, in prototype, definition and use",
      { path: "src/main.cpp", symbol: "total", new_name: "sum_of" },
      {
        "include/shape.h": "double sum_of(const Shape *shapes[], int count);",
        "src/shape.cpp": "double sum_of(const Shape *shapes[], int count) {",
        "src/main.cpp": "double t = sum_of(none, 0);",
      },
    ],
    [
      "gopls, with its documentation",
      { path: "cmd/cmd.go", symbol: "Whole", new_name: "Sum" },
      { "figure/figure.go": "// Sum adds the measures", "cmd/cmd.go": "return figure.Sum(" },
    ],
    [
      "rust-analyzer, whose edits have an annotation that none of them needs",
      { path: "rust/lib.rs", symbol: "bulk", new_name: "whole" },
      { "rust/solid.rs": "pub fn whole(", "rust/lib.rs": "whole(solid) + middle(1.0)" },
    ],
  ];
  test.each(RENAMES)("a rename by %s", async (_name, args, after) => {
    const names = Object.keys({ ...CPP, ...GO, ...RS });
    const before = world.texts(names);
    expect(await world.call("rename_symbol", args)).toStartWith("renamed ");
    for (const [name, part] of Object.entries(after)) expect(world.read(name)).toContain(part);
    for (const [name, text] of Object.entries(before)) world.project.write(name, text);
  });

  test("gopls: organize_imports adds what is missing", async () => {
    const { project } = world;
    project.write("late/late.go", "package late\n\nvar All = figure.Whole(nil)\n");
    await ready(world, "late/late.go");
    const args = { path: "late/late.go", action: "organize_imports" };
    expect(await world.call("code_action", args)).toContain("done by go: organize_imports");
    expect(world.read("late/late.go")).toContain('import "example.org/figures/figure"');
  });

  test("clangd: a quick fix by its title", async () => {
    const { project } = world;
    project.write("src/fix.cpp", "int broken() { return 1 }\n");
    await ready(world, "src/fix.cpp");
    const at = { path: "src/fix.cpp", line: 1 };
    await eventually("the fix", async () =>
      expect(await world.call("code_action", at)).toContain("insert ';' (quickfix, cpp)"),
    );
    await world.call("code_action", { ...at, action: "insert ';'" });
    expect(world.read("src/fix.cpp")).toBe("int broken() { return 1; }\n");
  });

  const WRITTEN: [string, string, string, object][] = [
    [
      "gopls",
      "cmd/new.go",
      'package cmd\n\nimport "example.org/figures/figure"\n\nvar New = figure.Whole(nil)\n',
      { symbol: "Whole", path: "figure/figure.go" },
    ],
    [
      "rust-analyzer",
      "rust/lib.rs",
      `${RS["rust/lib.rs"]}pub fn again(solid: &dyn Solid) -> f64 { bulk(solid) }\n`,
      { symbol: "bulk", path: "rust/solid.rs" },
    ],
  ];
  test.each(WRITTEN)("%s knows what a shell writes", async (_name, path, text, args) => {
    await Bun.write(world.project.path(path), text);
    const line = text.trimEnd().split("\n").at(-1) ?? "";
    await eventually("the new use", async () =>
      expect(await world.call("find_references", args)).toContain(line),
    );
  });
});
