import { claims, NEOVIMS, perBlock } from "#test";
import { fileUri } from "../../src/lib/file-uri";
import { LanguageProject } from "../language/world";

/* Code actions and renames of a scripted server: refusals, and wrong answers. */
const CAPABILITIES = {
  codeActionProvider: { resolveProvider: true },
  definitionProvider: true,
  executeCommandProvider: { commands: ["fix"] },
};

describe.each(NEOVIMS)("code_action with $name", (version) => {
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } };
  const uri = () => fileUri(edited.project.path("a.txt"));
  const edit = (newText: string) => ({ changes: { [uri()]: [{ range, newText }] } });
  const answers = (more: object) => edited.tell({ capabilities: CAPABILITIES, ...more });
  const offer = (action: object, more: object = {}) =>
    answers({ "textDocument/codeAction": [{ title: "Do it", ...action }], ...more });
  const run = (action = "Do it") => edited.call("code_action", { path: "a.txt", line: 1, action });

  const edited = perBlock(() =>
    LanguageProject.open(version, { "a.txt": "old\n", "b.txt": "old\n" }),
  );
  beforeAll(async () => {
    answers({});
    await edited.project.neovim.command(`edit ${edited.project.path("a.txt")}`);
  });
  beforeEach(() => {
    edited.project.write("a.txt", "old\n");
  });

  test("makes an edit that the server gives only when it is asked again", async () => {
    offer({}, { "codeAction/resolve": { title: "Do it", edit: edit("new") } });
    expect(await run()).toContain("done by text: Do it\na.txt  1 edit\n  1- old\n  1+ new");
    expect(edited.read("a.txt")).toBe("new\n");
  });

  test("makes the edit before a command, and runs no command", async () => {
    claims("A language server's answer runs nothing in Neovim");
    await edited.project.neovim.lua(`vim.lsp.commands["fix"] = function() _G.ran = true end`);
    const command = { title: "x", command: "fix" };
    offer({ edit: edit("1st"), command });
    expect(await run()).toContain("Its second step, the command fix, was not run.");
    expect(edited.read("a.txt")).toBe("1st\n");
    edited.project.write("a.txt", "old\n");
    for (const alone of [{ command }, { command: "fix" }]) {
      offer(alone);
      expect(await run()).toContain('ERROR No code action "Do it" is offered there');
    }
    expect(await edited.project.neovim.lua("return _G.ran == nil")).toBe(true);
    expect(edited.log).not.toContain("workspace/executeCommand");
  });

  test("does not offer actions whose titles quote a private file's path", async () => {
    claims("Language tools do not show private files");
    const titles = ['Add import from "./keys/../.env"', "Import 'b' from './b.txt'"];
    answers({ "textDocument/codeAction": titles.map((title) => ({ title, edit: edit("x") })) });
    const text = await edited.call("code_action", { path: "a.txt", line: 1 });
    expect(text).toContain("./b.txt");
    expect(text).not.toContain(".env");
  });

  test("writes a snippet as its text", async () => {
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
  });

  test("organize_imports does no other action that a server offers", async () => {
    const other = { title: "Other", kind: "quickfix", edit: edit("other") };
    const imports = { title: "Sort", kind: "source.organizeImports.text", edit: edit("sorted") };
    answers({ "textDocument/codeAction": [other, imports] });
    await run("organize_imports");
    expect(edited.read("a.txt")).toBe("sorted\n");
    edited.project.write("a.txt", "old\n");
    answers({ "textDocument/codeAction": [other] });
    expect(await run("organize_imports")).toBe("organize_imports: nothing to change.");
    expect(edited.read("a.txt")).toBe("old\n");
  });

  test("refuses an edit that is not in the protocol", async () => {
    offer({ edit: { changes: { [uri()]: [{ range: "all" }] } } });
    expect(await run()).toContain(
      "ERROR Nothing was changed. The edit of text breaks the protocol",
    );
    for (const changes of [`{ "__proto__": [] }`, `{ "x": [], "__proto__": { "x": 1 } }`]) {
      offer({ edit: { changes: JSON.parse(changes) } });
      expect(await run()).toContain("ERROR Nothing was changed.");
    }
    for (const kind of ["create", "rename", "delete"]) {
      offer({ edit: { documentChanges: [{ kind, uri: uri(), oldUri: uri(), newUri: uri() }] } });
      expect(await run()).toContain(
        "ERROR Nothing was changed. text wants to create, move or delete files",
      );
    }
    offer({ edit: { changes: { "untitled:x": [] } } });
    expect(await run()).toContain(
      "ERROR Nothing was changed. untitled:x is not a file of this machine",
    );
    const far = { start: { line: 70, character: 0 }, end: { line: 70, character: 1 } };
    offer({ edit: { changes: { [uri()]: [{ range: far, newText: "x" }] } } });
    expect(await run()).toContain("differs from what the language server knows");
    expect(edited.read("a.txt")).toBe("old\n");
  });

  const named = (character: number) => ({
    "textDocument/definition": [{ uri: uri(), range }],
    "textDocument/rename": {
      documentChanges: [
        {
          textDocument: { uri: fileUri(edited.project.path("b.txt")), version: null },
          edits: [{ range: { ...range, start: { line: 0, character } }, newText: "new" }],
        },
      ],
    },
  });
  const rename = () =>
    edited.call("rename_symbol", { path: "a.txt", symbol: "old", new_name: "new" });

  test("does not put names in the wrong place for a server that knows an older text", async () => {
    answers(named(1));
    expect(await rename()).toMatch(/ERROR .*b\.txt differs from what the language server knows/);
    expect(edited.read("b.txt")).toBe("old\n");
    answers(named(0));
    expect(await rename()).toContain("renamed old to new in 1 file, 1 place, as text reports");
    expect(edited.read("b.txt")).toBe("new\n");
    edited.project.write("b.txt", "old\n");
  });

  test("answers with the server's own refusal", async () => {
    answers({ ...named(0), "textDocument/rename": { error: "not this name" } });
    expect(await rename()).toContain("ERROR `old` is not renamed. text: not this name");
    answers({ ...named(0), "textDocument/rename": null });
    expect(await rename()).toContain("ERROR `old` is not renamed. text: it cannot be renamed");
  });

  test("changes no private file, and does not name it", async () => {
    edited.project.write(".env", "old\n");
    const secret = fileUri(edited.project.path(".env"));
    const edits = [{ range, newText: "x" }];
    offer({ edit: { changes: { [uri()]: edits, [secret]: edits } } });
    const text = await run();
    expect(text).toContain("ERROR Nothing was changed. It would change a private file");
    expect(text).not.toContain(".env");
    expect([edited.read("a.txt"), edited.read(".env")]).toEqual(["old\n", "old\n"]);
    expect(await edited.call("code_action", { path: ".env" })).toContain("ERROR .env is private");
  });
});
