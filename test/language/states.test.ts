import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { claims, eventually, NEOVIMS, needs, outcomeOf, perBlock } from "#test";
import { join, normal } from "../../src/lib/platform";
import { LanguageProject, scripted } from "./world";

/* Answers of find_symbol and find_references in each state of a language server. */
const REPORTED = "as text reports; the text may match elsewhere";

const FILES = {
  "one.txt": "def apple\nuse apple é apple\n# apple\n",
  "two.txt": "apple pear\n",
  "three.txt": "def plum\n",
  "notes.md": "An apple a day.\n",
  ".env": "apple\n",
};

describe.each(NEOVIMS)("questions to a language server with $name", (version) => {
  const servers = (at: LanguageProject["project"]) => ({ text: scripted(at, "utf-8") });
  const world = perBlock(() => LanguageProject.open(version, FILES, { servers }));
  const references = (args: object) => world.ask("find_references", args);
  const apple = { symbol: "apple", path: "one.txt" };

  beforeAll(async () => {
    await world.project.neovim.lua('require("port").language_files.ATTACH_MS = 100');
  });

  test("says that an indexing server may know more, fails without an answer, and renames nothing", async () => {
    world.set("indexing");
    await world.project.neovim.command(`edit ${world.project.path("one.txt")}`);
    await eventually("the server", () => expect(world.log).toContain("didOpen"));
    const { text } = await references(apple);
    expect(text).toContain("apple (one.txt:1): 2 uses in 1 file");
    expect(text).toEndWith(`\nmay be incomplete: text is indexing; ${REPORTED}`);
    const missing = await references({ symbol: "nothing" });
    expect(missing.isError).toBe(true);
    expect(missing.text).toStartWith("Not ready: text (indexing) may know `nothing` later");
    const refusal = "ERROR Not ready: text is indexing, and may not know every use of `apple` yet.";
    expect(await world.call("rename_symbol", { ...apple, new_name: "pear" })).toContain(refusal);
    world.set("indexing", false);
    await eventually("the rest", async () =>
      expect((await references(apple)).text).toEndWith(`\n${REPORTED}`),
    );
  });

  test("lists the uses that an idle server reports", async () => {
    const { text } = await references(apple);
    expect(text.split("\n")).toEqual([
      "apple (one.txt:1): 3 uses in 2 files",
      "one.txt",
      "  2 use apple é apple (2×)",
      "two.txt",
      "  1 apple pear",
      REPORTED,
    ]);
    const within = await references({ ...apple, within: "./two.txt" });
    expect(within.text).toStartWith("apple (one.txt:1): 1 use in 1 file\ntwo.txt\n");
    const cut = await references({ ...apple, limit: 1 });
    expect(cut.text).toContain("\n… more in 1 file (narrow with `within`): two.txt 1\n");
  });

  test("shows unsaved text with the lines that it has in Neovim", async () => {
    await world.project.neovim.command("buffer one.txt | 1put! ='new apple' | 3put ='more apple'");
    const { text } = await references({ ...apple, line: 3 });
    expect(text).toContain(
      "one.txt (unsaved in Neovim; lines as there)\n  1 new apple\n  3 use apple é apple (2×)\n  4 more apple\n",
    );
    await world.project.neovim.command("buffer one.txt | edit!");
  });

  test("reports files that other programs wrote, and reloads unmodified buffers", async () => {
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
    expect(gone).toEqual({ text: "three.txt does not exist.", isError: true });
  });

  needs("symlinks")(
    "counts uses behind a symlink that leads out of the project, without showing them",
    async () => {
      const outside = join(world.project.neovim.home, "outside.txt");
      writeFileSync(outside, "apple of another project\n");
      symlinkSync(outside, world.project.path("link.txt"));
      const { text } = await references(apple);
      rmSync(world.project.path("link.txt"));
      expect(text).toContain("\n1 more in dependencies, or outside of the project\n");
      expect(text).not.toContain("another project");
    },
  );

  test("counts uses in private files without showing them", async () => {
    claims("Language tools do not show private files");
    world.set("private");
    world.project.write(".env", "apple changed\n");
    world.project.write("four.txt", "pear apple apple\n");
    const { text } = await references(apple);
    expect(text).toContain("\n1 more in private files\n");
    expect(text).not.toContain("env");
    world.set("private", false);
    for (const path of [".env", world.project.path(".env")]) {
      const { text: refusal, isError } = await references({ symbol: "apple", path });
      expect(isError).toBe(true);
      expect(refusal).toContain(".env is private");
    }
  });

  test("shows nothing about a symbol of a private file", async () => {
    world.set("private");
    world.project.write(".env", "def cherry\n");
    world.project.write("five.txt", "cherry\n");
    const params = { symbol: "cherry", path: "five.txt" };
    const { text } = await world.ask("find_symbol", params);
    expect(await world.ask("find_symbol", { symbol: "cherry" })).toEqual({
      text: "No symbol `cherry` in the project. For words in texts use Grep.",
      isError: true,
    });
    world.set("private", false);
    world.project.write(".env", "apple\n");
    expect(text.split("\n")).toEqual(["cherry is defined in a private file", REPORTED]);
  });

  test("asks again if the content was modified", async () => {
    world.set("modified", "xx");
    expect((await references(apple)).text).toEndWith(`\n${REPORTED}`);
    world.set("modified", false);
  });

  test("cancels the request of a cancelled question", async () => {
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

  test("changes nothing that the user sees", async () => {
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

  const one = { path: "one.txt" };
  const NO_SERVER = "No language server is attached in Neovim to notes.md";
  const COMMENT = "No language server knows what `apple` is in `# apple`";
  const refusals: [string, object, string][] = [
    ["no server", { symbol: "day", path: "notes.md" }, NO_SERVER],
    ["a comment", { symbol: "apple", ...one, line: 3 }, COMMENT],
    ["a wrong name", { symbol: "appl", ...one }, "`appl` is not in one.txt."],
    ["an unknown name", { symbol: "appl" }, "No symbol `appl` in the project."],
    ["no such file", { symbol: "apple", path: "no.txt" }, "no.txt does not exist."],
    [
      "a file outside",
      { symbol: "apple", path: normal(import.meta.path) },
      "is not in the workspace.",
    ],
    ["a relation", { ...apple, relation: "implementations" }, "text cannot find implementations."],
    ["no name", { symbol: " " }, "symbol"],
  ];
  test.each(refusals)("refuses %s", async (_name, args, message) => {
    const { text, isError } = await references(args).catch((error) => ({
      text: String(error),
      isError: true,
    }));
    expect(isError).toBe(true);
    expect(text).toContain(message);
  });

  test("names a server that ended", async () => {
    world.set("crash");
    const { text, isError } = await references(apple);
    expect(isError).toBe(true);
    expect(text).toMatch(/^text gave no answer: it has ended\./);
  });
});
