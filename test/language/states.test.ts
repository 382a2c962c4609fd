import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claims } from "../support/claims";
import { eventually } from "../support/eventually";
import { NEOVIMS } from "../support/neovim";
import { outcomeOf } from "../support/outcome";
import { LanguageProject, scripted } from "./world";

/* What find_symbol and find_references say in each state of a language server. */
setDefaultTimeout(60_000);

const FILES = {
  "one.txt": "def apple\nuse apple é apple\n# apple\n",
  "two.txt": "apple pear\n",
  "three.txt": "def plum\n",
  "notes.md": "An apple a day.\n",
  ".env": "apple\n",
};

describe.each(NEOVIMS)("a language server with $name", (version) => {
  let world: LanguageProject;
  const references = (args: object) => world.ask("find_references", args);
  const apple = { symbol: "apple", path: "one.txt" };

  beforeAll(async () => {
    world = await LanguageProject.open(version, (at) => ({ text: scripted(at, "utf-8") }), FILES);
    await world.project.neovim.lua(
      `local port = require("port")
       local ready = port.language_ready
       ready.BUSY_MS, ready.REPEAT_MS, ready.MOST_EMPTY_MS = 100, 20, 100
       port.language_files.ATTACH_MS = 100`,
    );
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("that indexes: an incomplete answer says so, an empty one is an error", async () => {
    world.set("indexing");
    await world.project.neovim.command(`edit ${world.project.path("one.txt")}`);
    await eventually("the server", () => expect(world.log).toContain("didOpen"));
    const { text } = await references(apple);
    expect(text).toContain("apple (one.txt:1): 2 uses in 1 file");
    expect(text).toEndWith("may be incomplete: text indexes");
    const missing = await references({ symbol: "nothing" });
    expect(missing.isError).toBe(true);
    expect(missing.text).toStartWith(
      "Not ready: text, which is indexing, may know `nothing` later.",
    );
    world.set("indexing", false);
  });

  test("that is idle: every use, with the words that are none", async () => {
    const { text } = await references(apple);
    expect(text.split("\n")).toEqual([
      "apple (one.txt:1): 3 uses in 2 files",
      "one.txt",
      "  2 use apple é apple (2×)",
      "two.txt",
      "  1 apple pear",
      "the word elsewhere: 2 in other texts (notes.md 1, one.txt 1)",
      "complete: text idle",
    ]);
  });

  test("by a name alone, where the word stands in the project", async () => {
    const text = await world.answer("find_symbol", { symbol: "plum" });
    expect(text.split("\n")).toEqual(["three.txt:1 plum", "  def plum", "complete: text idle"]);
  });

  test("lines are those on disk, and what only the buffer has is marked", async () => {
    await world.project.neovim.command("buffer one.txt | 1put! ='new apple' | 3put ='more apple'");
    const { text } = await references(apple);
    expect(text).toContain("one.txt (unsaved in Neovim; lines as on disk)\n");
    expect(text).toContain("  2 use apple é apple (2×)\n");
    expect(text).toMatch(/\+unsaved new apple\n/);
    const line2 = await references({ ...apple, line: 2 });
    expect(line2.text).toBe(text);
    await world.project.neovim.command("buffer one.txt | edit!");
  });

  test("what was written outside is reported to it, and taken over by clean buffers", async () => {
    world.project.write("four.txt", "pear apple\n");
    world.project.write("two.txt", "pear\n");
    rmSync(world.project.path("three.txt"));
    const { text } = await references(apple);
    expect(text).toContain("four.txt\n  1 pear apple\n");
    expect(text).not.toContain("two.txt");
    expect(world.log).toMatch(/^1 .*four\.txt$/m);
    expect(world.log).toMatch(/^2 .*two\.txt$/m);
    expect(world.log).toMatch(/^3 .*three\.txt$/m);
    const gone = await world.ask("find_symbol", { symbol: "plum" });
    expect(gone).toEqual({
      text: "No symbol `plum` in the project. For words in texts use Grep.",
      isError: true,
    });
  });

  test.each(["aple", "appel", "Apple"])("the near name of a wrong one: %s", async (symbol) => {
    const { text, isError } = await world.ask("find_symbol", { symbol });
    expect(text).toBe(
      `No symbol \`${symbol}\` in the project. Did you mean \`apple\`? For words in texts use Grep.`,
    );
    expect(isError).toBe(true);
  });

  test("a symlink of the project to a file outside of it: its uses are counted, and not shown", async () => {
    const outside = join(world.project.neovim.home, "outside.txt");
    writeFileSync(outside, "apple of another project\n");
    symlinkSync(outside, world.project.path("link.txt"));
    const { text } = await references(apple);
    rmSync(world.project.path("link.txt"));
    expect(text).toContain("\n1 more in dependencies\n");
    expect(text).not.toContain("another project");
  });

  test("a glob with more alternatives than can be tried is refused", async () => {
    const asked = references({ ...apple, within: "{a,b}".repeat(30) });
    expect(await outcomeOf(asked)).toThrow("More than 1,000 alternatives in braces");
  });

  test("places that are not in the protocol are left out", async () => {
    const start = { line: 0, character: 0 };
    const uri = "file:///a.txt";
    const places = [
      { uri, range: { start } },
      { uri: `file:///${"a/".repeat(10_000)}`, range: { start } },
      { uri, range: { start: { line: 0.5, character: 0 } } },
      { uri, range: { start: { line: -1, character: 0 } } },
      { uri, range: { start: { line: "1" } } },
      { uri: 5, range: { start } },
    ];
    const rows = await world.project.neovim.lua(
      `local place = require("claude-code.editor.language.position").place
       return vim.tbl_map(function(location)
         return (place(location, { offset_encoding = "utf-16" }) or {}).row or false
       end, ...)`,
      places,
    );
    expect(rows).toEqual([0, false, false, false, false, false]);
  });

  test("private files are counted, and nothing of them is shown", async () => {
    claims("Language tools do not show private files");
    world.set("private");
    world.project.write(".env", "apple changed\n");
    world.project.write("four.txt", "pear apple apple\n");
    const { text } = await references(apple);
    expect(text).toContain("\n1 more in private files\n");
    expect(text).not.toContain("env");
    world.project.write(".env", "apple changed\ndef applesauce\n");
    for (const symbol of ["applesau", "aplesauce"]) {
      const similar = await world.ask("find_symbol", { symbol });
      expect(similar.text).toBe(
        `No symbol \`${symbol}\` in the project. For words in texts use Grep.`,
      );
    }
    world.set("private", false);
    for (const path of [".env", world.project.path(".env")]) {
      const { text: refusal, isError } = await references({ symbol: "apple", path });
      expect(isError).toBe(true);
      expect(refusal).toContain(".env is private");
    }
  });

  test("what becomes private while it runs is not named any more", async () => {
    world.project.write("notes.zzz", "apple\n");
    expect((await references(apple)).text).toContain("notes.zzz");
    const setup = "require('claude-code').setup({ privacy = { patterns = ... } })";
    await world.project.neovim.lua(setup, ["notes.zzz"]);
    await eventually("the pattern", async () =>
      expect((await references(apple)).text).not.toContain("notes.zzz"),
    );
    await world.project.neovim.lua(setup, []);
    rmSync(world.project.path("notes.zzz"));
  });

  test("what is shown about a symbol of a private file stays private", async () => {
    world.set("private");
    world.project.write(".env", "def cherry\n");
    world.project.write("five.txt", "cherry\n");
    const params = { symbol: "cherry", path: "five.txt", body: true };
    const { text } = await world.ask("find_symbol", params);
    world.set("private", false);
    world.project.write(".env", "apple\n");
    expect(text.split("\n")).toEqual([
      "cherry is defined in a private file",
      expect.stringMatching(/^complete/),
    ]);
  });

  const reports: [string, object, string][] = [
    [
      "rust-analyzer's error",
      { health: "error", quiescent: true, message: "cargo failed\nfor long" },
      "may be incomplete: text reports an error: cargo failed",
    ],
    ["rust-analyzer's work", { health: "ok", quiescent: false }, "may be incomplete: text indexes"],
    [
      "rust-analyzer's warning",
      { health: "warning", quiescent: true, message: "no sysroot" },
      "complete: text idle",
    ],
  ];
  test.each(reports)("that reports its state itself: %s", async (_name, params, end) => {
    world.set("notify", JSON.stringify({ method: "experimental/serverStatus", params }));
    await references(apple);
    world.set("notify", false);
    expect((await references(apple)).text).toEndWith(`\n${end}`);
  });

  test("that says its content was modified is asked again", async () => {
    world.set("modified", "xx");
    expect((await references(apple)).text).toEndWith("complete: text idle");
    world.set("modified", false);
  });

  test("a cancelled question is taken back", async () => {
    world.set("hang");
    const before = world.log.length;
    const controller = new AbortController();
    const asked = world.client.callTool({ name: "find_references", arguments: apple }, undefined, {
      signal: controller.signal,
    });
    await eventually("the question", () =>
      expect(world.log.slice(before)).toContain("textDocument/definition"),
    );
    controller.abort();
    expect(await outcomeOf(asked)).toThrow();
    await eventually("$/cancelRequest", () => expect(world.log.slice(before)).toMatch(/^cancel /m));
    world.set("hang", false);
  });

  test("nothing that the user sees changes", async () => {
    const state = `return {
      vim.fn.getbufinfo({ buflisted = 1 })[1].name, #vim.fn.getbufinfo({ buflisted = 1 }),
      vim.api.nvim_get_current_buf(), vim.fn.winlayout(), vim.fn.getcurpos(), vim.fn.getreg("#"),
      vim.fn.getjumplist(), vim.fn.getqflist(), vim.fn.execute("messages"),
    }`;
    const before = await world.project.neovim.lua(state);
    await references({ symbol: "apple" });
    await references({ symbol: "pear", path: "four.txt" });
    expect(await world.project.neovim.lua(state)).toEqual(before);
  });

  const refusals: [string, object, string][] = [
    [
      "no server",
      { symbol: "day", path: "notes.md" },
      "No language server is attached in Neovim to notes.md",
    ],
    [
      "a comment",
      { symbol: "apple", path: "one.txt", line: 3 },
      "No language server knows what `apple` is in `# apple`",
    ],
    ["a wrong name", { symbol: "appl", path: "one.txt" }, "`appl` is not in one.txt."],
    ["no such file", { symbol: "apple", path: "no.txt" }, "no.txt does not exist."],
    [
      "a file outside",
      { symbol: "apple", path: "/etc/passwd" },
      "/etc/passwd is not in the workspace.",
    ],
    ["a relation", { ...apple, relation: "callers" }, "text cannot find callers."],
    ["no name", { symbol: " " }, "symbol"],
  ];
  test.each(refusals)("a refusal: %s", async (_name, args, message) => {
    const { text, isError } = await references(args).catch((error) => ({
      text: String(error),
      isError: true,
    }));
    expect(isError).toBe(true);
    expect(text).toContain(message);
  });

  test("that ended is named", async () => {
    world.set("crash");
    const { text, isError } = await references(apple);
    expect(isError).toBe(true);
    expect(text).toMatch(/^text gave no answer: it has ended\./);
    const again = await references(apple);
    expect(again.text).toStartWith("text, the language server of one.txt, has ended.");
  });
});
