import { NEOVIMS } from "#test";
import { Attached } from "../attached";

const OLD = Array.from({ length: 200 }, (_, i) => `line ${i + 1}\n`).join("");
const NEW = OLD.replace("line 100\n", "LINE 100\n");
// Diffs have room in place of most windows; room.test.ts tests those that need a tab page.
const UI = { width: 300, height: 90 };
const TERMINAL = "execute 'terminal cat' | let b:claude_code_terminal = v:true";

describe.each(NEOVIMS)("$name", (version) => {
  const opened = (text = OLD) => Attached.opened({ version, ui: UI }, text);
  const closes = async (a: Attached, ...ids: number[]) => {
    expect(await a.call("diff_close", { ids })).toBe(ids.length);
    await a.cleared();
  };

  test("leaves the cursor in the tab page to which the user went", async () => {
    await using a = await opened();
    const before = await a.picture();
    const id = await a.propose(a.main, NEW);
    await a.nvim.command("tabnew");
    await closes(a, id);
    await a.nvim.plays(":tabclose  {tabpagenr('$')} 1");
    const { layout, windows } = before;
    expect(await a.picture()).toMatchObject({ layout, windows });
  });

  test("waits for the end of insert mode in the same file", async () => {
    await using a = await opened();
    await a.nvim.type("ihello");
    await a.propose(a.main, NEW);
    await a.says("waits until you are done here");
    await a.plays(`
      <Space>you     mode i   windows main.txt
      <Esc>:Claude diff<CR>   diffs shown 1
      q              ended rejected   diffs gone   line hello youline 1
    `);
  });

  test("appears beside a window in which the user types", async () => {
    await using a = await opened();
    await a.nvim.command("new notes.txt");
    await a.nvim.type("ihello");
    const id = await a.propose(a.main, NEW);
    await a.says(":Claude diff goes to the proposed change of main.txt");
    await a.plays("!  mode i  line hello!  diffs shown 1");
    await closes(a, id);
    await a.nvim.plays("?<Esc>  line hello!?");
  });

  test("ends insert mode before it closes for the executable", async () => {
    await using a = await opened();
    await a.nvim.type("10G2l");
    const before = await a.picture();
    const id = await a.propose(a.main, NEW);
    await a.nvim.type("ccmine");
    await closes(a, id);
    await a.inMode("n");
    // The text that they typed is in a buffer of its own.
    await a.nvim.command("$bwipeout!");
    expect(await a.picture()).toEqual(before);
  });

  test("closes under a command line, whose command reaches no other buffer", async () => {
    await using a = await opened();
    const id = await a.propose(a.main, NEW);
    await a.nvim.type(":%d");
    await a.call("diff_close", { ids: [id] });
    await a.plays("<CR>  diffs gone  {line('$')} 200");
  });

  test("reports that there is no room at all, and leaves the windows as they were", async () => {
    await using a = await Attached.asNew({ version, ui: { width: 20, height: 12 } });
    const path = a.file("main.txt", OLD);
    await a.nvim.command(`set winheight=9 winminheight=9 | ${TERMINAL}`);
    await a.attach();
    const before = await a.picture();
    const params = { id: 1, client: 1, old_path: path, new_path: path, contents: NEW };
    expect((await a.answer("diff_open", params)).error?.message).toContain("E36");
    expect(await a.picture()).toEqual(before);
    await a.nvim.command("set winminheight=1 winheight=1");
    await a.rejects(await a.propose(path, NEW));
  });

  test("rejects a waiting diff that has no room, and those after it", async () => {
    await using a = await Attached.asNew({ version, ui: { width: 60, height: 12 } });
    await a.nvim.command(`set winheight=9 winminheight=9 | ${TERMINAL}`);
    await a.attach();
    await a.nvim.type(":echo");
    for (const name of ["a.txt", "b.txt"]) await a.propose(a.file(name, OLD), NEW);
    await a.plays("<Esc>  ended rejected rejected  says the change of b.txt was  diffs gone");
  });

  test.each(["autoread", "noautoread"])("reads a file again with '%s'", async (autoread) => {
    for (const unsaved of [false, true]) {
      await using a = await opened("old\n");
      await a.nvim.command(`set ${autoread}`);
      if (unsaved) await a.nvim.lua('vim.api.nvim_buf_set_lines(0, 0, -1, false, { "mine" })');
      const id = await a.proposeAndShow(a.main, "new\r\n");
      // While somebody types in it, the diff stays on screen for a moment after its end.
      await a.nvim.type("ggA!");
      await a.nvim.lua(
        `require("port").accept()
          local file = io.open(..., "wb")
          file:write("new!\\r\\n")
          file:close()`,
        a.main,
      );
      await a.outcome(id);
      await a.plays(`<Ignore>  diffs gone  lines = ${unsaved ? "mine" : "new!"}  mode n`);
    }
  });
});
