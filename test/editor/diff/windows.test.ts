import { eventually, NEOVIMS } from "#test";
import { Attached } from "../attached";

const OLD = Array.from({ length: 200 }, (_, i) => `line ${i + 1}\n`).join("");
const NEW = OLD.replace("line 100\n", "LINE 100\n");
// Room for diffs in the place of most windows; room.test.ts has those that need a tab page.
const UI = { width: 300, height: 90 };

describe.each(NEOVIMS)("$name", (version) => {
  test("a float that was open before and has gone since: sizes come back all the same", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    await a.nvim.command("botright split other.txt | vsplit third.txt | wincmd t");
    await a.nvim.command("resize 9 | wincmd b | vertical resize 31 | wincmd t");
    const before = await a.picture();
    const float = await a.nvim.lua(`
      return vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false,
        { relative = "editor", row = 2, col = 2, width = 20, height = 3 })`);
    const id = await a.propose(a.main, NEW);
    await a.nvim.lua("vim.api.nvim_win_close(..., true)", float);
    await a.rejects(id);
    const sizes = (picture: typeof before) =>
      picture.windows.map(({ win, width, height }) => ({ win, width, height }));
    expect(sizes(await a.picture())).toEqual(sizes(before));
  });

  test("others get an event for each buffer that goes, to forget what they kept of it", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    await a.nvim.lua(`
      WIPED = {}
      vim.api.nvim_create_autocmd("BufWipeout", {
        callback = function(args) table.insert(WIPED, args.buf) end,
      })`);
    const id = await a.propose(a.main, NEW);
    const ours = await a.nvim.lua<number[]>(`
      return vim.tbl_filter(function(buf)
        return vim.startswith(vim.api.nvim_buf_get_name(buf), "claude-code://")
      end, vim.api.nvim_list_bufs())`);
    expect(ours).toHaveLength(2);
    await a.rejects(id);
    expect(await a.nvim.lua("table.sort(WIPED) return WIPED")).toEqual(ours);
  });

  test("the user went to another tab page: the focus stays there", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    const before = await a.picture();
    const id = await a.propose(a.main, NEW);
    await a.nvim.command("tabnew");
    const tab = await a.nvim.lua("return vim.api.nvim_get_current_tabpage()");
    await a.call("diff_close", { ids: [id] });
    await a.cleared();
    expect(await a.nvim.lua("return vim.api.nvim_get_current_tabpage()")).toBe(tab);
    await a.nvim.command("tabclose");
    const after = await a.picture();
    expect(after.layout).toEqual(before.layout);
    expect(after.windows).toEqual(before.windows);
  });

  test("insert mode: a diff of that very file waits, and shows afterwards", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    await a.nvim.type("ihello");
    const id = await a.propose(a.main, NEW);
    await a.nvim.type(" you");
    expect(await a.mode()).toBe("i");
    expect(await a.nvim.lua("return #vim.api.nvim_tabpage_list_wins(0)")).toBe(1);
    await a.nvim.type("<Esc>");
    await a.says("waits until you are done here");
    await a.nvim.command("Claude diff");
    await a.shown();
    await a.rejects(id);
    expect(await a.nvim.lua("return vim.api.nvim_get_current_line()")).toBe("hello youline 1");
  });

  test("insert mode in another window: the diff shows, the typing goes on", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    await a.nvim.command("new notes.txt");
    await a.nvim.type("ihello");
    const id = await a.propose(a.main, NEW);
    await a.shown();
    await a.says(":Claude diff goes to the proposed change of main.txt");
    await a.nvim.type(" you");
    expect(await a.nvim.lua("return vim.api.nvim_get_current_line()")).toBe("hello you");
    expect(await a.mode()).toBe("i");
    await a.call("diff_close", { ids: [id] });
    await a.cleared();
    await a.nvim.type("!<Esc>");
    expect(await a.nvim.lua("return vim.api.nvim_get_current_line()")).toBe("hello you!");
  });

  test("closed by the executable while the user edits the proposal: insert mode ends first", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    await a.nvim.type("10G2l");
    const before = await a.picture();
    const id = await a.propose(a.main, NEW);
    await a.nvim.type("ccmine");
    await a.call("diff_close", { ids: [id] });
    await a.cleared();
    await a.inMode("n");
    // The text that they typed is in a buffer of its own.
    await a.nvim.command("$bwipeout!");
    expect(await a.picture()).toEqual(before);
  });

  test("closed by the executable under a command line: the command reaches no other buffer", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    const buf = await a.nvim.lua("return vim.api.nvim_get_current_buf()");
    const id = await a.propose(a.main, NEW);
    await a.nvim.type(":%d");
    await a.call("diff_close", { ids: [id] });
    await a.nvim.type("<CR>");
    await a.cleared();
    expect(await a.nvim.lua("return vim.api.nvim_buf_line_count(...)", buf)).toBe(200);
  });

  test("no room at all: an error, and the windows as they were", async () => {
    await using a = await Attached.asNew({ version, ui: { width: 20, height: 12 } });
    const path = a.file("main.txt", OLD);
    await a.nvim.command("terminal cat");
    await a.nvim.command("let b:claude_code_terminal = v:true");
    await a.nvim.command("set winheight=9 winminheight=9");
    await a.attach();
    const before = await a.picture();
    const params = { id: 1, client: 1, old_path: path, new_path: path, contents: NEW };
    expect((await a.answer("diff_open", params)).error?.message).toContain("E36");
    expect(await a.picture()).toEqual(before);
    await a.nvim.command("set winminheight=1 winheight=1");
    const id = await a.propose(path, NEW);
    await a.rejects(id);
  });

  test("no room for one that had to wait: it and those behind it are answered", async () => {
    await using a = await Attached.asNew({ version, ui: { width: 60, height: 12 } });
    const paths = ["a.txt", "b.txt"].map((name) => a.file(name, OLD));
    await a.nvim.command("terminal cat");
    await a.nvim.command("let b:claude_code_terminal = v:true | set winheight=9 winminheight=9");
    await a.attach();
    await a.nvim.type(":echo");
    const ids = [];
    for (const path of paths) ids.push(await a.propose(path, NEW));
    await a.nvim.type("<Esc>");
    for (const id of ids) expect((await a.outcome(id)).outcome).toBe("rejected");
    await a.says("the change of b.txt was");
    await a.cleared();
  });

  for (const autoread of ["autoread", "noautoread"]) {
    test(`written before its window is back, '${autoread}': read afresh, nothing is asked`, async () => {
      for (const unsaved of [false, true]) {
        await using a = await Attached.opened({ version, ui: UI }, "old\n");
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
        await a.cleared();
        const text = () => a.nvim.lua<string>("return vim.api.nvim_get_current_line()");
        await eventually("the text", async () => (await text()) === (unsaved ? "mine" : "new!"));
        expect(await a.mode()).toBe("n");
      }
    });
  }

  test("all of a queue closed at once: none flashes up", async () => {
    await using a = await Attached.asNew({ version, ui: UI });
    const paths = ["a.txt", "b.txt", "c.txt"].map((name) => a.file(name, OLD));
    await a.attach();
    const ids = [];
    for (const path of paths) ids.push(await a.propose(path, NEW));
    await a.nvim.lua(`_G.opened = 0
      vim.api.nvim_create_autocmd("User", { pattern = "ClaudeCodeDiffOpened", callback = function() opened = opened + 1 end })`);
    expect(await a.call("diff_close", { ids })).toBe(3);
    await a.cleared();
    expect(await a.nvim.lua("return opened")).toBe(0);
  });
});
