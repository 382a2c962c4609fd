import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileUri } from "../../src/lib/file-uri";
import { claims } from "../support/claims";
import { eventually } from "../support/eventually";
import { NEOVIMS, NEWEST } from "../support/neovim";
import { outcomeOf } from "../support/outcome";
import { EditedProject } from "./edits";

/* Code actions and renames of a server that answers as it is told: commands, refusals, wrong answers. */
setDefaultTimeout(60_000);

const CAPABILITIES = {
  codeActionProvider: { resolveProvider: true },
  definitionProvider: true,
  executeCommandProvider: { commands: ["fix"] },
  renameProvider: { prepareProvider: true },
};

describe.each(NEOVIMS)("code_action with $name", (version) => {
  let edited: EditedProject;
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } };
  const uri = () => fileUri(edited.project.path("a.txt"));
  const edit = (newText: string) => ({ changes: { [uri()]: [{ range, newText }] } });
  const answers = (more: object) => edited.answer({ capabilities: CAPABILITIES, ...more });
  const offer = (action: object, more: object = {}) =>
    answers({ "textDocument/codeAction": [{ title: "Do it", ...action }], ...more });
  const run = (action: string | number = "Do it") =>
    edited.call("code_action", { path: "a.txt", line: 1, action });

  beforeAll(async () => {
    edited = await EditedProject.open(version, { "a.txt": "old\n", "b.txt": "old\n" });
    answers({});
    await edited.project.neovim.command(`edit ${edited.project.path("a.txt")}`);
  });
  afterAll(() => edited?.[Symbol.asyncDispose]());
  const reset = () => edited.project.write("a.txt", "old\n");

  test("an edit that the server gives only when it is asked again", async () => {
    offer({}, { "codeAction/resolve": { title: "Do it", edit: edit("new") } });
    expect(await run()).toContain("done by text: Do it\na.txt  1 edit\n  1- old\n  1+ new");
    expect(edited.read("a.txt")).toBe("new\n");
    reset();
  });

  test("the edit of a server's command is caught, and made like any other", async () => {
    offer({ command: { title: "x", command: "fix" } }, { applyEdit: [edit("by command")] });
    expect(await run()).toContain("  1+ by command");
    expect(edited.read("a.txt")).toBe("by command\n");
    const applied = JSON.parse(readFileSync(join(edited.answers, "applied.json"), "utf8"));
    expect(applied).toEqual([{ applied: true }]);
    reset();
  });

  test("a command after an edit runs once the edit is made, and one undo takes both back", async () => {
    const second = { changes: { [uri()]: [{ range, newText: "2nd" }] } };
    offer({ edit: edit("1st"), command: { title: "x", command: "fix" } }, { applyEdit: [second] });
    expect(await run()).toContain("a.txt  2 edits\n  1- old\n  1+ 2nd");
    expect(edited.read("a.txt")).toBe("2nd\n");
    await edited.project.neovim.command("Claude undo rename");
    await eventually("the undo", () => expect(edited.read("a.txt")).toBe("old\n"));
  });

  test("a second step that fails is named, and the first is there", async () => {
    offer({ edit: edit("1st"), command: { title: "x", command: "fix" } }, { applyEdit: [{}, {}] });
    expect(await run()).toContain("Its second step was not done: text made several edits");
    expect(edited.read("a.txt")).toBe("1st\n");
    reset();
  });

  test("an action whose title quotes a private file's path is not offered", async () => {
    claims("Language tools do not show private files");
    const titles = ['Add import from "./keys/../.env"', "Import 'b' from './b.txt'"];
    answers({ "textDocument/codeAction": titles.map((title) => ({ title, edit: edit("x") })) });
    const text = await edited.call("code_action", { path: "a.txt", line: 1 });
    expect(text).toContain("./b.txt");
    expect(text).not.toContain(".env");
  });

  test("a snippet is written as its text", async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a snippet.
    const snippet = { range, newText: "fn ${1:name}($0)", insertTextFormat: 2 };
    offer({ edit: { changes: { [uri()]: [snippet] } } });
    await run();
    expect(edited.read("a.txt")).toBe("fn name()\n");
    const value = { range, snippet: { kind: "snippet", value: "$0new" } };
    const textDocument = { uri: uri(), version: null };
    offer({ edit: { documentChanges: [{ textDocument, edits: [value] }] } });
    await run();
    // The first three characters were "fn ".
    expect(edited.read("a.txt")).toBe("newname()\n");
    reset();
  });

  test("organize_imports does no other action that a server offers", async () => {
    const other = { title: "Other", kind: "quickfix", edit: edit("other") };
    const imports = { title: "Sort", kind: "source.organizeImports.text", edit: edit("sorted") };
    answers({ "textDocument/codeAction": [other, imports] });
    await run("organize_imports");
    expect(edited.read("a.txt")).toBe("sorted\n");
    reset();
    answers({ "textDocument/codeAction": [other] });
    expect(await run("organize_imports")).toBe("organize_imports: nothing to change.");
    expect(edited.read("a.txt")).toBe("old\n");
  });

  test("of two actions with one title the number decides", async () => {
    const titled = ["one", "two"].map((text) => ({ title: "Do it", edit: edit(text) }));
    answers({ "textDocument/codeAction": titled });
    await edited.call("code_action", { path: "a.txt", line: 1 });
    await run(2);
    expect(edited.read("a.txt")).toBe("two\n");
    reset();
  });

  test("several edits of one command: none is made", async () => {
    offer({ command: { title: "x", command: "fix" } }, { applyEdit: [edit("1"), edit("2")] });
    expect(await run()).toContain("ERROR text made several edits one after the other");
    expect(edited.read("a.txt")).toBe("old\n");
  });

  test("a command that only an editor runs is refused by its name", async () => {
    claims("A language server's answer runs nothing in Neovim");
    await edited.project.neovim.lua(`vim.lsp.commands["fix"] = function() _G.ran = true end`);
    const local = { title: "x", command: "editor.action.rename" };
    offer({ command: local });
    expect(await run()).toContain('Only an editor can run the command "editor.action.rename"');
    offer({ command: { title: "x", command: "fix" } });
    expect(await run()).toContain('Only an editor can run the command "fix"');
    expect(await edited.project.neovim.lua("return _G.ran == nil")).toBe(true);
    await edited.project.neovim.lua(`vim.lsp.commands["fix"] = nil`);
  });

  test("what a server asks to apply at another time is Neovim's affair", async () => {
    const name = await edited.project.neovim.lua(
      `
      local client = vim.lsp.get_clients({ name = "text" })[1]
      local answer = client.handlers["workspace/applyEdit"](nil, { edit = ... }, { client_id = client.id })
      return answer.applied`,
      edit("neovim's"),
    );
    expect(name).toBe(true);
    await edited.project.neovim.command("edit!");
  });

  test("an edit that is none: an error, and nothing changes", async () => {
    offer({ edit: { changes: { [uri()]: [{ range: "all" }] } } });
    expect(await run()).toContain(
      "ERROR Nothing was changed. The edit of text is not in the protocol",
    );
    for (const changes of [`{ "__proto__": [] }`, `{ "x": [], "__proto__": { "x": 1 } }`]) {
      offer({ edit: { changes: JSON.parse(changes) } });
      expect(await run()).toContain("ERROR Nothing was changed.");
    }
    offer({ edit: { changes: { "untitled:x": [] } } });
    expect(await run()).toContain(
      "ERROR Nothing was changed. untitled:x is not a file of this machine",
    );
    const far = { start: { line: 70, character: 0 }, end: { line: 70, character: 1 } };
    offer({ edit: { changes: { [uri()]: [{ range: far, newText: "x" }] } } });
    expect(await run()).toContain("it knows another text");
    expect(edited.read("a.txt")).toBe("old\n");
  });

  const named = (character: number) => ({
    "textDocument/definition": [{ uri: uri(), range }],
    "textDocument/prepareRename": range,
    "textDocument/rename": {
      documentChanges: [
        {
          textDocument: { uri: fileUri(edited.project.path("b.txt")), version: null },
          edits: [
            {
              range: { start: { line: 0, character }, end: { line: 0, character: 3 } },
              newText: "new",
            },
          ],
        },
      ],
    },
  });
  const rename = () =>
    edited.call("rename_symbol", { path: "a.txt", symbol: "old", new_name: "new" });

  test("a server that knows an older text puts no name in the wrong place", async () => {
    answers(named(1));
    expect(await rename()).toMatch(
      /ERROR .*b\.txt has another text than the language server knows \("ld" instead of old\)/,
    );
    expect(edited.read("b.txt")).toBe("old\n");
    answers(named(0));
    expect(await rename()).toContain("renamed old to new in 1 file, 1 place (text)");
    expect(edited.read("b.txt")).toBe("new\n");
    edited.project.write("b.txt", "old\n");
  });

  test("the server's own refusal is the answer", async () => {
    answers({ ...named(0), "textDocument/prepareRename": null });
    expect(await rename()).toContain("ERROR `old` is not renamed. text: it cannot be renamed");
    answers({ ...named(0), "textDocument/rename": null });
    expect(await rename()).toContain("ERROR text finds nothing to rename at `old`");
  });

  test("a private file is changed by none of the tools, and not named", async () => {
    edited.project.write(".env", "old\n");
    const secret = fileUri(edited.project.path(".env"));
    offer({
      edit: {
        changes: { [uri()]: [{ range, newText: "x" }], [secret]: [{ range, newText: "x" }] },
      },
    });
    const text = await run();
    expect(text).toContain("ERROR Nothing was changed. It would change a private file");
    expect(text).not.toContain(".env");
    expect([edited.read("a.txt"), edited.read(".env")]).toEqual(["old\n", "old\n"]);
    expect(await edited.call("code_action", { path: ".env" })).toContain("ERROR .env is private");
  });
});

