import { eventually, NEOVIMS } from "#test";
import { Attached, type WireDelta } from "./attached";

/** A push arrives within 50 ms, unless it is expensive. */
const afterPush = () => Bun.sleep(150);

describe.each(NEOVIMS)("$name", (version) => {
  const start = () => Attached.start({ version, ui: { width: 120, height: 40 } });
  /** All changes so far, requested or pushed. */
  const sync = async (a: Attached): Promise<WireDelta> => {
    const answer = await a.call<WireDelta>("sync");
    return Object.assign({}, ...a.pushed.splice(0), answer);
  };

  test("merges pushes, and sends nothing without a change", async () => {
    await using a = await start();
    await a.edit(a.file("main.lua", "one\n"));
    await a.attach();
    await sync(a);
    await a.nvim.type("oline<Esc>".repeat(30));
    await eventually("the last push", () =>
      expect(a.pushed.at(-1)?.buffers).toMatchObject([{ lines: 31, modified: true }]),
    );
    expect(a.pushed.length).toBeLessThanOrEqual(2);
    await sync(a);
    await a.nvim.type("axyz<Esc>hjkl");
    await afterPush();
    expect(a.pushed).toEqual([]);
  });

  test("runs nothing before attach, and nothing after detach", async () => {
    await using a = await start();
    expect(await a.nvim.lua("return not require('port').is_loaded('dispatcher')")).toBe(true);
    await a.attach();
    await a.nvim.lua('require("port").channel.detach()');
    a.pushed.length = 0;
    await a.edit(a.file("main.lua", "one\n"));
    await afterPush();
    expect(a.pushed).toEqual([]);
    const left = `local group = vim.api.nvim_create_augroup("claude-code.state", { clear = false })
      return #vim.api.nvim_get_autocmds({ group = group })`;
    expect(await a.nvim.lua(left)).toBe(0);
    expect((await a.answer("sync")).error?.message).toBe("not attached");
  });

  test("counts columns by the text on disk if a file is not loaded", async () => {
    await using a = await start();
    const path = a.file("far.lua", "ää x\r\n");
    await a.attach();
    const item = `{ lnum = 0, col = 5, end_lnum = 0, end_col = 6, message = "m", severity = 1 }`;
    const set = `vim.diagnostic.set(vim.api.nvim_create_namespace("t"), vim.fn.bufadd(...), { ${item} })`;
    await a.nvim.lua(set, path);
    expect((await sync(a)).diagnostics).toMatchObject([{ path, items: [{ col: 3, end_col: 4 }] }]);
  });
});
