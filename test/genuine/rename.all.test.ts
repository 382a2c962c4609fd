import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileUri } from "../../src/lib/file-uri";
import { LanguageProject } from "../language/world";
import { runHeadless } from "../support/claude";
import { Model } from "../support/model";
import { type ModelRequest, toolResults } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { NEWEST } from "../support/toolchain";
import { say } from "../support/turns";

/*
 * The genuine CLI (Claude Code 2.1.330) renames a symbol by our stdio server, in the project of a real
 * Neovim; the language server answers as it is told.
 */
const TOOL = "mcp__nvim-lsp__rename_symbol";

requireNamespace();
describe(`a rename by the genuine CLI with ${NEWEST.name}`, () => {
  let edited: LanguageProject;
  let model: Model;
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } };

  beforeAll(async () => {
    edited = await LanguageProject.open(NEWEST, { "a.txt": "old a\n", "b.txt": "old b\n" });
    const uri = (name: string) => fileUri(edited.project.path(name));
    const edits = [{ range, newText: "new" }];
    edited.tell({
      capabilities: { definitionProvider: true, renameProvider: true },
      "textDocument/definition": [{ uri: uri("a.txt"), range }],
      "textDocument/rename": { changes: { [uri("a.txt")]: edits, [uri("b.txt")]: edits } },
    });
    await edited.project.neovim.command(`edit ${edited.project.path("a.txt")}`);
    mkdirSync(join(edited.project.neovim.home, "tmp"), { recursive: true });
    model = new Model();
  });
  afterAll(async () => {
    model?.stop();
    await edited?.[Symbol.asyncDispose]();
  });

  /** Lets the model call the tool; returns the requests. */
  async function rename(args: string[]): Promise<ModelRequest[]> {
    const { project } = edited;
    const from = model.requests.length;
    const input = { path: "a.txt", symbol: "old", new_name: "new" };
    model.script([[{ tool: TOOL, input }], say("Done.")]);
    const fromNeovim = await project.neovim.launchArguments();
    const { home } = project.neovim;
    const options = { project: project.folder, home, model, args: [...fromNeovim, ...args] };
    expect(await runHeadless(options, "go")).toMatchObject({ code: 0, stdout: "Done.\n" });
    return model.requests.slice(from);
  }

  test("not without the user's permission, though the reading tools have it", async () => {
    const [first, second] = await rename([]);
    const names = (first as unknown as { tools: { name: string }[] }).tools.map(({ name }) => name);
    expect(names).toContain(TOOL);
    expect(toolResults(second as ModelRequest)[0]).toContain("permission");
    expect(edited.texts(["a.txt", "b.txt"])).toEqual({ "a.txt": "old a\n", "b.txt": "old b\n" });
  });

  test("with it: both files are renamed, and the review has the call's change", async () => {
    const [, second] = await rename(["--allowedTools", TOOL]);
    const [answer] = toolResults(second as ModelRequest);
    expect(answer).toContain("renamed old to new in 2 files, 2 places, as text reports:");
    expect(edited.texts(["a.txt", "b.txt"])).toEqual({ "a.txt": "new a\n", "b.txt": "new b\n" });
    const glob = new Bun.Glob("review/*/journal.jsonl");
    const [journal = ""] = [...glob.scanSync({ cwd: edited.project.state, absolute: true })];
    const records = readFileSync(journal, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const prompt = records.findLast(({ type }) => type === "prompt");
    const changes = records.filter(({ type, files }) => type === "change" && files.length > 0);
    expect(changes).toHaveLength(1);
    expect(changes[0]).toMatchObject({
      session: prompt.session,
      prompt: prompt.prompt,
      tool: "rename_symbol",
      use: expect.stringMatching(/./),
    });
  });
});
