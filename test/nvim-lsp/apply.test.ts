import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import fc from "fast-check";
import {
  claims,
  NEOVIMS,
  NEWEST,
  type NeovimVersion,
  needs,
  outcomeOf,
  perTest,
  TestNeovim,
} from "#test";
import type { Encoding } from "../../src/editor/model";
import { fileUri } from "../../src/lib/file-uri";
import { Log } from "../../src/lib/log";
import { dirname, join } from "../../src/lib/platform";
import type { FollowedNeovim } from "../../src/locate/followed";
import { unwrap } from "../../src/neovim/call";
import { LanguageEdits } from "../../src/nvim-lsp/edits/language-edits";
import { textOfSnippet } from "../../src/nvim-lsp/edits/workspace-edit";

/* Edits of language servers in a real Neovim: checked as a whole, and nothing else of the editor changes. */
const RUN = `
  local method, params = ...
  local answer
  _G.tasks = (_G.tasks or 0) + 1
  require("claude-code.lib.task").start({ channel = 0, id = _G.tasks, timeout_ms = 20000 }, function()
    answer = require("claude-code.editor").call(method, params)
  end, coroutine.resume)
  vim.wait(20000, function() return answer end, 1)
  return answer`;

/** Everything that the user could notice. */
const STATE = `
  local state = { win = vim.api.nvim_get_current_win(), wins = vim.api.nvim_list_wins(),
    cursor = vim.api.nvim_win_get_cursor(0), jumps = vim.fn.getjumplist(), alt = vim.fn.bufnr("#"),
    qf = vim.fn.getqflist(), messages = vim.fn.execute("messages"), listed = {}, view = vim.fn.winsaveview(),
    mode = vim.api.nvim_get_mode().mode }
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    table.insert(state.listed, { buf, vim.bo[buf].buflisted, vim.bo[buf].modified })
  end
  return state`;

type Range = {
  start: { line: number; character: number };
  end: { line: number; character: number };
};
interface TextEdit {
  range: Range;
  newText: string;
}

function textEdit(from: [number, number], to: [number, number], newText: string): TextEdit {
  const [start, end] = [from, to].map(([line, character]) => ({ line, character }));
  return { range: { start, end } as Range, newText };
}

/** A folder that is open in a real Neovim, and edits of its files as a language server sends them. */
class Workspace implements AsyncDisposable {
  private constructor(readonly neovim: TestNeovim) {}

  static async open(version: NeovimVersion): Promise<Workspace> {
    return new Workspace(await TestNeovim.start({ version, setup: "{ auto_start = false }" }));
  }

  path = (name: string) => join(this.neovim.cwd, name);
  read = (name: string) => readFileSync(this.path(name), "utf8");
  uri = (name: string) => fileUri(this.path(name));

  write(name: string, text: string | Uint8Array): string {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  lines(name: string): Promise<string[]> {
    const get = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, false)";
    return this.neovim.lua<string[]>(get, this.path(name));
  }

  /** Replaces the first word of files with another one, as a rename does. */
  rename(names: string[], from: string, to: string) {
    const edits = [textEdit([0, 0], [0, from.length], to)];
    return { changes: Object.fromEntries(names.map((name) => [this.uri(name), edits])) };
  }

  apply(edit: object, encoding: Encoding = "utf-16", preview = false) {
    const neovim = {
      places: [this.neovim.cwd],
      runTask: async (method: string, params: object) =>
        unwrap(await this.neovim.lua(RUN, method, params)),
      ask: async () => ({}),
    } as unknown as FollowedNeovim;
    const edits = new LanguageEdits(neovim, { pid: 0 }, new Log({ level: "error" }));
    const answer = { edits: [{ edit, encoding, server: "text" }] };
    return edits.apply({ tool: "rename_symbol", use: undefined, answer, preview });
  }

  /** Runs Lua when everything is checked, just before the first file is written. */
  beforeWrite(lua: string): Promise<unknown> {
    return this.neovim.lua(`
      local apply = require("claude-code.editor.edits.apply")
      local write = apply.write
      apply.write = function(files)
        ${lua}
        return write(files)
      end`);
  }

  /** Files whose names begin with a dot: drafts that were left. */
  hidden(): string[] {
    return [...new Bun.Glob("**/.*").scanSync({ cwd: this.neovim.cwd, dot: true })];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.neovim[Symbol.asyncDispose]();
  }
}

