import { NEOVIMS } from "#test";
import { toolResults } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { edit, read } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal } from "./in-terminal";

/* The genuine CLI edits without asking, and the user has unsaved edits in the file. */
requireNamespace();
describe.each(NEOVIMS)("an edit in $name", (version) => {
  const claude = new InTerminal().inBlock(version, {
    files: { "main.lua": "return 1\n" },
    terminal: 'permission_mode = "acceptEdits"',
  });
  const { lua } = claude;

  test("waits for :w, and Claude learns that it has to read the file again", async () => {
    await claude.begin();
    // The user is there.
    await lua("return vim.api.nvim_input('<C-q>')");
    await lua(
      "vim.fn.bufload('main.lua') vim.fn.setbufline('main.lua', 1, { '-- mine', 'return 1' }) return 1",
    );
    const path = claude.path("main.lua");
    claude.model.script([read(path), edit(path, "return 1", "return 2"), [{ text: "I see." }]]);
    await claude.send("change it");
    const message = () => lua<string>("return require('claude-code').sessions()[1].msg or ''");
    await eventually(async () => (await message()).includes("waits for main.lua"), true);
    expect(await claude.onDisk("main.lua")).toBe("return 1\n");
    await lua(
      "vim.api.nvim_buf_call(vim.fn.bufnr('main.lua'), function() vim.cmd.write() end) return 1",
    );
    await claude.showing(/I see\./);
    const results = claude.model.requests.flatMap(toolResults);
    expect(results.at(-1)).toContain("Read it again");
    expect(await claude.onDisk("main.lua")).toBe("-- mine\nreturn 1\n");
  });

  test("does not wait beside unsaved edits elsewhere, and :w asks nothing", async () => {
    const buffer = "vim.fn.bufnr('main.lua')";
    await lua(`vim.fn.appendbufline(${buffer}, '$', '-- unsaved thought') return 1`);
    const path = claude.path("main.lua");
    const edits = [1, 2, 3, 4].map((n) => edit(path, "-- mine", `-- mine\n-- of Claude ${n}`));
    claude.model.script([read(path), ...edits, [{ text: "All four." }]]);
    await claude.send("grow it");
    await claude.showing(/All four\./);
    const theirs = ["-- mine", ...[4, 3, 2, 1].map((n) => `-- of Claude ${n}`), "return 1"];
    expect(await claude.onDisk("main.lua")).toBe(`${theirs.join("\n")}\n`);
    const both = [...theirs, "-- unsaved thought"];
    await eventually(() => lua<string[]>(`return vim.fn.getbufline(${buffer}, 1, '$')`), both);
    await lua(`vim.api.nvim_buf_call(${buffer}, function() vim.cmd.write() end) return 1`);
    expect(await claude.onDisk("main.lua")).toBe(`${both.join("\n")}\n`);
  });
});
