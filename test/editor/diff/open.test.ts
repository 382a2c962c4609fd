import { NEOVIMS, outcomeOf } from "#test";
import { Attached } from "../attached";

/* The option diff.open: whether a proposal moves anything automatically. */
const OLD = "1\n2\n3\n4\n";
const NEW = "1\n2\nthree\n4\n";

describe.each(NEOVIMS)("in $name", (version) => {
  async function start(open: string): Promise<Attached> {
    const a = await Attached.opened({ version, ui: { width: 120, height: 40 } }, OLD);
    await a.configure(`{ diff = { open = "${open}", layout = "inline" } }`);
    return a;
  }

  const signs = async (a: Attached) =>
    (await a.marks("diff.waiting")).map(({ row, sign_text }) => [row + 1, sign_text?.trim()]);

  test('"waits" moves nothing: a message, a word in the status line, a sign in the file, and keys', async () => {
    await using a = await start("waits");
    const before = await a.picture();
    const id = await a.propose(a.main, NEW);
    await a.says("]f or :Claude diff shows a change of main.txt");
    expect(await a.picture()).toEqual(before);
    await a.plays("<Ignore>  {v:lua.require'claude-code'.statusline()} /1 edit waits/");
    expect(await signs(a)).toEqual([[3, "◇"]]);
    await a.nvim.command("edit");
    expect(await signs(a)).toEqual([[3, "◇"]]);
    await a.plays("]f  diffs shown 1");
    await a.accepts(id);
    expect(await signs(a)).toEqual([]);
  });

  test('"waits": shows each of several when asked for, and removes the sign of one that is closed', async () => {
    await using a = await start("waits");
    const [first, second] = [await a.propose(a.main, NEW), await a.propose(a.file("b", OLD), NEW)];
    expect(await a.nvim.lua("return require('port').diff_count()")).toBe(2);
    // There is only one message for diffs that wait together.
    expect((await a.messages()).match(/ shows a change of /g)).toHaveLength(1);
    await a.nvim.command("Claude diff");
    await a.shown();
    await a.accepts(first);
    await a.plays("<Ignore>  diffs wait 1");
    await a.call("diff_close", { ids: [second] });
    await a.edit(a.path("b"));
    expect(await signs(a)).toEqual([]);
  });

  test('"never" leaves it to Claude\'s terminal', async () => {
    await using a = await start("never");
    expect(await outcomeOf(a.propose(a.main, NEW))).toThrow("diff.open");
    expect(await a.nvim.lua("return require('port').diff_count()")).toBe(0);
  });
});