describe.each(NEOVIMS)("edits of files with $name", (version) => {
  const workspace = perTest(() => Workspace.open(version));

  async function refused(names: string[], problem: string): Promise<void> {
    const edit = workspace.rename(names, "old", "new");
    expect(await outcomeOf(workspace.apply(edit))).toThrow(problem);
  }

  test("changes open, hidden and unloaded files together, and nothing else", async () => {
    for (const name of ["open", "hidden", "closed"]) workspace.write(`${name}.txt`, "old\n1\n2\n");
    workspace.write("crlf.txt", "\uFEFFold\r\nlast");
    for (const name of ["crlf", "hidden", "open"]) {
      await workspace.neovim.command(`edit ${workspace.path(`${name}.txt`)}`);
    }
    await workspace.neovim.type("G");
    const before = await workspace.neovim.lua(STATE);
    const names = ["open.txt", "hidden.txt", "closed.txt", "crlf.txt"];
    const { changes } = await workspace.apply(workspace.rename(names, "old", "new"));
    expect(names.map(workspace.read)).toEqual([
      "new\n1\n2\n",
      "new\n1\n2\n",
      "new\n1\n2\n",
      "\uFEFFnew\r\nlast",
    ]);
    const crlf = changes.find(({ path }) => path.endsWith("crlf.txt"));
    expect(Buffer.from(crlf?.before ?? []).toString()).toBe("\uFEFFold\r\nlast");
    expect(Buffer.from(crlf?.after ?? []).toString()).toBe("\uFEFFnew\r\nlast");
    expect(await workspace.neovim.lua(STATE)).toEqual(before);
    expect(await workspace.lines("open.txt")).toEqual(["new", "1", "2"]);
    expect(await workspace.lines("hidden.txt")).toEqual(["new", "1", "2"]);
    expect(workspace.hidden()).toEqual([]);
    // One undo step, and :w asks nothing.
    await workspace.neovim.type("u");
    expect(await workspace.lines("open.txt")).toEqual(["old", "1", "2"]);
    await workspace.neovim.command("write");
    expect(workspace.read("open.txt")).toBe("old\n1\n2\n");
  });

  test("writes what the server wants, not what formatting on save would make of it", async () => {
    workspace.write("a.txt", "old\n");
    await workspace.neovim.command(`edit ${workspace.path("a.txt")}`);
    await workspace.neovim.command("autocmd BufWritePre * call setline(1, 'formatted')");
    await workspace.apply(workspace.rename(["a.txt"], "old", "new"));
    expect(workspace.read("a.txt")).toBe("new\n");
    expect(await workspace.lines("a.txt")).toEqual(["new"]);
  });

  needs("symlinks")("keeps modes, symlinks and hard links", async () => {
    chmodSync(workspace.write("a.sh", "old\n"), 0o750);
    linkSync(workspace.write("b.txt", "old\n"), workspace.path("other-name.txt"));
    workspace.write("target.txt", "old\n");
    symlinkSync("target.txt", workspace.path("link.txt"));
    const { ino } = statSync(workspace.path("b.txt"));
    await workspace.apply(workspace.rename(["a.sh", "b.txt", "link.txt"], "old", "new"));
    expect(statSync(workspace.path("a.sh")).mode & 0o7777).toBe(0o750);
    expect(statSync(workspace.path("b.txt")).ino).toBe(ino);
    expect(workspace.read("other-name.txt")).toBe("new\n");
    expect(lstatSync(workspace.path("link.txt")).isSymbolicLink()).toBe(true);
    expect(workspace.read("target.txt")).toBe("new\n");
    expect(workspace.hidden()).toEqual([]);
  });

  test("refuses a name with a line end, or of more bytes than any file's", async () => {
    await refused(["b\nlua(vim.g.executed=1)"], "control characters");
    await refused(["a/".repeat(2_049)], "too long");
  });

  const PROTECTED =
    ".claude/settings.json .mcp.json .nvim.lua sub/.git .GIT/hooks/post-checkout .vscode/tasks.json .envrc";
  test("does not change files that run or configure programs, such as .git and .envrc", async () => {
    claims("Renames and code actions stay in the workspace");
    workspace.write("a.txt", "old\n");
    for (const name of PROTECTED.split(" ")) {
      workspace.write(name, "old\n");
      await refused(["a.txt", name], "run or configure programs");
      expect(["a.txt", name].map(workspace.read)).toEqual(["old\n", "old\n"]);
    }
  });

  test("changes Claude's work trees, and names that only begin like those", async () => {
    for (const name of [".claude/worktrees/one/a.txt", ".gitignore", ".github/a.txt"]) {
      workspace.write(name, "old\n");
      await workspace.apply(workspace.rename([name], "old", "new"));
      expect(workspace.read(name)).toBe("new\n");
    }
  });

  const opened = () => workspace.neovim.command(`edit ${workspace.path("b.txt")}`);
  const beforeWrite = (lua: string) => workspace.beforeWrite(`${lua}; apply.write = write`);
  const typed = "vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'typed' })";
  const MEANTIME = "b.txt was changed in the meantime";
  const obstacles: [name: string, problem: string, make: (path: string) => unknown][] = [
    [
      "unsaved changes",
      "b.txt has unsaved changes in Neovim",
      () => opened().then(() => workspace.neovim.type("omine<Esc>")),
    ],
    ["a read-only file", "b.txt is read-only", (path) => chmodSync(path, 0o444)],
    ["a FIFO", "not a regular file", (path) => Bun.$`rm ${path} && mkfifo ${path}`.quiet()],
    ["no UTF-8", "b.txt is not a text in UTF-8", (path) => writeFileSync(path, "\xe4\n", "latin1")],
    [
      "a text on disk that the server does not know",
      "The text of b.txt changed while the language server worked",
      (path) => opened().then(() => writeFileSync(path, "old and more\n")),
    ],
    ["typing just before the write", MEANTIME, () => opened().then(() => beforeWrite(typed))],
    [
      "a program that writes just before",
      MEANTIME,
      () => beforeWrite("vim.fn.writefile({ 'own' }, 'b.txt')"),
    ],
  ];
  test.each(obstacles)("changes nothing, and says why, beside %s", async (_name, problem, make) => {
    claims("Renames and code actions stay in the workspace");
    workspace.write("a.txt", "old\n");
    workspace.write("b.txt", "old\n");
    await make(workspace.path("b.txt"));
    await refused(["a.txt", "b.txt"], problem);
    expect(workspace.read("a.txt")).toBe("old\n");
    if (lstatSync(workspace.path("b.txt")).isFile()) {
      expect(workspace.read("b.txt")).not.toContain("new");
    }
    expect(workspace.hidden()).toEqual([]);
  });

  test("refuses a file outside of the workspace, also through a folder that became a link", async () => {
    claims("Renames and code actions stay in the workspace");
    workspace.write("a.txt", "old\n");
    await refused(["a.txt", "../outside.txt"], "is not in the workspace");
    expect(workspace.read("a.txt")).toBe("old\n");

    const outside = join(workspace.neovim.home, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "b.txt"), "old\n");
    workspace.write("deep/b.txt", "old\n");
    await workspace.beforeWrite(
      `vim.uv.fs_rename("deep", "moved"); vim.uv.fs_symlink(${JSON.stringify(outside)}, "deep")`,
    );
    await refused(["a.txt", "deep/b.txt"], "was changed in the meantime");
    expect(readFileSync(join(outside, "b.txt"), "utf8")).toBe("old\n");
    expect(workspace.read("a.txt")).toBe("old\n");
  });

  test("refuses an edit that makes a file too big", async () => {
    workspace.write("a.txt", "old\n");
    const edit = workspace.rename(["a.txt"], "old", "x".repeat(11 * 1024 * 1024));
    expect(await outcomeOf(workspace.apply(edit))).toThrow("a.txt would have more than 10 MB");
    expect(workspace.read("a.txt")).toBe("old\n");
  });

  test("refuses an edit that the user has to confirm", async () => {
    workspace.write("a.txt", "old\n");
    const edit = workspace.rename(["a.txt"], "old", "new");
    const changeAnnotations = { risky: { label: "Risky", needsConfirmation: true } };
    const annotated = Object.entries(edit.changes).map(([uri, edits]) => [
      uri,
      edits.map((one) => ({ ...one, annotationId: "risky" })),
    ]);
    const changes = Object.fromEntries(annotated);
    expect(await outcomeOf(workspace.apply({ changes, changeAnnotations }))).toThrow('"Risky"');
    // rust-analyzer sends the annotation with edits that do not have it.
    await workspace.apply({ ...edit, changeAnnotations });
    expect(workspace.read("a.txt")).toBe("new\n");
  });

  test("says which files are changed if a write fails halfway", async () => {
    for (const name of ["a.txt", "b.txt", "c.txt"]) workspace.write(name, "old\n");
    await workspace.neovim.command(`edit ${workspace.path("c.txt")}`);
    await workspace.neovim.lua(`
      local rename = vim.uv.fs_rename
      vim.uv.fs_rename = function(from, to)
        if vim.endswith(to, "b.txt") then return nil, "EIO: no more" end
        return rename(from, to)
      end`);
    const edit = workspace.rename(["a.txt", "b.txt", "c.txt"], "old", "new");
    const { changes, problem } = await workspace.apply(edit);
    expect(changes.map(({ path }) => path)).toEqual([workspace.path("a.txt")]);
    expect(problem).toBe("b.txt cannot be written: EIO: no more.");
    const texts = ["a.txt", "b.txt", "c.txt"].map(workspace.read);
    expect(texts).toEqual(["new\n", "old\n", "old\n"]);
    expect(await workspace.lines("c.txt")).toEqual(["old"]);
    expect(workspace.hidden()).toEqual([]);
  });

  test("notices a full disk before the first file changes", async () => {
    for (const name of ["a.txt", "b.txt"]) workspace.write(name, "old\n");
    await workspace.neovim.lua(`
      local write, count = vim.uv.fs_write, 0
      vim.uv.fs_write = function(...)
        count = count + 1
        if count == 2 then return nil, "ENOSPC: no space" end
        return write(...)
      end`);
    await refused(["a.txt", "b.txt"], "b.txt cannot be written: ENOSPC");
    expect(["a.txt", "b.txt"].map(workspace.read)).toEqual(["old\n", "old\n"]);
    expect(workspace.hidden()).toEqual([]);
  });

  test.each([0, 1, 2])("leaves each file whole if killed before rename %i", async (at) => {
    const names = ["a.txt", "b.txt", "c.txt"];
    for (const name of names) workspace.write(name, "old\n");
    await workspace.neovim.lua(
      `local at, rename, count = ..., vim.uv.fs_rename, 0
      vim.uv.fs_rename = function(from, to)
        if count == at then vim.uv.kill(vim.fn.getpid(), 9) end
        count = count + 1
        return rename(from, to)
      end`,
      at,
    );
    const edit = workspace.rename(names, "old", "new");
    expect(await outcomeOf(workspace.apply(edit))).toThrow();
    const expected = names.map((_, index) => (index < at ? "new\n" : "old\n"));
    expect(names.map(workspace.read)).toEqual(expected);
  });
});

