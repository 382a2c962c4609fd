import { chmodSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { claims, eventually, onEachNeovim, outcomeOf, type Session } from "#test";
import { fileUri } from "../../../src/lib/file-uri";
import { platformSkip } from "../../support/platform-skip";

/** Names that are special in patterns, on the command line or in URIs. */
const NAMES = (
  "plain.txt:with space.txt:100%.txt:50%20off.txt:sharp#1.txt:[1].txt:*star?.txt:back\\slash.txt:" +
  "'quoted' \"twice\".txt:$HOME ~tilde.txt:+plus -dash.txt:`tick`|bar.txt:{a,b}.txt:" +
  "größe-日本-😀.txt:e\u0301 decomposed.txt"
).split(":");

/**
 * No permission keeps root from reading a file: Neovim, where it is root, is made to look at files
 * as another user does (setfsuid(2)). Systems other than Linux have no such call.
 */
const AS_NOBODY = `
  if vim.uv.getuid() == 0 then
    assert(vim.uv.os_uname().sysname == "Linux", "this test cannot be run as root here")
    local ffi = require("ffi")
    pcall(ffi.cdef, "int setfsuid(unsigned int)")
    ffi.C.setfsuid(65534)
  end`;
const AS_BEFORE = 'if vim.uv.getuid() == 0 then require("ffi").C.setfsuid(0) end';

onEachNeovim((session) => {
  beforeEach(() => session.reset());
  const lines = () =>
    session.neovim.lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, false)");
  const setLine = (text: string) =>
    session.neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { ... })", text);
  const save = (filePath: string) =>
    session.client.json<{ message: string }>("saveDocument", { filePath });
  const openNames = async () => {
    const { tabs } = await session.client.json<{ tabs: { uri: string }[] }>("getOpenEditors");
    return tabs.map(({ uri }) => decodeURIComponent(uri.slice("file://".length)));
  };
  /** A prompt would block every answer. */
  const expectNoPrompt = async () =>
    expect(await session.neovim.mode()).toMatchObject({ blocking: false });

  test.each(NAMES)("%s is opened, checked, saved and read again", async (name) => {
    claims("A file name is never a pattern, a command or shell code");
    const path = session.write(`names/${name}`, "one\ntwo\n");
    session.write("names/foo1.txt", "a trap for patterns\n");
    const { client, neovim } = session;
    const check = () => client.json("checkDocumentDirty", { filePath: path });
    const closed = { success: false, message: `Document not open: ${path}` };
    expect(await check()).toEqual(closed);
    expect(await client.json("saveDocument", { filePath: path })).toEqual(closed);
    expect(await client.texts("openFile", { filePath: path })).toEqual([`Opened file: ${path}`]);
    expect(await neovim.lua("return vim.api.nvim_buf_get_name(0)")).toBe(path);
    expect(await lines()).toEqual(["one", "two"]);
    const open = { success: true, filePath: path, isUntitled: false };
    expect(await check()).toEqual({ ...open, isDirty: false });
    await setLine("new");
    expect(await check()).toEqual({ ...open, isDirty: true });
    const message = "Document saved successfully";
    const saved = { success: true, filePath: path, saved: true, message };
    expect(await client.json("saveDocument", { filePath: path })).toEqual(saved);
    expect(readFileSync(path, "utf8")).toBe("new\n");
    expect(await neovim.lua("return vim.bo.modified")).toBe(false);
    writeFileSync(path, "outside\n");
    await eventually("it is read again", async () => expect(await lines()).toEqual(["outside"]));
  });

  describe("openFile", () => {
    test("takes a relative path from the workspace", async () => {
      const path = session.write("relative/a.txt", "x\n");
      const answer = await session.client.texts("openFile", { filePath: "relative/a.txt" });
      expect(answer).toEqual([`Opened file: ${path}`]);
    });

    test("without focus loads the file and leaves everything where it is", async () => {
      const shown = session.write("shown.txt", "shown\n");
      const hidden = session.write("hidden.lua", "local a = 1\nreturn a\n");
      await session.edit(shown);
      const before = await layout(session);
      const asked = { filePath: hidden, makeFrontmost: false, startText: "return" };
      const answer = await session.client.json("openFile", asked);
      expect(answer).toEqual({ success: true, filePath: hidden, languageId: "lua", lineCount: 2 });
      expect(await layout(session)).toEqual(before);
      expect(await openNames()).toContain(hidden);
    });

    const selectedText = async () =>
      (await session.client.json<{ text: string }>("getCurrentSelection")).text;

    test.each<[string, Record<string, unknown>]>([
      ["with it inside", { startText: "x\0y", endText: "z" }],
      ["to the end of its line", { startText: "x", selectToEndOfLine: true }],
    ])("selects text with a NUL, %s", async (_name, range) => {
      const path = session.write("nul.txt", `${"a\n".repeat(5000)}x\0y z\n`);
      await session.client.texts("openFile", { filePath: path, ...range });
      await eventually("the selection", async () => (await selectedText()) === "x\0y z");
    });

    test("finds a text far down in a big file, and a long one in a line of equal characters", async () => {
      const far = session.write("far.txt", `${"line\n".repeat(300_000)}here\n`);
      await session.client.texts("openFile", { filePath: far, startText: "line\nhere" });
      await eventually("the selection", async () => (await selectedText()) === "line\nhere");
      const equal = session.write("equal.txt", `${"a".repeat(2_000_000)}b\n`);
      const startText = `${"a".repeat(9_999)}b`;
      await session.client.texts("openFile", { filePath: equal, startText });
      await eventually("the selection", async () => (await selectedText()) === startText);
      const tooLong = { filePath: equal, startText: "a".repeat(10_001) };
      expect(await outcomeOf(session.client.texts("openFile", tooLong))).toThrow("startText");
      await session.neovim.command("bwipeout!");
    });

    const refused: [string, (session: Session) => string][] = [
      ["a missing file", (s) => s.path("no/such/file.txt")],
      ["a folder", (s) => s.neovim.cwd],
      ["a binary file", (s) => s.write("binary.bin", new Uint8Array([1, 0, 2, 0, 255]))],
      ["a device", () => "/dev/zero"],
      [
        "a FIFO",
        (s) => {
          Bun.spawnSync(["mkfifo", s.path("fifo")]);
          return s.path("fifo");
        },
      ],
      ["a name with a newline", (s) => s.path("new\nline.txt")],
      ["a name with NUL", (s) => s.path("nul\0.txt")],
      ["an empty name", () => ""],
    ];
    test.each(refused)("refuses %s and says which", async (_name, path) => {
      claims("Devices, huge files and impossible paths are refused unread");
      const filePath = path(session);
      const named = /[\n\0]/.test(filePath) ? JSON.stringify(filePath) : filePath;
      expect(await session.client.refusal("openFile", { filePath })).toContain(named);
    });

    test("refuses a file that it may not read", async () => {
      const path = session.write("forbidden.txt", "secret\n");
      chmodSync(session.neovim.cwd, 0o711);
      chmodSync(path, 0);
      await session.neovim.lua(AS_NOBODY);
      const why = await session.client.refusal("openFile", { filePath: path });
      await session.neovim.lua(AS_BEFORE);
      expect(why).toStartWith(`${path} cannot be read: `);
      expect(why).toMatch(/permission denied/i);
      expect(await session.neovim.lua("return vim.fn.bufexists(...)", path)).toBe(0);
    });

    const onLinux = process.platform === "linux";
    if (!onLinux) platformSkip("no file that opens and then fails to be read");
    const endless =
      "/proc/self/mem /proc/self/pagemap /proc/kmsg /proc/self/../self/pagemap " +
      "/proc/self/task/self/../../root/proc/kmsg /sys/kernel/notes";
    test.if(onLinux).each(endless.split(" "))("refuses %s without reading it", async (path) => {
      claims("Devices, huge files and impossible paths are refused unread");
      const paths = { old_file_path: path, new_file_path: path };
      const answers = await Promise.all([
        session.client.refusal("openFile", { filePath: path }),
        session.client.refusal("openDiff", { ...paths, new_file_contents: "x", tab_name: "x" }),
      ]);
      for (const why of answers) expect(why).toMatch(/not a regular file|does not exist/i);
    });

    test("refuses a file of 20 GB, even through a link", async () => {
      claims("Devices, huge files and impossible paths are refused unread");
      const { client } = session;
      const big = session.write("big.log", "some text\n");
      truncateSync(big, 20 * 2 ** 30);
      rmSync(session.path("big-link.log"), { force: true });
      const small = session.write("small.txt", "x\n");
      const proposal = { new_file_contents: "y\n", tab_name: "big" };
      for (const path of [big, session.link("big-link.log", big)]) {
        const opened = await client.refusal("openFile", { filePath: path });
        expect(opened).toContain("too big for Claude (20480 MB, at most 64 MB");
        const answers = await Promise.all([
          client.refusal("openDiff", { old_file_path: path, new_file_path: small, ...proposal }),
          client.refusal("openDiff", { old_file_path: small, new_file_path: path, ...proposal }),
        ]);
        for (const why of answers) expect(why).toContain("is too big for a diff (more than 1 MB)");
      }
      rmSync(big);
    });

    test("refuses to read a buffer of more than 10 MB, and goes on", async () => {
      const uri = fileUri(session.write("big.txt", `${"x".repeat(1023)}\n`.repeat(10 * 1024 + 1)));
      await session.neovim.command(`edit ${session.path("big.txt")}`);
      const why = String(await session.client.request("resources/read", { uri }).catch(String));
      expect(why).toContain("big.txt is too big for Claude (11 MB, at most 10 MB are possible)");
      await session.neovim.command("1,1000delete");
      expect(await session.client.request("resources/read", { uri })).toHaveProperty("contents");
      await session.neovim.command("bwipeout!");
    });

    const tooLong: [string, (cwd: string) => string][] = [
      ["4,097 bytes", (cwd) => `${cwd}/`.padEnd(4_097, "a/")],
      ["a megabyte", () => "/q".repeat(500_000)],
      ["a megabyte of dots", (cwd) => `${cwd}${"/.".repeat(500_000)}/a.txt`],
      ["a relative megabyte", () => "a/".repeat(500_000)],
      ["a name of 256 bytes", (cwd) => `${cwd}/${"ü".repeat(128)}`],
    ];
    test.each(tooLong)("refuses a path of %s in every tool", async (_, spell) => {
      claims("Devices, huge files and impossible paths are refused unread");
      const { client, neovim } = session;
      const path = spell(neovim.cwd);
      const paths = { old_file_path: path, new_file_path: path };
      const answers = await Promise.all([
        client.call("openFile", { filePath: path }),
        client.call("saveDocument", { filePath: path }),
        client.call("checkDocumentDirty", { filePath: path }),
        client.call("getDiagnostics", { uri: `file://${path.startsWith("/") ? "" : "/"}${path}` }),
        client.call("close_tab", { tab_name: path }),
        client.call("openDiff", { ...paths, new_file_contents: "x", tab_name: "x" }),
      ]);
      for (const { content } of answers) expect(content[0]?.text).toContain("too long");
    });
  });

  describe("saveDocument", () => {
    test("runs the autocommands of a write, formatters among them", async () => {
      const path = await session.open("format.txt", "a\n");
      await session.neovim.lua(`
        vim.api.nvim_create_autocmd("BufWritePre", { buffer = 0, callback = function(args)
          vim.api.nvim_buf_set_lines(args.buf, 0, -1, false, { "formatted" })
        end })`);
      await save(path);
      expect(readFileSync(path, "utf8")).toBe("formatted\n");
    });

    test("reports a failure, and loses nothing", async () => {
      const path = await session.open("refused.txt", "on disk\n");
      await session.neovim.lua(`
        vim.api.nvim_buf_set_lines(0, 0, -1, false, { "in the buffer" })
        vim.api.nvim_create_autocmd("BufWritePre", { buffer = 0, callback = function()
          error("the linter says no")
        end })`);
      const answer = await save(path);
      expect(answer).toMatchObject({ success: false, filePath: path, saved: false });
      expect(answer.message).toMatch(/refused\.txt was not saved: [^\n]*the linter says no$/);
      expect(readFileSync(path, "utf8")).toBe("on disk\n");
      expect(await lines()).toEqual(["in the buffer"]);
      expect(await session.neovim.lua("return vim.bo.modified")).toBe(true);
    });

    const AFTER: [string, string, string | RegExp][] = [
      [":echoerr", 'echoerr "lint failed"', "lint failed"],
      ["a Lua error", 'lua error("lint failed")', /^E5108:.*lint failed$/],
      ["an error and a change", "call setline(1, 'x') | throw 'lint failed'", "lint failed"],
    ];
    test.each(AFTER)("has saved before %s", async (_, command, said) => {
      const path = await session.open("after.txt", "old\n");
      await session.neovim.command(`autocmd BufWritePost <buffer> ${command}`);
      await setLine("new");
      const answer = await save(path);
      expect(answer).toMatchObject({ success: true, filePath: path, saved: true });
      const prefix = "Document saved, but an autocommand failed after that: ";
      expect(answer.message).toStartWith(prefix);
      expect(answer.message.slice(prefix.length)).toMatch(said);
      expect(readFileSync(path, "utf8")).toBe("new\n");
    });

    test("refuses as close_tab does while the command-line window is open, and says why", async () => {
      const path = await session.open("cmdwin.txt", "old\n");
      await setLine("new");
      const clean = await session.edit(session.write("clean.txt", "x\n"));
      await session.neovim.type("q:");
      writeFileSync(session.path("clean.txt"), "written outside\n");
      const why = "Neovim's command-line window is open; :q closes it";
      const message = `${path} was not saved: ${why}`;
      const failed = { success: false, filePath: path, saved: false, message };
      expect(await save(path)).toEqual(failed);
      const closed = await session.client.refusal("close_tab", { tab_name: "clean.txt" });
      expect(closed).toBe(`clean.txt stays open: ${why}`);
      const reload = 'return require("port").dispatcher.call(...)';
      const params = { path: session.path("clean.txt") };
      expect(await session.neovim.lua(reload, "document_reload", params)).toEqual({});
      await session.neovim.type(":q<CR>");
      const isRead = 'return vim.fn.getbufline(..., 1)[1] == "written outside"';
      await session.neovim.until("the text written outside", isRead, clean);
    });

    test("fails for a 'readonly' buffer, without a prompt", async () => {
      const path = await session.open("readonly.txt", "x\n");
      chmodSync(path, 0o444);
      await session.neovim.command("set confirm | setlocal readonly modified");
      expect(await save(path)).toMatchObject({ success: false, saved: false });
      expect(await session.client.request("ping")).toEqual({});
      await expectNoPrompt();
      await session.neovim.command("set noconfirm");
    });

    const writers: [what: string, text: string, success: boolean][] = [
      ["the same text, as another Neovim does", "mine", true],
      ["another text", "theirs", false],
    ];
    test.each(writers)("does not ask (W12) after a write of %s", async (...row) => {
      const [, text, success] = row;
      const path = await session.open("raced.txt", "first\n");
      await session.neovim.lua(`
        vim.api.nvim_buf_set_lines(0, 0, -1, false, { "mine" })
        vim.api.nvim_create_autocmd("BufWritePre", { buffer = 0, callback = function()
          vim.fn.writefile({ "${text}" }, vim.api.nvim_buf_get_name(0))
        end })`);
      expect(await save(path)).toMatchObject({ success, saved: success });
      expect(readFileSync(path, "utf8")).toBe(`${text}\n`);
      expect(await session.neovim.lua("return vim.bo.modified")).toBe(!success);
      await expectNoPrompt();
    });

    test("refuses a file that is being written, and then counts its text as saved", async () => {
      const path = await session.open("raced.txt", "first\n");
      const saved = await session.neovim.lua<string>(
        `
        local path, call = ..., require("port").dispatcher.call
        vim.api.nvim_buf_set_lines(0, 0, -1, false, { "mine" })
        vim.fn.writefile({}, path)
        local answer = vim.inspect({ call("document_save", { path = path }) })
        vim.fn.writefile({ "mine" }, path)
        return answer`,
        path,
      );
      expect(saved).toContain("changed on disk");
      await session.neovim.until("a saved buffer", "return not vim.bo.modified");
      expect(readFileSync(path, "utf8")).toBe("mine\n");
    });
  });

  describe("close_tab", () => {
    test.each(["name.txt", "sub/[1] #.txt"])("closes %s by its file name", async (name) => {
      await session.open(name, "x\n");
      const label = name.split("/").at(-1);
      expect(await session.client.texts("close_tab", { tab_name: label })).toEqual(["TAB_CLOSED"]);
      expect(await openNames()).toEqual([]);
    });

    test("takes a relative path from the workspace, and closes no namesake", async () => {
      const path = session.write("sub/x.txt", "x\n");
      const namesake = session.write("other/sub/x.txt", "x\n");
      await session.edit(path);
      await session.edit(namesake);
      expect(await session.client.texts("close_tab", { tab_name: "./sub/x.txt" })).toEqual([
        "TAB_CLOSED",
      ]);
      expect(await openNames()).toEqual([namesake]);
    });

    test.each(["\0junk", "\n", "\x7f"])("refuses a name with %j", async (end) => {
      const path = await session.open("kept.txt", "x\n");
      for (const name of [path, "kept.txt"]) {
        const why = await session.client.refusal("close_tab", { tab_name: name + end });
        expect(why).toContain(JSON.stringify(name + end));
      }
      expect(await openNames()).toEqual([path]);
    });

    test("discards no unsaved work", async () => {
      claims("Unsaved work is never discarded");
      await session.open("unsaved.txt", "x\n");
      await setLine("work");
      const why = await session.client.refusal("close_tab", { tab_name: "unsaved.txt" });
      expect(why).toContain("unsaved.txt");
      expect(await lines()).toEqual(["work"]);
    });

    test("accepts a name that nothing has, and is listed without a description", async () => {
      expect(await session.client.texts("close_tab", { tab_name: "nothing" })).toEqual([
        "TAB_CLOSED",
      ]);
      const { tools } = await session.client.request<{ tools: Record<string, unknown>[] }>(
        "tools/list",
      );
      expect(tools.find((tool) => tool.name === "close_tab")).not.toHaveProperty("description");
    });
  });
});

/** Windows, their buffers and views, and the current one. */
function layout(session: Session): Promise<unknown> {
  return session.neovim.lua(`
    local windows = {}
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      windows[#windows + 1] = { win, vim.api.nvim_win_get_buf(win), vim.api.nvim_win_get_cursor(win) }
    end
    return { vim.fn.winlayout(), windows, vim.api.nvim_get_current_win() }`);
}