test("kill -9 of the executable in the middle: the next start of the server takes it back", async () => {
  await using edited = await EditedProject.open(NEWEST, { "a.txt": "old\n", "b.txt": "old\n" });
  const { project, client } = edited;
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } };
  const uri = (name: string) => fileUri(project.path(name));
  const edits = [{ range, newText: "new" }];
  edited.answer({
    capabilities: CAPABILITIES,
    "textDocument/codeAction": [
      { title: "Do it", edit: { changes: { [uri("a.txt")]: edits, [uri("b.txt")]: edits } } },
    ],
  });
  // The executable dies when one file is in its place already.
  const { pid } = client.transport as unknown as { pid: number };
  await project.neovim.lua(
    `local pid = ...
    local rename = vim.uv.fs_rename
    vim.uv.fs_rename = function(from, to)
      if vim.endswith(to, "b.txt") then
        vim.uv.kill(pid, 9)
        return nil, "EIO"
      end
      return rename(from, to)
    end`,
    pid,
  );
  const call = edited.call("code_action", { path: "a.txt", action: "Do it" });
  expect(await outcomeOf(call)).toThrow();
  expect(edited.texts(["a.txt", "b.txt"])).toEqual({ "a.txt": "new\n", "b.txt": "old\n" });
  await project.neovim.command("ClaudeCodeStop");
  await eventually("the stop", () => project.registered().length === 0);
  await project.neovim.command("ClaudeCodeStart");
  await eventually("the recovery", () => expect(edited.read("a.txt")).toBe("old\n"));
  const drafts = () =>
    new Bun.Glob(".claude-code-nvim*").scanSync({ cwd: project.folder, dot: true });
  await eventually("the drafts' end", () => expect([...drafts()]).toEqual([]));
});
