import { rmSync, symlinkSync } from "node:fs";
import { claims, eventually, first, NEOVIMS, NEWEST, nightly, perBlock, rows } from "#test";
import { counted } from "../../src/lib/visible";
import { Project } from "./project";

const GO = { continue: true } as const;

describe.each(NEOVIMS)("the Stop hook with $name", (version) => {
  let count = 0;
  let session: { session_id: string };

  const project = perBlock(() => Project.open(version));
  beforeEach(() => {
    session = { session_id: `session-${++count}` };
  });

  const edit = (name: string, text: string) => project.edit(name, text, session);
  const stop = (more: object = {}) => project.stop({ ...session, ...more });

  const blocked = (errors: number, warnings: number) => ({
    decision: "block" as const,
    reason: expect.stringContaining(
      `Found ${counted(errors, "error")} and ${counted(warnings, "warning")} in edited files. ` +
        "Use 'mcp__plugin_claude-code-nvim_nvim-lsp__get_session_diagnostics' to see details.",
    ) as unknown as string,
  });

  test("allows a turn without an edit", async () => {
    await project.hook("session-start", { ...session, source: "startup" });
    project.write("unrelated.txt", "ERROR\n");
    await project.neovim.command(`edit ${project.path("unrelated.txt")}`);
    expect(await stop()).toEqual(GO);
  });

  const texts: [string, string, object][] = [
    ["clean", "fine\n", GO],
    ["an error", "ERROR here\n", blocked(1, 0)],
    ["warnings", "WARN a\nWARN b\n", blocked(0, 2)],
    ["both", "ERROR a\nWARN b\nERROR c\n", blocked(2, 1)],
    ["lesser ones only", "INFO a\nHINT b\n", GO],
  ];
  for (const open of [true, false]) {
    test.each(texts)(
      `decides about a file that is ${open ? "open" : "not open"}: %s`,
      async (_name, text, decision) => {
        const name = `file-${count}.txt`;
        if (open) {
          project.write(name, "before\n");
          await project.neovim.command(`edit ${project.path(name)}`);
        }
        await edit(name, text);
        expect(await stop()).toEqual(decision as never);
      },
    );
  }

  test.each(first(1, ["bunload", "bdelete", "bwipeout"]))(
    "counts a buffer that :%s has closed",
    async (command) => {
      const name = `${command}.txt`;
      project.write(name, "before\n");
      await project.neovim.command(`edit ${project.path(name)}`);
      await edit(name, "ERROR here\n");
      await project.neovim.command(`enew | ${command} ${project.path(name)}`);
      expect(await stop()).toEqual(blocked(1, 0));
    },
  );

  test("adds up several files, the worst first", async () => {
    await edit("a.txt", "WARN in a\n");
    await edit("deep/b.txt", "fine\n  ERROR in b\n");
    expect(await stop()).toEqual({
      decision: "block",
      reason: [
        "Found 1 error and 1 warning in edited files. Use 'mcp__plugin_claude-code-nvim_nvim-lsp__get_session_diagnostics' to see details.",
        "deep/b.txt:2:3 error: ERROR in b (marks)",
        "a.txt:1:1 warning: WARN in a (marks)",
      ].join("\n"),
    });
  });

  test("names the session whose files these are", async () => {
    await project.neovim.lua(`
      ROWS = require("port").session_rows
      ROWS.add({ n = 1, id = "first" })
      ROWS.add({ n = 2, id = "second", name = "docs" })`);
    for (const [id, own, other, name] of [
      ["first", "one.txt", "two.txt", "Claude 1"],
      ["second", "two.txt", "one.txt", "Claude 2 (docs)"],
    ] as const) {
      await project.edit(own, "ERROR\n", { session_id: id });
      const { reason } = await project.stop({ session_id: id });
      expect(reason).toContain(`\nThis session, ${name}, edited these files.\n${own}:1:1 error`);
      expect(reason).not.toContain(other);
    }
    await project.neovim.lua("for n = 1, 2 do ROWS.remove(n) end");
  });

  test("quotes five of many problems, and counts the rest", async () => {
    await edit("many.txt", "ERROR x\n".repeat(40));
    const lines = (await stop()).reason?.split("\n");
    expect(lines).toHaveLength(7);
    expect(lines?.at(-1)).toBe("… and 35 more");
  });

  // A prompt, or none, ends ("again": after a Stop hook; "unedited": without an edit since), and is blocked or not.
  test.each(
    rows(`
    once for a prompt, whatever is wrong still; the next prompt counts again | p1: yes; p1 again unedited: no; p2 unedited: no; p2: yes; p2 again unedited: no; p2 again: no
    prompts that take turns once each | one: yes; two: yes; one: no; three: yes; two: no; one: no
    once more after another hook | p again: yes; p again unedited: no
    by the flag where the prompt has no id | none again: no; none: yes`),
  )("blocks %s", async (_name, ends = "") => {
    claims("A held turn is let go");
    for (const end of ends.split("; ")) {
      const [prompt = ""] = end.split(/[ :]/);
      if (!end.includes("unedited")) await edit("turns.txt", `ERROR ${Math.random()}\n`);
      const stopped = await stop({
        ...(prompt !== "none" && { prompt_id: prompt }),
        ...(end.includes("again") && { stop_hook_active: true }),
      });
      expect([end, stopped]).toEqual([end, end.endsWith("yes") ? blocked(1, 0) : GO]);
    }
  });

  const path = (name: string) => project.path(name);
  const tools: [string, files: string[], call: () => object, decision: object][] = [
    [
      "a relative path from Claude's folder",
      ["sub/rel.txt"],
      () => edits("sub/rel.txt"),
      blocked(1, 0),
    ],
    [
      "a notebook by its own path",
      ["book.ipynb"],
      () => ({ tool_name: "NotebookEdit", tool_input: { notebook_path: path("book.ipynb") } }),
      blocked(1, 0),
    ],
    [
      "a file that Bash has changed, and none that it has deleted",
      ["sed.txt"],
      () => ({
        ...{
          tool_name: "Bash",
          tool_input: { command: "perl -pi -e s/x/ERROR/ sed.txt; rm gone.txt" },
        },
        tool_response: {
          bashEditDiff: {
            files: [],
            moreFiles: 2,
            changedFiles: [path("sed.txt"), path("gone.txt")],
          },
        },
      }),
      blocked(1, 0),
    ],
    ["no file that was deleted since", [], () => edits(path("gone.txt")), GO],
    ["no file that Claude read", ["a"], () => ({ ...edits(path("a")), tool_name: "Read" }), GO],
    ["no file that Bash names", ["a"], () => ({ ...edits(path("a")), tool_name: "Bash" }), GO],
  ];
  const edits = (file_path: string) => ({ tool_name: "Edit", tool_input: { file_path } });
  test.each(tools)("counts %s", async (_name, files, call, decision) => {
    for (const name of files) project.write(name, "ERROR\n");
    await project.hook("post-tool-use", { ...session, ...call() });
    expect(await stop()).toEqual(decision as never);
  });

  test("counts a symlink and its target as one file", async () => {
    project.write("real/target.txt", "ERROR\n");
    symlinkSync(path("real"), path("link"));
    for (const name of ["link/target.txt", "real/target.txt"])
      await project.edited(path(name), session);
    expect(await stop()).toEqual(blocked(1, 0));
  });

  nightly.test("counts what a failed command has changed in a git repository", async () => {
    Bun.spawnSync(["git", "init", "-q", project.folder]);
    const input = { ...session, prompt_id: "p" };
    project.write("failed.txt", "fine\n");
    await project.hook("user-prompt-submit", { ...input, prompt: "go" });
    await eventually("the snapshot", () => project.reviewed("snapshot.json"));
    const call = { ...input, tool_name: "Bash", tool_use_id: "u", tool_input: { command: "x" } };
    await project.hook("pre-tool-use", call);
    project.write("failed.txt", "ERROR\n");
    await project.hook("post-tool-use-failure", { ...call, error: "Exit code 1", duration_ms: 5 });
    const loaded = "return vim.fn.bufloaded(...) == 1";
    await project.neovim.until("the edited file", loaded, project.path("failed.txt"));
    expect(await stop({ prompt_id: "p" })).toEqual(blocked(1, 0));
    rmSync(project.path(".git"), { recursive: true });
  });

  test("leaves the user's unsaved edits", async () => {
    const path = project.write("unsaved.txt", "one\n");
    await project.neovim.command(`edit ${path}`);
    await project.neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'mine' })");
    await edit("unsaved.txt", "Claude's\n");
    const lines = await project.neovim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)");
    expect(lines).toEqual(["mine"]);
    await project.neovim.command("edit!");
  });
});

describe("Claude is not held", () => {
  const project = perBlock(() => Project.open(NEWEST));
  beforeAll(async () => {
    await project.edit("bad.txt", "ERROR\n");
  });

  test("is not held by an unknown event", async () => {
    const result = await project.hook("pre-compact");
    expect(result).toMatchObject({ code: 0, stdout: "" });
    expect(result.stderr).toContain("session-start, post-tool-use, stop, session-end");
  });

  test("is not held if no Neovim runs", async () => {
    await project.neovim.quit();
    expect(await project.stop()).toEqual(GO);
    expect(project.registered()).toEqual([]);
    expect(project.log).toContain("No Neovim for");
  });
});
