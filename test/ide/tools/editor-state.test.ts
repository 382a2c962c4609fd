import { mkdirSync } from "node:fs";
import { type CallError, eventually, needs, onEachNeovim } from "#test";
import { ErrorCode } from "../../../src/jsonrpc/message";
import { fileUri } from "../../../src/lib/file-uri";
import { basename, native } from "../../../src/lib/platform";

interface Tab {
  uri: string;
  isActive: boolean;
  label: string;
  languageId: string;
  isDirty: boolean;
}

interface SelectionAnswer {
  success: boolean;
  text: string;
  filePath: string;
  selection: { start: Place; end: Place };
  message?: string;
}

interface Place {
  line: number;
  character: number;
}

onEachNeovim((session) => {
  beforeEach(() => session.reset());
  const current = () => session.client.json<SelectionAnswer>("getCurrentSelection");
  const latest = () => session.client.json<SelectionAnswer>("getLatestSelection");
  const tabs = async () => (await session.client.json<{ tabs: Tab[] }>("getOpenEditors")).tabs;

  describe("getOpenEditors", () => {
    test("lists files with language, state and a percent-encoded URI", async () => {
      const lua = session.write("a b#1.lua", "return 1\n");
      const plain = session.write("größe%", "x\n");
      await session.edit(lua);
      await session.edit(plain);
      await session.neovim.lua('vim.api.nvim_buf_set_lines(0, 0, 0, false, { "more" })');
      const tab = (path: string, languageId: string, isActive: boolean): Tab => {
        const [label, uri] = [basename(path), fileUri(path)];
        return { label, uri, languageId, isActive, isDirty: isActive };
      };
      const wanted = [tab(lua, "lua", false), tab(plain, "plaintext", true)];
      expect(await tabs()).toEqual(wanted);
    });

    test("leaves out terminals, scratch, unnamed and unlisted buffers; none of them is active", async () => {
      await session.open("file.txt", "x\n");
      await session.neovim.command("new | setlocal buftype=nofile | file scratch");
      await session.neovim.command("new | terminal cat");
      expect((await tabs()).map(({ label, isActive }) => [label, isActive])).toEqual([
        ["file.txt", false],
      ]);
      await session.neovim.lua("vim.bo[vim.fn.bufnr('file.txt')].buflisted = false");
      expect(await tabs()).toEqual([]);
    });

    test("follows :w, :bd and :saveas at once", async () => {
      await session.open("follow.txt", "x\n");
      await session.neovim.lua('vim.api.nvim_buf_set_lines(0, 0, 0, false, { "more" })');
      expect((await tabs())[0]?.isDirty).toBe(true);
      await session.neovim.command("silent write");
      expect((await tabs())[0]?.isDirty).toBe(false);
      await session.neovim.command("silent saveas renamed.txt");
      expect((await tabs()).map((tab) => tab.label)).toContain("renamed.txt");
      await session.neovim.command("bdelete renamed.txt");
      expect((await tabs()).map((tab) => tab.label)).not.toContain("renamed.txt");
      await session.neovim.command("silent! call delete('renamed.txt')");
    });
  });

  describe("getWorkspaceFolders", () => {
    test("gives the working folder, then those of other tab pages, by their real paths", async () => {
      const inner = session.path("tab workspace");
      mkdirSync(inner, { recursive: true });
      await session.neovim.lua(
        "vim.cmd.tabnew(); vim.cmd.tcd({ args = { (...) } }); vim.cmd.tabprevious()",
        inner,
      );
      const root = session.neovim.cwd;
      expect(await session.client.json("getWorkspaceFolders")).toEqual({
        success: true,
        folders: [root, inner].map((path) => ({
          ...{ name: basename(path), uri: fileUri(path), path: native(path) },
        })),
        rootPath: native(root),
      });
    });

    needs("symlinks")("resolves a symlinked working folder", async () => {
      mkdirSync(session.path("target"), { recursive: true });
      const link = session.link(`cwd-${session.neovim.process.pid}`, session.path("target"));
      await session.neovim.lua("vim.cmd.cd({ args = { (...) } })", link);
      const answer = await session.client.json<{ rootPath: string }>("getWorkspaceFolders");
      await session.neovim.lua("vim.cmd.cd({ args = { (...) } })", session.neovim.cwd);
      expect(answer.rootPath).toBe(session.path("target"));
    });
  });

  describe("getCurrentSelection", () => {
    const place = (line: number, character: number): Place => ({ line, character });
    // test/editor/selection/extent.test.ts has each kind.
    test("gives the text, the file and both ends", async () => {
      const path = await session.open("selection.txt", "one\ntwo 日本語 😀 end\n");
      await session.neovim.type("2G0f日v$");
      const selection = { start: place(1, 4), end: place(1, 14) };
      expect(await current()).toEqual({
        ...{ success: true, text: "日本語 😀 end", filePath: native(path), selection },
      });
    });

    test("cuts it at 100,000 bytes, and says so", async () => {
      const line = "ü".repeat(49);
      await session.open("big.txt", `${line}\n`.repeat(3_000));
      await session.neovim.type("ggVG");
      const kept = `${line}\n`.repeat(1_010) + line.slice(0, 5);
      expect(Buffer.byteLength(kept)).toBe(100_000);
      const answer = await current();
      const selection = { start: place(0, 0), end: place(2_999, 49) };
      const filePath = native(session.path("big.txt"));
      const shown = { success: true, text: kept, filePath, selection, truncated: true };
      expect(answer).toEqual(shown);
      await eventually("the selection", async () => expect(await latest()).toEqual(answer));
      const columns = { column_start: 0, column_end: 49, line_start: 1, line_end: 3_000 };
      expect(await session.client.request<object>("editor/selection")).toEqual({
        ...{ active: true, text: kept, start: 1, end: 150_000, truncated: true, ...columns },
      });
    });

    test.each(["terminal cat", "enew | setlocal buftype=nofile"])(
      "is empty in :%s",
      async (command) => {
        await session.neovim.command(command);
        expect(await current()).toEqual({
          success: false,
          message: "No active editor found",
        } as never);
      },
    );
  });

  describe("resources", () => {
    const list = async () =>
      (await session.client.request<{ resources: { name: string }[] }>("resources/list")).resources;
    const read = async (path: string) => {
      const uri = fileUri(path);
      const asked = session.client.request<{ contents: { text: string }[] }>("resources/read", {
        uri,
      });
      return (await asked).contents;
    };
    const sent = () => session.client.notifications("notifications/resources/list_changed").length;
    /** The number of lists that were sent, once no more arrive. */
    const quiet = async () => {
      await eventually("quiet", async () => {
        const before = sent();
        await Bun.sleep(300);
        return sent() === before;
      });
      return sent();
    };

    test("are the open files, read with their unsaved text and byte order mark", async () => {
      const path = await session.open("größe #1.txt", "\uFEFFsaved\r\nlines\r\n");
      expect(await list()).toEqual([
        { uri: fileUri(path), name: "größe #1.txt", mimeType: "text/plain" } as never,
      ]);
      await session.neovim.lua('vim.api.nvim_buf_set_lines(0, 1, 2, false, { "unsaved 日本" })');
      const text = "\uFEFFsaved\r\nunsaved 日本\r\n";
      expect(await read(path)).toEqual([
        { uri: fileUri(path), mimeType: "text/plain", text } as never,
      ]);
    });

    test.each(["", "\n", "\n\n", "\r\n"])(
      "differ for no text and an empty line: %j",
      async (text) => {
        const path = session.write(`empty ${encodeURIComponent(text)}.txt`, text);
        const size = text.replaceAll("\r", "").length;
        const check = async () => {
          expect(await read(path)).toMatchObject([{ text }]);
          const { buffers } = await session.client.request<{ buffers: { uri: string }[] }>(
            "editor/buffers",
          );
          expect(buffers.find(({ uri }) => uri === fileUri(path))).toMatchObject({ size });
        };
        const buf = await session.edit(path);
        await check();
        await session.neovim.command("new");
        await check();
        await session.neovim.command("close");
        // All lines deleted: an empty file again.
        await session.neovim.command(`buffer ${buf} | silent %delete`);
        expect(await read(path)).toMatchObject([{ text: "" }]);
      },
    );

    test("give a big text in parts, and all of it from before or after an edit", async () => {
      const text = (word: string) => `\uFEFF${`${word}\r\n`.repeat(200_000)}end`;
      const path = await session.open("big.txt", text("first"));
      await session.neovim.command("setlocal nofixendofline");
      // On a busy machine the edit takes Neovim longer than we wait for it, so we ask again.
      const readAgain = (): Promise<string | undefined> =>
        read(path).then(
          ([content]) => content?.text,
          (error: CallError) => {
            if (error.code !== ErrorCode.EditorBusy) throw error;
            return readAgain();
          },
        );
      expect(await readAgain()).toBe(text("first"));
      const reading = readAgain();
      await session.neovim.lua(`
        local lines = vim.fn["repeat"]({ "other" }, 200000)
        vim.api.nvim_buf_set_lines(0, 0, 200000, false, lines)`);
      expect([text("first"), text("other")]).toContain((await reading) as string);
      expect(await readAgain()).toBe(text("other"));
      await session.neovim.command("bwipeout!");
    });

    test("are listed once they are loaded, and then announced", async () => {
      const [first, second] = ["args 1.txt", "args 2.txt"].map((name) =>
        session.write(name, "x\n"),
      );
      await session.neovim.lua(
        "vim.cmd.args({ args = vim.tbl_map(vim.fn.fnameescape, { ... }) })",
        first,
        second,
      );
      const listed = async () => (await list()).map(({ name }) => name);
      expect(await listed()).toEqual(["args 1.txt"]);
      expect((await tabs()).map(({ label }) => label)).toEqual(["args 1.txt", "args 2.txt"]);
      const before = await quiet();
      await session.neovim.command("next");
      await eventually("the notification", () => sent() > before);
      expect(await listed()).toEqual(["args 1.txt", "args 2.txt"]);
    });

    test("that are not open are a clear error", async () => {
      const path = session.write("closed.txt", "x\n");
      const error = await read(path).catch((e) => e);
      expect(error.code).toBe(-32002);
      expect(error.message).toContain(fileUri(path));
    });
  });
});