describe("text edits", () => {
  const workspace = perTest(() => Workspace.open(NEWEST));

  async function applied(text: string, edits: TextEdit[], encoding: Encoding = "utf-16") {
    workspace.write("a.txt", text);
    const edit = { changes: { [workspace.uri("a.txt")]: edits } };
    const { changes } = await workspace.apply(edit, encoding, true);
    return changes[0] ? Buffer.from(changes[0].after ?? []).toString() : text;
  }

  // The property below has all encodings, CRLF, BOM and empty texts.
  const cases: [string, string, TextEdit[], string][] = [
    ["an end far below", "a\nb\n", [textEdit([0, 0], [9999, 0], "new\n")], "new\n"],
    ["a column behind its line", "a\r\nb\r\n", [textEdit([0, 50], [0, 99], "!")], "a!\r\nb\r\n"],
    ["a counted carriage return", "a\r\nb\r\n", [textEdit([0, 0], [0, 2], "c\r\n")], "c\r\nb\r\n"],
    ["a line behind the last one", "a", [textEdit([1, 0], [1, 0], "b\n")], "a\nb\n"],
    [
      "the order of what is inserted in one place",
      "a\n",
      [textEdit([0, 0], [0, 1], "3"), textEdit([0, 0], [0, 0], "1"), textEdit([0, 0], [0, 0], "2")],
      "123\n",
    ],
  ];
  test.each(cases)("keeps %s", async (_name, text, edits, result) => {
    expect(await applied(text, edits)).toBe(result);
  });

  const refused: [string, string, TextEdit[], string][] = [
    [
      "overlap",
      "abc",
      [textEdit([0, 0], [0, 2], ""), textEdit([0, 1], [0, 3], "")],
      "differs from what",
    ],
    ["ends before its beginning", "abc", [textEdit([0, 2], [0, 1], "")], "differs from what"],
    [
      "more edits than are made",
      "a\n",
      Array.from({ length: 50_001 }, () => textEdit([0, 0], [0, 0], "x")),
      "More than 2000 files, 50000 places, or 50 MB, would change",
    ],
    ["a line that is missing", "a\n", [textEdit([5, 0], [5, 0], "x")], "differs from what"],
    ["NUL", "a\0b", [textEdit([0, 0], [0, 0], "x")], "not a text in UTF-8"],
    ["a carriage return in a line", "a\rb\n", [textEdit([0, 0], [0, 0], "x")], "not a text"],
  ];
  test.each(refused)("refuses %s", async (_name, text, edits, problem) => {
    expect(await outcomeOf(applied(text, edits))).toThrow(problem);
  });

  test("does what a plain implementation does, in any encoding", async () => {
    const piece = fc.constantFrom("a", "Bc ", "ä", "é\u0301", "😀", "漢", "\t", "\n", "\n\n", "");
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
    const given = fc.record({
      text,
      encoding: fc.constantFrom<Encoding>("utf-8", "utf-16", "utf-32"),
      crlf: fc.boolean(),
      bom: fc.boolean(),
      cuts: fc.array(fc.tuple(fc.nat(), text), { maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(given, async ({ text, encoding, crlf, bom, cuts }) => {
        const lineEnd = (value: string) => (crlf ? value.replaceAll("\n", "\r\n") : value);
        const file = (value: string) => (bom ? "\uFEFF" : "") + lineEnd(value);
        const { edits, result } = reference(text, cuts, encoding);
        const hasLineEnds = text.includes("\n");
        const expected = hasLineEnds || !crlf ? file(result) : (bom ? "\uFEFF" : "") + result;
        expect(await applied(file(text), edits, encoding)).toBe(expected);
      }),
      { numRuns: 300 },
    );
  });

  const SNIPPETS = [
    ["fn f() {\n    $0todo!()\n}", "fn f() {\n    todo!()\n}"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a snippet.
    ["let ${1:var_name} = ${2:Some(${3:x})};$0", "let var_name = Some(x);"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a snippet.
    ["${1|pub,pub(crate)|} fn", "pub fn"],
    ["$crate\\$1 \\} \\\\ $1x", "$1 } \\ x"],
  ] as const;
  test.each(SNIPPETS)("writes the text of the snippet %j", (snippet, text) => {
    expect(textOfSnippet(snippet)).toBe(text);
  });
});

/** Cuts the text at character boundaries, and replaces every second part. */
function reference(text: string, cuts: [number, string][], encoding: Encoding) {
  const points = [...text];
  const places = cuts.map(([at]) => at % (points.length + 1)).sort((a, b) => a - b);
  const edits: TextEdit[] = [];
  let result = "";
  let last = 0;
  for (let i = 0; i + 1 < places.length; i += 2) {
    const [from, to] = [places[i] as number, places[i + 1] as number];
    const newText = cuts[i]?.[1] ?? "";
    edits.push({
      range: { start: position(points, from, encoding), end: position(points, to, encoding) },
      newText,
    });
    result += points.slice(last, from).join("") + newText;
    last = to;
  }
  // A server may send them in any order.
  const isSorted = new Set(places).size === places.length;
  return {
    edits: isSorted ? edits.toReversed() : edits,
    result: result + points.slice(last).join(""),
  };
}

function position(points: string[], at: number, encoding: Encoding) {
  const before = points.slice(0, at).join("").split("\n");
  const line = before.at(-1) ?? "";
  const character = {
    "utf-8": Buffer.byteLength(line),
    "utf-16": line.length,
    "utf-32": [...line].length,
  };
  return { line: before.length - 1, character: character[encoding] };
}
