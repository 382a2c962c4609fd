import { describe, expect, test } from "bun:test";
import { NEOVIMS, type NeovimVersion } from "../../support/neovim";
import { Attached } from "../attached";

const UI = { width: 120, height: 40 };

for (const version of NEOVIMS) describe(version.name, () => rejectingWithReason(version));

function rejectingWithReason(version: NeovimVersion) {
  async function proposed(start: typeof Attached.start = Attached.asNew) {
    const a = await start({ version, ui: UI });
    const path = a.file("main.txt", "one\n");
    await a.edit(path);
    await a.attach();
    const id = await a.propose(path, "two\n");
    return { a, id };
  }

  test.each([
    ["Q", "Q  too clever <CR>"],
    ["Q on the old side", "<C-w>hQtoo clever<CR>"],
    [":Claude diff reject", ":Claude diff reject too clever<CR>"],
  ])("%s sends the reason with the rejection", async (_, keys) => {
    const { a, id } = await proposed();
    await using _a = a;
    await a.nvim.lua(`
      vim.api.nvim_create_autocmd("User", {
        pattern = "ClaudeCodeDiffRejected",
        callback = function(args) _G.reason = args.data.reason end,
      })`);
    await a.nvim.type(keys);
    expect(await a.outcome(id)).toEqual({ id, outcome: "rejected", reason: "too clever" } as never);
    expect(await a.nvim.lua<string>("return _G.reason")).toBe("too clever");
    await a.cleared();
  });

  test.each([
    ["<Esc>", "Qtoo<Esc>"],
    ["an empty reason", "Q <CR>"],
  ])("%s decides nothing", async (_, keys) => {
    const { a, id } = await proposed();
    await using _a = a;
    await a.nvim.type(keys);
    await a.says("the change of main.txt still waits: you gave no reason");
    expect(a.ended).toEqual([]);
    await a.nvim.type("q");
    expect(await a.outcome(id)).toEqual({ id, outcome: "rejected" });
  });

  test("answered while the reason is typed: nothing is sent twice, and the reason is not lost", async () => {
    const { a, id } = await proposed(Attached.start);
    await using _a = a;
    await a.nvim.lua("vim.ui.input = function(_, answer) _G.answer = answer end");
    await a.nvim.type("Q");
    expect(await a.call("diff_close", { ids: [id] })).toBe(1);
    await a.nvim.lua("_G.answer('too late')");
    await a.says("Claude did not receive: too late");
    expect(a.ended).toEqual([]);
  });

  test("diff.keys.reject_with_reason names other keys", async () => {
    const { a, id } = await proposed();
    await using _a = a;
    await a.rejects(id);
    await a.configure(`{ diff = { keys = { reject_with_reason = "<Space>r" } } }`);
    const second = await a.propose(a.path("main.txt"), "three\n");
    await a.nvim.type("<Space>rno<CR>");
    expect((await a.outcome(second)) as object).toMatchObject({ reason: "no" });
  });
}
