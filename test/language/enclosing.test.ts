import { expect, test } from "bun:test";
import { enclosing } from "../../src/language/enclosing";

test.each<[string, string | undefined, string[]]>([
  [
    "the class, not the method before",
    "A",
    ["class A {", "  first() {", "  }", "", "  second = 1;"],
  ],
  ["a method", "run", ["class A {", "  async run(a: B): Promise<C> {", "    x"]],
  ["a function around an `if`", "f", ["export function f() {", "  if (a) {", "    x"]],
  ["an arrow function", "go", ["const go = async (a) => {", "  x"]],
  ["a test", 'it("adds")', ['describe("a", () => {', '  it("adds", () => {', "    x"]],
  ["Python", "load", ["class A:", "    def load(self):", "        for a in b:", "            x"]],
  ["Rust", "Foo", ["impl<T> Foo<T> {", "    x"]],
  ["Go", "Run", ["func (s *Server) Run() error {", "\tx"]],
  ["Lua", "M.run", ["function M.run()", "  x"]],
  ["a function, not a call over two lines", "f", ["fn f() {", "    a.call(", "        x"]],
  ["nothing around", undefined, ["class A {", "}", "x"]],
  ["no declaration around", undefined, ["if (a) {", "  x"]],
])("%s", (_what, name, lines) => {
  expect(enclosing(lines, lines.length - 1)).toBe(name);
});
