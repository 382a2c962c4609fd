import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import {
  linkSync,
  lstatSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { EditorBusyError } from "../../src/editor/port";
import { Operation } from "../../src/edits/operation";
import { recoverOperations } from "../../src/edits/recover";
import { claims } from "../support/claims";
import { NEOVIMS } from "../support/neovim";
import { outcomeOf } from "../support/outcome";
import { ownState, Workspace } from "./workspace";

/* Edits of many files in a real Neovim: all or nothing, and nothing else of the editor changes. */
setDefaultTimeout(60_000);

let restore = () => {};
beforeAll(() => {
  restore = ownState();
});
afterAll(() => restore());

/** All that the user could notice. */
const STATE = `
  local state = { win = vim.api.nvim_get_current_win(), wins = vim.api.nvim_list_wins(),
    cursor = vim.api.nvim_win_get_cursor(0), jumps = vim.fn.getjumplist(), alt = vim.fn.bufnr("#"),
    qf = vim.fn.getqflist(), messages = vim.fn.execute("messages"), listed = {}, view = vim.fn.winsaveview() }
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    table.insert(state.listed, { buf, vim.bo[buf].buflisted, vim.bo[buf].modified })
  end
  return state`;

describe.each(NEOVIMS)("edits of files with $name", (version) => {
  let workspace: Workspace;
  beforeEach(async () => {
    workspace = await Workspace.open(version);
  });
  afterEach(() => workspace[Symbol.asyncDispose]());
  const lines = (name: string) =>
    workspace.neovim.lua<string[]>(
      "return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, false)",
      workspace.path(name),
    );

  test("open, hidden and unloaded files change together, and nothing else does", async () => {
    for (const name of ["open", "hidden", "closed"]) workspace.write(`${name}.txt`, "old\n1\n2\n");
    workspace.write("crlf.txt", "\uFEFFold\r\nlast");
    for (const name of ["crlf", "hidden", "open"]) {
      await workspace.neovim.command(`edit ${workspace.path(`${name}.txt`)}`);
    }
    await workspace.neovim.type("G");
    const before = await workspace.neovim.lua(STATE);
    const names = ["open.txt", "hidden.txt", "closed.txt", "crlf.txt"];
    const operation = await workspace.apply(workspace.rename(names, "old", "new"));
    expect(names.map((name) => workspace.read(name))).toEqual([
      "new\n1\n2\n",
      "new\n1\n2\n",
      "new\n1\n2\n",
      "\uFEFFnew\r\nlast",
    ]);
    expect(await workspace.neovim.lua(STATE)).toEqual(before);
    expect(await lines("open.txt")).toEqual(["new", "1", "2"]);
    expect(await lines("hidden.txt")).toEqual(["new", "1", "2"]);
    expect(workspace.hidden()).toEqual([]);
    expect(operation.isDone).toBe(true);
    // One undo step, and :w asks nothing.
    await workspace.neovim.type("u");
    expect(await lines("open.txt")).toEqual(["old", "1", "2"]);
    await workspace.neovim.command("write");
    expect(workspace.read("open.txt")).toBe("old\n1\n2\n");
  });

  test("a long text is compared part for part, to its end", async () => {
    const text = (last: string) => `old\n${"some text of a line\n".repeat(60_000)}${last}\n`;
    const path = workspace.write("long.txt", text("last"));
    await workspace.neovim.command(`edit ${path}`);
    const edit = workspace.rename(["long.txt"], "old", "new");
    workspace.write("long.txt", text("LAST"));
    expect(await outcomeOf(workspace.apply(edit))).toThrow("long.txt differs on disk");
    expect(workspace.read("long.txt")).toBe(text("LAST"));
    workspace.write("long.txt", text("last"));
    await workspace.apply(edit);
    expect(workspace.read("long.txt")).toBe(text("last").replace("old", "new"));
    expect((await lines("long.txt"))[0]).toBe("new");
  });

  test("formatting on save runs for none of them", async () => {
    workspace.write("a.txt", "old\n");
    await workspace.neovim.command(`edit ${workspace.path("a.txt")}`);
    await workspace.neovim.command("autocmd BufWritePre * call setline(1, 'formatted')");
    await workspace.apply(workspace.rename(["a.txt"], "old", "new"));
    expect(workspace.read("a.txt")).toBe("new\n");
    expect(await lines("a.txt")).toEqual(["new"]);
  });

  test("mode, symlinks and hard links stay", async () => {
    workspace.write("a.sh", "old\n");
    workspace.setMode("a.sh", 0o750);
    workspace.write("b.txt", "old\n");
    linkSync(workspace.path("b.txt"), workspace.path("other-name.txt"));
    workspace.write("target.txt", "old\n");
    symlinkSync("target.txt", workspace.path("link.txt"));
    const { ino } = statSync(workspace.path("b.txt"));
    await workspace.apply(workspace.rename(["a.sh", "b.txt", "link.txt"], "old", "new"));
    expect(workspace.mode("a.sh")).toBe(0o750);
    expect(statSync(workspace.path("b.txt")).ino).toBe(ino);
    expect(workspace.read("other-name.txt")).toBe("new\n");
    expect(lstatSync(workspace.path("link.txt")).isSymbolicLink()).toBe(true);
    expect(workspace.read("target.txt")).toBe("new\n");
    expect(workspace.hidden()).toEqual([]);
  });

  test("files are created, moved and deleted, and the buffer of a moved one goes with it", async () => {
    workspace.write("a.txt", "old\n1\n");
    workspace.write("gone.txt", "x\n");
    await workspace.neovim.command(`edit ${workspace.path("a.txt")}`);
    const buf = await workspace.neovim.lua("return vim.api.nvim_get_current_buf()");
    const move = {
      kind: "rename" as const,
      oldUri: workspace.uri("a.txt"),
      newUri: workspace.uri("deep/b.txt"),
      options: {},
    };
    const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } };
    await workspace.apply({
      documentChanges: [
        move,
        { textDocument: { uri: workspace.uri("deep/b.txt") }, edits: [{ range, newText: "new" }] },
        { kind: "create", uri: workspace.uri("c.txt"), options: {} },
        { textDocument: { uri: workspace.uri("c.txt") }, edits: [{ range, newText: "created\n" }] },
        { kind: "delete", uri: workspace.uri("gone.txt"), options: {} },
      ],
    });
    expect(workspace.read("deep/b.txt")).toBe("new\n1\n");
    expect(workspace.read("c.txt")).toBe("created\n");
    expect([workspace.has("a.txt"), workspace.has("gone.txt")]).toEqual([false, false]);
    const shown =
      "return { vim.api.nvim_get_current_buf(), vim.api.nvim_buf_get_name(0), #vim.api.nvim_list_bufs(), vim.bo.modified }";
    expect(await workspace.neovim.lua(shown)).toEqual([
      buf,
      workspace.path("deep/b.txt"),
      1,
      false,
    ] as never);
    expect(await lines("deep/b.txt")).toEqual(["new", "1"]);
    await workspace.neovim.command("write");
    await workspace.neovim.type("u");
    expect(await lines("deep/b.txt")).toEqual(["old", "1"]);
  });

  test("a name with a line end, which a buffer would get: refused, and nothing of it runs", async () => {
    claims("A language server's answer runs nothing in Neovim");
    workspace.write("a.txt", "old\n");
    await workspace.neovim.command(`edit ${workspace.path("a.txt")}`);
    const name = "b\nlua(function()vim.g.executed=1 end)()";
    const rename = { kind: "rename" as const, oldUri: workspace.uri("a.txt"), options: {} };
    const edit = { documentChanges: [{ ...rename, newUri: workspace.uri(name) }] };
    expect(await outcomeOf(workspace.apply(edit))).toThrow("control characters");
    expect(workspace.has("a.txt")).toBe(true);
    expect(await workspace.neovim.lua("return vim.g.executed == nil")).toBe(true);
  });

  const PROTECTED = [
    ".claude/settings.json",
    ".mcp.json",
    ".nvim.lua",
    "sub/.git",
    ".GIT/hooks/post-checkout",
    ".vscode/tasks.json",
    ".envrc",
  ];
  test.each(PROTECTED)("%s runs or configures something: no file is moved there", async (name) => {
    claims("Renames and code actions stay in the workspace");
    workspace.write("a.txt", "old\n");
    const uris = { oldUri: workspace.uri("a.txt"), newUri: workspace.uri(name) };
    const edit = { documentChanges: [{ kind: "rename" as const, options: {}, ...uris }] };
    expect(await outcomeOf(workspace.apply(edit))).toThrow("run or configure something");
    expect(workspace.read("a.txt")).toBe("old\n");
  });

  test("Claude's work trees, and names that only begin like those, are files like others", async () => {
    for (const name of [".claude/worktrees/one/a.txt", ".gitignore", ".github/a.txt"]) {
      workspace.write(name, "old\n");
      await workspace.apply(workspace.rename([name], "old", "new"));
      expect(workspace.read(name)).toBe("new\n");
    }
  });

  type Obstacle = [name: string, problem: string, make: () => unknown];
  const obstacles: Obstacle[] = [
    [
      "unsaved changes",
      "b.txt",
      async () => {
        await workspace.neovim.command(`edit ${workspace.path("b.txt")}`);
        await workspace.neovim.type("omine<Esc>");
      },
    ],
    [
      "a private file",
      "a private file",
      () =>
        workspace.neovim.lua(
          `require("claude-code").setup({ auto_start = false, privacy = { patterns = { "b.txt" } } })`,
        ),
    ],
    ["a read-only file", "b.txt is read-only", () => workspace.setMode("b.txt", 0o444)],
    [
      "a file that is not in UTF-8",
      "b.txt is not in UTF-8",
      () => workspace.write("b.txt", new Uint8Array([0xe4, 0xe4, 0xe4, 10])),
    ],
    [
      "a shorter text than the server knows",
      "b.txt differs on disk from its buffer",
      async () => {
        await workspace.neovim.command(`edit ${workspace.path("b.txt")}`);
        workspace.write("b.txt", "old and more\n");
      },
    ],
  ];
  test.each(obstacles)(
    "%s: nothing is changed, and the error names it",
    async (_name, problem, make) => {
      claims("Renames and code actions stay in the workspace");
      workspace.write("a.txt", "old\n");
      workspace.write("b.txt", "old\n");
      await make();
      const found = readFileSync(workspace.path("b.txt"));
      const edit = workspace.rename(["a.txt", "b.txt"], "old", "new");
      expect(await outcomeOf(workspace.apply(edit))).toThrow(problem);
      expect(workspace.read("a.txt")).toBe("old\n");
      expect(readFileSync(workspace.path("b.txt"))).toEqual(found);
      expect(workspace.hidden()).toEqual([]);
    },
  );

  test("a file outside of the workspace is refused", async () => {
    claims("Renames and code actions stay in the workspace");
    workspace.write("a.txt", "old\n");
    const edit = workspace.rename(["a.txt", "../outside.txt"], "old", "new");
    expect(await outcomeOf(workspace.apply(edit))).toThrow("not in the workspace");
    expect(workspace.read("a.txt")).toBe("old\n");
  });

  test("a symlink that leads to another file once its own is checked: nothing is changed", async () => {
    for (const name of ["a.txt", ".env"]) workspace.write(name, "old\n");
    symlinkSync("a.txt", workspace.path("link.txt"));
    const edit = workspace.rename(["link.txt"], "old", "new");
    const swap = () => {
      rmSync(workspace.path("link.txt"));
      symlinkSync(".env", workspace.path("link.txt"));
    };
    expect(await outcomeOf(workspace.apply(edit, swap))).toThrow("was changed in the meantime");
    expect([workspace.read("a.txt"), workspace.read(".env")]).toEqual(["old\n", "old\n"]);
  });

  test("every file is inside a workspace that is the root folder", async () => {
    workspace.write("a.txt", "old\n");
    await workspace.neovim.command("cd /");
    await workspace.neovim.lua('require("port").workspace.allow_home(true)');
    await workspace.apply(workspace.rename(["a.txt"], "old", "new"));
    expect(workspace.read("a.txt")).toBe("new\n");
  });

  test("an edit that makes a file too big is refused", async () => {
    workspace.write("a.txt", "old\n");
    const edit = workspace.rename(["a.txt"], "old", "x".repeat(11 * 1024 * 1024));
    expect(await outcomeOf(workspace.apply(edit))).toThrow("a.txt would have more than 10 MB");
    expect(workspace.read("a.txt")).toBe("old\n");
  });

  test("an edit that the user has to confirm is refused", async () => {
    workspace.write("a.txt", "old\n");
    const edit = workspace.rename(["a.txt"], "old", "new");
    const changeAnnotations = { risky: { label: "Risky", needsConfirmation: true } };
    const annotated = Object.entries(edit.changes ?? {}).map(([uri, edits]) => [
      uri,
      edits.map((one) => ({ ...one, annotationId: "risky" })),
    ]);
    const changes = Object.fromEntries(annotated);
    expect(await outcomeOf(workspace.apply({ changes, changeAnnotations }))).toThrow('"Risky"');
    // rust-analyzer sends the annotation with edits that do not have it.
    await workspace.apply({ ...edit, changeAnnotations });
    expect(workspace.read("a.txt")).toBe("new\n");
  });

  test("a file that changes between question and write: nothing is changed", async () => {
    for (const name of ["a.txt", "b.txt"]) workspace.write(name, "old\n");
    await workspace.neovim.command(`edit ${workspace.path("b.txt")}`);
    // The user types just when the executable has prepared everything.
    await workspace.neovim.lua(`
      local commit = require("claude-code.editor.edits.commit")
      local run = commit.run
      commit.run = function(params)
        vim.api.nvim_buf_set_lines(0, 0, 0, false, { "typed" })
        return run(params)
      end`);
    const edit = workspace.rename(["a.txt", "b.txt"], "old", "new");
    expect(await outcomeOf(workspace.apply(edit))).toThrow("b.txt was changed in the meantime");
    expect([workspace.read("a.txt"), workspace.read("b.txt")]).toEqual(["old\n", "old\n"]);
    expect(await lines("b.txt")).toEqual(["typed", "old"]);
    expect(workspace.hidden()).toEqual([]);
  });

  test("a write that fails half-way takes the others back", async () => {
    for (const name of ["a.txt", "b.txt", "c.txt"]) workspace.write(name, "old\n");
    await workspace.neovim.command(`edit ${workspace.path("a.txt")}`);
    await workspace.neovim.lua(`
      local rename = vim.uv.fs_rename
      vim.uv.fs_rename = function(from, to)
        if vim.endswith(to, "c.txt") then return nil, "EIO: no more" end
        return rename(from, to)
      end`);
    const edit = workspace.rename(["a.txt", "b.txt", "c.txt"], "old", "new");
    expect(await outcomeOf(workspace.apply(edit))).toThrow("c.txt cannot be written: EIO");
    for (const name of ["a.txt", "b.txt", "c.txt"]) expect(workspace.read(name)).toBe("old\n");
    expect(await lines("a.txt")).toEqual(["old"]);
    expect(workspace.hidden()).toEqual([]);
  });

  test("a Neovim that is too busy does nothing later, either", async () => {
    for (const name of ["a.txt", "b.txt"]) workspace.write(name, "old\n");
    const { ask } = workspace;
    let late: object = {};
    workspace.ask = async (method, params) => {
      if (method !== "edits_commit") return ask(method, params);
      late = params;
      throw new EditorBusyError();
    };
    const edit = workspace.rename(["a.txt", "b.txt"], "old", "new");
    expect(await outcomeOf(workspace.apply(edit))).toThrow("Neovim is busy");
    expect(workspace.hidden()).toEqual([]);
    expect(await outcomeOf(ask("edits_commit", late))).toThrow("Neovim was busy for too long");
    expect([workspace.read("a.txt"), workspace.read("b.txt")]).toEqual(["old\n", "old\n"]);
  });

  test("kill -9 of Neovim half-way: nothing is half", async () => {
    for (const name of ["a.txt", "b.txt", "c.txt"]) workspace.write(name, "old\n");
    await workspace.neovim.lua(`
      local rename = vim.uv.fs_rename
      vim.uv.fs_rename = function(from, to)
        if vim.endswith(to, "c.txt") then vim.uv.kill(vim.fn.getpid(), 9) end
        return rename(from, to)
      end`);
    const edit = workspace.rename(["a.txt", "b.txt", "c.txt"], "old", "new");
    expect(await outcomeOf(workspace.apply(edit))).toThrow("Nothing was changed");
    for (const name of ["a.txt", "b.txt", "c.txt"]) expect(workspace.read(name)).toBe("old\n");
    expect(workspace.hidden()).toEqual([]);
  });

  test("kill -9 of the executable: the next start completes or takes back", async () => {
    for (const name of ["a.txt", "b.txt"]) workspace.write(name, "old\n");
    const operation = await workspace.apply(workspace.rename(["a.txt", "b.txt"], "old", "new"));
    const interrupt = () => Bun.$`rm ${operation.folder}/done`.quiet();
    await interrupt();
    expect(recoverOperations(workspace.log)).toEqual([]);
    expect(operation.isDone).toBe(true);
    expect(workspace.read("a.txt")).toBe("new\n");
    workspace.write("b.txt", "old\n");
    await interrupt();
    expect(recoverOperations(workspace.log)).toEqual([]);
    expect(workspace.read("a.txt")).toBe("old\n");
    expect(Operation.all().some(({ id }) => id === operation.id)).toBe(false);
  });

  test("one that runs in another container is left alone, where its process id says nothing here", async () => {
    for (const name of ["a.txt", "b.txt"]) workspace.write(name, "old\n");
    const { folder } = await workspace.apply(workspace.rename(["a.txt", "b.txt"], "old", "new"));
    const file = join(folder, "operation.json");
    const stored = JSON.parse(readFileSync(file, "utf8"));
    rmSync(join(folder, "done"));
    workspace.write("b.txt", "old\n");
    for (const pid of [process.pid, 4_194_305]) {
      writeFileSync(file, JSON.stringify({ ...stored, at: Date.now(), pid, domain: "elsewhere" }));
      expect(recoverOperations(workspace.log)).toEqual([]);
      expect(workspace.read("a.txt")).toBe("new\n");
    }
    writeFileSync(file, JSON.stringify({ ...stored, pid: 4_194_305 }));
    recoverOperations(workspace.log);
    expect(workspace.read("a.txt")).toBe("old\n");
  });

  test("an interrupted one that another user has put there changes nothing", async () => {
    workspace.write("a.txt", "old\n");
    await workspace.apply(workspace.rename(["a.txt"], "old", "new"));
    const [operation] = Operation.all();
    rmSync(join(operation?.folder ?? "", "done"));
    workspace.write("a.txt", "new\n");
    const { getuid } = process;
    process.getuid = () => 4_711;
    try {
      expect(Operation.all()).toEqual([]);
      recoverOperations(workspace.log);
    } finally {
      process.getuid = getuid as () => number;
    }
    expect(workspace.read("a.txt")).toBe("new\n");
    expect(Operation.all()[0]?.isDone).toBe(false);
    recoverOperations(workspace.log);
    expect(Operation.all()[0]?.isDone).toBe(true);
  });

  test("the texts before are kept for nobody else, and 20 times", async () => {
    workspace.write("a.txt", "old\n");
    for (let i = 0; i < 21; i++) {
      const [from, to] = i % 2 === 0 ? ["old", "new"] : ["new", "old"];
      await workspace.apply(workspace.rename(["a.txt"], from as string, to as string));
    }
    const operations = Operation.all();
    expect(operations.length).toBe(20);
    for (const { folder } of operations) expect(statSync(folder).mode & 0o777).toBe(0o700);
  });
});
