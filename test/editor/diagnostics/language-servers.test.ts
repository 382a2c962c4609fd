import { join } from "node:path";
import { eventually, NEOVIMS, NEWEST, nightly, setDefaultTimeout } from "#test";
import { TYPESCRIPT } from "../../support/typescript";
import { GO, openWith, openWorld, settled, type World, warm } from "./language-servers";

/* Real language servers in a real Neovim: what they report on the text that Claude wrote, never before. */
setDefaultTimeout(240_000);

describe.each(NEOVIMS)("language servers with $name", (version) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(version);
  });
  afterAll(() => world?.close());

  nightly.test("blocks Claude until it has fixed the files that it broke", async () => {
    const { project } = world;
    const prompt = { prompt_id: "p1" };
    project.write("open.ts", "export const n: number = 1;\n");
    await project.neovim.command(`edit ${project.path("open.ts")}`);
    await project.edit("open.ts", "export const n: number = 'one';\n");
    await project.edit("closed.ts", "import { n } from './open';\nexport const m: string = n;\n", {
      tool_response: { type: "create" },
    });
    await project.edit("data.json", '{\n  "a": 1,\n  "b"\n}\n', {
      tool_response: { type: "create" },
    });
    await settled(project);
    const blocked = await project.stop(prompt);
    expect(blocked.decision).toBe("block");
    expect(blocked.reason).toMatch(/^Found [34] errors and 0 warnings in edited files\./);
    expect(blocked.reason).toContain("open.ts:1:14 error: Type 'string' is not assignable");
    expect(blocked.reason).not.toContain("older than");

    const shown = await world.sessionDiagnostics();
    expect(Object.keys(shown).sort()).toEqual(["closed.ts", "data.json", "open.ts"]);
    expect(shown["open.ts"]).toMatchObject([
      { line: 1, column: 14, severity: "ERROR", source: "typescript" },
    ]);

    await project.edit("open.ts", "export const n: number = 2;\n");
    await project.edit("closed.ts", "import { n } from './open';\nexport const m: number = n;\n");
    await project.edit("data.json", '{\n  "a": 1,\n  "b": 2\n}\n');
    await settled(project);
    expect(await project.stop({ ...prompt, stop_hook_active: true })).toEqual(GO);
    expect(await world.sessionDiagnostics()).toEqual({});
  });

  test("reports Claude's writes as saves to servers that check saved files", async () => {
    const { project } = world;
    await project.neovim.command(`edit ${project.write("saved.json", "{}\n")}`);
    await project.neovim.lua(`
      _G.saved = {}
      vim.api.nvim_create_autocmd("LspNotify", { callback = function(args)
        if args.data.method == "textDocument/didSave" then
          table.insert(_G.saved, args.data.params.textDocument.uri)
        end
      end })`);
    await project.edit("saved.json", "[]\n", { session_id: "saved" });
    const uri = `file://${project.path("saved.json")}`;
    await eventually("didSave", async () => {
      expect(await project.neovim.lua("return _G.saved")).toEqual([uri]);
    });
  });

  test("reports after each edit the problems that it made, and no others", async () => {
    const { project } = world;
    const session = { session_id: "report" };
    project.write("each.ts", "export const old: number = 'old';\nexport const b: number = 1;\n");
    await project.neovim.command(`edit ${project.path("each.ts")}`);
    await project.neovim.until("the old problem", "return #vim.diagnostic.get(0) == 1");
    const { output } = await project.edit(
      "each.ts",
      "// moved\nexport const old: number = 'old';\nexport const b: number = 'b';\n",
      session,
    );
    expect(output).toEqual({
      hookSpecificOutput: {
        hookEventName: "PostToolUse",
        additionalContext:
          "New problems in each.ts after this edit, as Neovim's language servers report them:\n" +
          "each.ts:3:14 error: Type 'string' is not assignable to type 'number'. [2322] (typescript)",
      },
    });
    const fixed = await project.edit("each.ts", "export const b: number = 2;\n", session);
    expect(fixed.output).toBeUndefined();
    await settled(project);
    expect(await project.stop(session)).toEqual(GO);
  });

  nightly.test("does not wait for a server that says nothing on a fine file", async () => {
    const { project } = world;
    const session = { session_id: "stays" };
    for (const value of [1, 2, 3]) {
      await project.edit("stays.ts", `export const s: number = ${value};\n`, session);
      // A report that is still expected would be reported as unknown here, after the whole deadline.
      expect(await project.stop(session)).toEqual(GO);
    }
    await project.edit("stays.ts", "export const s: number = 'no';\n", session);
    expect(await project.stop(session)).toMatchObject({ decision: "block" });
  });
});

nightly.test("waits for a slow server, and ignores results from before the edit", async () => {
  const [fine, broken] = ["export const a: number = 1;\n", "export const a: number = 'late';\n"];
  const slow = [process.execPath, join(import.meta.dir, "slow-server.ts"), "1200", ...TYPESCRIPT];
  await using project = await openWith(NEWEST, { typescript: slow });
  // The second time shows how long the server takes to find an error.
  await warm(project, "a.ts", broken, fine, broken, fine);
  // No waiting after an edit: the end of the turn comes while the server still works.
  await project.neovim.lua("require('port').config.get().diagnostics.after_edit = false");
  await project.edit("a.ts", broken);
  const blocked = await project.stop({ prompt_id: "p1" });
  expect(blocked).toMatchObject({ decision: "block" });
  expect(blocked.reason).not.toContain("older than");
  await project.edit("a.ts", fine);
  expect(await project.stop({ prompt_id: "p2" })).toEqual(GO);
});
