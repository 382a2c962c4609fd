import { eventually, NEOVIMS } from "#test";
import { Attached } from "../attached";

const OLD = "one\ntwo\nthree\n";
const NEW = "one\n2\nthree\nfour\n";
const UI = { width: 120, height: 40 };

/** Each way in which the user, or something else, ends a diff. */
const ENDINGS = [
  ["<CR>", "accepted"],
  // Undo does not go back beyond the proposal.
  ["uuu<CR>", "accepted"],
  ["<C-w>h<CR>", "accepted"],
  ["q", "rejected"],
  ["<C-w>hq", "rejected"],
  ["ZZ", "accepted"],
  ["ZQ", "rejected"],
  [":w<CR>", "accepted"],
  [":wq<CR>", "accepted"],
  [":x<CR>", "accepted"],
  [":up<CR>", "accepted"],
  [":silent w!<CR>", "accepted"],
  [":Claude diff accept<CR>", "accepted"],
  [":Claude diff reject<CR>", "rejected"],
  [":q<CR>", "rejected"],
  [":q!<CR>", "rejected"],
  [":close<CR>", "rejected"],
  ["<C-w>c", "rejected"],
  ["<C-w>q", "rejected"],
  ["<C-w>h:q<CR>", "rejected"],
  ["<C-w>h:close<CR>", "rejected"],
  [":noautocmd close<CR>", "rejected"],
] as const;

describe.each(NEOVIMS)("$name", (version) => {
  /** A window that takes another one's place has its own number. */
  const seen = async (a: Attached) => {
    const { mode, buffers, windows } = await a.picture();
    return { mode, buffers, windows: windows.map(({ win, ...more }) => more) };
  };

  describe.each(["vertical", "inline", "tab"])("%s", (layout) => {
    const more = "more\n".repeat(90);
    // Without events the user's own window is closed in the inline layout.
    const possible = ENDINGS.filter(([keys]) => layout !== "inline" || !keys.includes("noautocmd"));
    test.each(possible)("%s: %s, once", async (keys, outcome) => {
      await using a = await Attached.opened({ version, ui: UI }, OLD + more);
      await a.diffLayout(layout);
      // Neovim does not close its last window this way.
      if (layout === "inline" && /close|<C-w>c/.test(keys)) await a.nvim.command("bel split b");
      await a.nvim.type("<C-w>t60Gzt");
      const before = await seen(a);
      const id = await a.propose(a.main, NEW + more);
      await a.nvim.type(keys);
      expect(await a.outcome(id)).toEqual({ id, outcome });
      await a.cleared();
      expect(a.ended.length).toBe(1);
      expect(await seen(a)).toEqual(before);
      expect(`${(await a.lines()).join("\n")}\n`).toBe(OLD + more);
      expect(await a.nvim.lua("return { vim.bo.modified, vim.v.errmsg }")).toEqual([false, ""]);
    });
  });

  test("sends no diff_ended when the executable closes it", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    const id = await a.propose(a.main, NEW);
    expect(await a.call("diff_close", { ids: [id, 99] })).toBe(1);
    expect(await a.call("diff_close", { ids: [id] })).toBe(0);
    await a.cleared();
    expect(a.ended).toEqual([]);
  });

  test.each([
    ["<Cmd>qa<CR>", "E162"],
    ["<Cmd>wqa<CR>", ":qa! ends Neovim"],
  ])("%s: Neovim refuses, and the diff stays as it is; :qa! rejects it", async (keys, word) => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    const id = await a.propose(a.main, NEW);
    await a.nvim.command(`nnoremap <F2> ${keys}`);
    await eventually("its bar", async () =>
      expect(JSON.stringify(await a.picture())).toContain("hunk 1/2"),
    );
    const before = await a.picture();
    await a.nvim.type("<F2>");
    await eventually("its refusal", async () => {
      await a.nvim.type("<Esc>");
      const messages = await a.nvim.command("messages");
      expect(messages).toContain(word);
      expect(messages).toContain("leaving rejects a proposed change, which waits for your answer");
    });
    await eventually("all as before", async () => expect(await a.picture()).toEqual(before));
    expect(a.ended).toEqual([]);
    a.nvim.request("nvim_input", [":qa!<CR>"]).catch(() => {});
    expect((await a.outcome(id)).outcome).toBe("rejected");
  });
});

describe.each(NEOVIMS)("$name, with a reason", (version) => {
  async function proposed(): Promise<Attached> {
    const a = await Attached.opened({ version, ui: UI }, "one\n");
    await a.propose(a.main, "two\n");
    return a;
  }

  const ways = [
    "Q  too clever <CR>",
    "<C-w>hQtoo clever<CR>",
    ":Claude diff reject too clever<CR>",
  ];
  test.each(ways)("%s sends the reason with the rejection", async (keys) => {
    await using a = await proposed();
    await a.nvim.lua(`vim.api.nvim_create_autocmd("User", { pattern = "ClaudeCodeDiffRejected",
        once = true, callback = function(args) REASON = args.data.reason end })`);
    await a.nvim.type(keys);
    const end = { id: a.last, outcome: "rejected", reason: "too clever" };
    expect(await a.outcome(a.last)).toEqual(end as never);
    expect(await a.nvim.lua<string>("return REASON")).toBe("too clever");
    await a.cleared();
  });

  test.each(["Qtoo<Esc>", "Q <CR>"])("%s decides nothing", async (keys) => {
    await using a = await proposed();
    await a.plays(`
      ${keys}   says the change of main.txt still waits: you gave no reason   ended =
      q         ended = rejected
    `);
  });

  test("sends nothing twice, and reports a reason that comes too late", async () => {
    await using a = await proposed();
    const input = "INPUT = vim.ui.input vim.ui.input = function(_, done) ANSWER = done end";
    await a.nvim.lua(input);
    await a.nvim.type("Q");
    expect(await a.call("diff_close", { ids: [a.last] })).toBe(1);
    await a.nvim.lua("vim.ui.input = INPUT ANSWER('too late')");
    await a.says("Claude did not receive: too late");
    expect(a.ended).toEqual([]);
  });
});
