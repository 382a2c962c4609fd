import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { claims } from "../support/claims";
import { TestClient } from "../support/client";
import { eventually } from "../support/eventually";
import { temporaryFolder } from "../support/neovim";
import { outcomeOf } from "../support/outcome";
import { onNewestNeovim } from "../support/session";
import { openDiff } from "./world";

const NAME = "host.docker.internal";
const SECRET = "nobody-elsewhere-reads-this";
const PROBLEM = `
  local buf = vim.fn.bufadd((...))
  vim.fn.bufload(buf)
  vim.bo[buf].buflisted = true
  local at = { lnum = 0, col = 0, severity = 1, message = "wrong in " .. (...) }
  vim.diagnostic.set(vim.api.nvim_create_namespace("test"), buf, { at })`;

/** A client that comes by a name of the option allowed_hosts, as from Docker Desktop. */
onNewestNeovim(
  (session) => {
    let cli: TestClient;
    let outside: string;
    let secret: string;

    const connect = (name = "claude-code", host = NAME) =>
      TestClient.open(session.lock, name, { Host: `${host}:${session.lock.port}` });
    const open = (client: TestClient, path: string, contents = "proposed\n", name?: string) =>
      openDiff(client, path, contents, name);
    const shown = (path: string) =>
      eventually("the diff", () =>
        session.neovim.lua<boolean>('return require("port").diff_shown(...)', path),
      );
    const bar = () =>
      session.neovim.lua<string>(`
        return table.concat(vim.tbl_map(function(win)
          return vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win }).str
        end, vim.api.nvim_tabpage_list_wins(0)), "|")`);
    const buffers = () =>
      session.neovim.lua<string[]>(
        "return vim.tbl_map(vim.api.nvim_buf_get_name, vim.api.nvim_list_bufs())",
      );
    /** All bytes that the client got. */
    const got = (client: TestClient) => JSON.stringify(client.received);

    beforeEach(async () => {
      await session.reset();
      outside = temporaryFolder();
      secret = join(outside, "secret.txt");
      writeFileSync(secret, `${SECRET}\n`);
      cli = await connect();
    });
    afterEach(() => {
      cli.close();
      rmSync(outside, { recursive: true, force: true });
    });

    test("is let in by its name alone, with the token and without an Origin", async () => {
      const port = session.lock.port;
      const refused: Record<string, string>[] = [
        { Host: `other.example:${port}` },
        { Host: `sub.${NAME}:${port}` },
        { Host: `${NAME}.:${port}` },
        { Host: `[::1]:${port}` },
        { Host: `${NAME}:${port + 1}` },
        { Host: NAME },
        { Host: `${NAME}:${port}`, Origin: `http://${NAME}:${port}` },
        { Host: `${NAME}:${port}`, Origin: "null" },
        { Host: `${NAME}:${port}`, "x-claude-code-ide-authorization": crypto.randomUUID() },
      ];
      for (const headers of refused) {
        expect(await outcomeOf(TestClient.connect(session.lock, headers))).toThrow(/refused/);
      }
      expect(await cli.request("ping")).toEqual({});
      using upper = await connect("claude-code", NAME.toUpperCase());
      expect(await upper.request("ping")).toEqual({});
    });

    test("with the token of the folder to be mounted, whatever Host it names", async () => {
      const folder = join(session.neovim.home, ".local/state/claude-code.nvim/ide");
      const [name = ""] = readdirSync(folder);
      const content = JSON.parse(readFileSync(join(folder, name), "utf8"));
      expect(name).toBe(basename(session.lock.path));
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      expect(content.authToken).toMatch(/^[0-9a-f-]{36}$/);
      expect(content.authToken).not.toBe(session.lock.content.authToken);
      for (const host of ["127.0.0.1", "localhost", NAME]) {
        const Host = `${host}:${session.lock.port}`;
        using client = await TestClient.open({ ...session.lock, content }, "x", { Host });
        expect((await client.call("openFile", { filePath: secret })).isError).toBe(true);
        expect(await outcomeOf(client.call("executeCode", { code: "" }))).toThrow("Unknown tool");
      }
    });

    test("a client that comes by 127.0.0.1 may do what it could", async () => {
      using here = await TestClient.open(session.lock);
      const { tools } = await here.request<{ tools: { name: string }[] }>("tools/list");
      expect(tools.map(({ name }) => name)).toContain("executeCode");
      expect(await here.texts("openFile", { filePath: secret })).toEqual([
        `Opened file: ${secret}`,
      ]);
    });

    test("neither runs code, nor saves, nor asks by the editor's methods", async () => {
      claims("A remote calls a closed list of tools");
      const path = session.write("a.txt", "old\n");
      await session.edit(path);
      await session.neovim.lua('vim.api.nvim_buf_set_lines(0, 0, -1, false, { "unsaved" })');
      const { tools } = await cli.request<{ tools: { name: string }[] }>("tools/list");
      const names = tools.map(({ name }) => name);
      expect(names).toContain("openDiff");
      for (const name of ["executeCode", "saveDocument"]) {
        expect(names).not.toContain(name);
        const code = `open(${JSON.stringify(join(outside, "made"))}, "w")`;
        const answer = await outcomeOf(cli.call(name, { code, filePath: path }));
        expect(answer).toThrow(`Unknown tool: ${name}`);
      }
      for (const method of ["selection", "position", "buffers", "context"]) {
        expect(await outcomeOf(cli.request(`editor/${method}`))).toThrow(/Method not found/);
      }
      expect(existsSync(join(outside, "made"))).toBe(false);
      expect(readFileSync(path, "utf8")).toBe("old\n");
    });

    test("its diff is shown with the name, and accepted it is the client that writes", async () => {
      claims("A remote accepts none of its own edits");
      using other = await connect("another-client");
      for (const client of [cli, other]) {
        const path = session.write("a.txt", "old\n");
        const answer = open(client, path);
        await shown(path);
        expect(await bar()).toContain(`${NAME}: `);
        await session.neovim.type("ggA!<Esc><CR>");
        expect(await answer).toEqual(["FILE_SAVED", "proposed!\n"]);
        expect(readFileSync(path, "utf8")).toBe("old\n");
      }
    });

    test("rejected, it gets its own name of the file or tab", async () => {
      const path = session.write("a.txt", "old\n");
      for (const name of [undefined, "not me: 127.0.0.1"]) {
        const answer = open(cli, path, "new\n", name);
        await shown(path);
        expect(await bar()).not.toContain("not me");
        await session.neovim.type("q");
        expect(await answer).toEqual(["DIFF_REJECTED", name ?? path]);
      }
    });

    test("eight proposals may wait, and no ninth", async () => {
      claims("A remote accepts none of its own edits");
      using further = await connect();
      const path = (n: number) => session.write(`waiting/${n}.txt`, "old\n");
      const waiting = Array.from({ length: 8 }, (_, n) => open(n < 4 ? cli : further, path(n)));
      const count = () => session.neovim.lua<number>('return require("port").diff_count()');
      await eventually("all of them", async () => (await count()) === 8);
      expect(await outcomeOf(open(cli, path(8)))).toThrow(
        `8 proposals of ${NAME} wait for the user already`,
      );
      expect(await cli.texts("closeAllDiffTabs")).toEqual(["closed 4 diff tabs"]);
      const another = open(cli, path(9));
      await cli.texts("closeAllDiffTabs");
      expect((await another)[0]).toBe("DIFF_REJECTED");
      further.close();
      expect(await outcomeOf(Promise.all(waiting))).toThrow("connection closed");
    });

    const calls: [string, (path: string) => Record<string, unknown>][] = [
      [
        "openDiff",
        (path) => ({ old_file_path: path, new_file_path: path, new_file_contents: "x" }),
      ],
      ["openFile", (path) => ({ filePath: path })],
      ["getDiagnostics", (path) => ({ uri: `file://${path}` })],
      ["checkDocumentDirty", (path) => ({ filePath: path })],
    ];
    describe.each(calls)("%s", (tool, args) => {
      const foreign: [string, () => string][] = [
        ["a file outside of the workspace", () => secret],
        ["dots", () => `${session.neovim.cwd}/a/../../${outside.split("/").at(-1)}/secret.txt`],
        ["a link that leads out", () => link("link.txt", secret)],
        ["a folder that leads out", () => join(link("folder", outside), "secret.txt")],
        ["a new file in such a folder", () => join(link("folder", outside), "new.txt")],
        ["a link to what is not there", () => link("nowhere", join(outside, "made"))],
        ["the folder around the workspace", () => dirname(session.neovim.cwd)],
        ["a folder with the same beginning", () => `${session.neovim.cwd}-other/a.txt`],
        ["a relative path", () => "a.txt"],
        ["another root", () => "C:\\Windows\\win.ini"],
        ["the lock file", () => session.lock.path],
      ];
      test.each(foreign)("of %s: nothing of it comes, and nothing happens", async (_name, find) => {
        claims("A remote sees only the folders that are shared");
        const path = find();
        const before = await buffers();
        const from = cli.received.length;
        const answer = await cli.call(tool, args(path));
        expect(answer.isError).toBe(true);
        expect(answer.content[0]?.text).toContain("The file is in no folder");
        expect(await buffers()).toEqual(before);
        expect(JSON.stringify(cli.received.slice(from))).not.toContain(SECRET);
      });

      function link(name: string, target: string): string {
        rmSync(session.path(name), { force: true });
        return session.link(name, target);
      }
    });

    test("a URI is read as it will be, encoded twice or not", async () => {
      session.link("a%20b", outside);
      session.write("a b/in.txt", "in\n");
      await session.neovim.lua(PROBLEM, secret);
      const uris = [
        `file://${session.neovim.cwd}/a%20b/secret.txt`,
        `file://${session.neovim.cwd}/%2e%2e/%2e%2e${secret}`,
        `file://${session.neovim.cwd}/a%2520b/secret.txt`,
        "file:///",
        "https://example.com/",
        "untitled:Untitled-1",
      ];
      for (const uri of uris) {
        const { content } = await cli.call("getDiagnostics", { uri });
        expect(JSON.stringify(content)).not.toContain("wrong in");
      }
    });

    test("what is outside of the workspace is in no list", async () => {
      claims("A remote sees only the folders that are shared");
      const inside = session.write("inside.lua", "return {}\n");
      const planted = session.link("planted.txt", secret);
      for (const path of [secret, inside]) await session.neovim.lua(PROBLEM, path);
      await session.edit(planted);
      await eventually("the diagnostics", async () => {
        const files = await cli.json<{ uri: string }[]>("getDiagnostics");
        return files.length > 0 && files.every(({ uri }) => uri === `file://${inside}`);
      });
      const { tabs } = await cli.json<{ tabs: { uri: string }[] }>("getOpenEditors");
      expect(tabs.map(({ uri }) => uri)).toEqual([`file://${inside}`]);
      const { resources } = await cli.request<{ resources: { uri: string }[] }>("resources/list");
      expect(resources.map(({ uri }) => uri).sort()).toEqual([
        `file://${inside}`,
        "rejection:reason",
      ]);
      for (const path of [secret, planted]) {
        const uri = `file://${path}`;
        expect(await outcomeOf(cli.request("resources/read", { uri }))).toThrow("no folder");
      }
      const comments = cli.request("resources/read", { uri: "review:comments" });
      expect(await outcomeOf(comments)).toThrow("no folder");
      expect(got(cli)).not.toContain(outside);
      expect(got(cli)).not.toContain(SECRET);
    });

    test.each(["edit", "checktime"])(
      "a text that :%s read by a link that led out stays out",
      async (read_again) => {
        claims("No symlink leads a remote out of them");
        const path = session.write("swapped.txt", "own\n");
        const uri = `file://${path}`;
        await session.edit(path);
        await eventually("the file", () => lastOf(cli).filePath === path);
        // The remote swaps the file, Neovim reads it again, and the remote swaps it back.
        rmSync(path);
        symlinkSync(secret, path);
        await session.neovim.command(read_again);
        rmSync(path);
        session.write("swapped.txt", "own\n");
        await session.neovim.lua(PROBLEM, path);
        await session.neovim.type("V");
        using here = await TestClient.open(session.lock);
        await eventually("another client", () => lastOf(here)?.text.startsWith(SECRET));
        const read = () => outcomeOf(cli.request("resources/read", { uri }));
        // Nothing, or of what the file holds again, once Neovim has read that.
        for (const tool of ["getCurrentSelection", "getLatestSelection", "getDiagnostics"])
          await cli.json(tool);
        await session.neovim.type("<Esc>");
        await read(); // Refused, or what the file holds again.
        expect(got(cli)).not.toContain(SECRET);
        expect(got(cli)).not.toContain(outside);
        await session.neovim.command("edit");
        await cli.json("getOpenEditors");
        expect((await read())()).toEqual({
          contents: [{ uri, mimeType: "text/plain", text: "own\n" }],
        });
      },
    );

    test("a selection that leaves the workspace is taken back once, and nothing more is sent", async () => {
      const inside = session.write("inside.lua", "return {}\n");
      await session.edit(inside);
      await eventually("the selection", () => lastOf(cli).filePath === inside);
      const count = () => cli.notifications("selection_changed").length;
      await session.edit(secret);
      await eventually("none", () => lastOf(cli).filePath === "");
      expect(lastOf(cli)).toMatchObject({ text: "", fileUrl: "" });
      const before = count();
      await session.neovim.type("Vj<Esc>");
      // A client that sees all has got it by then.
      using here = await TestClient.open(session.lock);
      await eventually("another client", () => lastOf(here)?.filePath === secret);
      expect(await cli.json("getCurrentSelection")).toMatchObject({ success: false });
      expect(await cli.json("getLatestSelection")).toMatchObject({ success: false });
      expect(count()).toBe(before);
      expect(got(cli)).not.toContain(outside);
      expect(got(cli)).not.toContain(SECRET);
    });

    test("the workspace is followed: what :cd leaves is seen no more", async () => {
      const inside = session.write("inside.lua", "return {}\n");
      const folder = await cli.json<{ rootPath: string }>("getWorkspaceFolders");
      expect(folder.rootPath).toBe(session.neovim.cwd);
      await session.neovim.command(`cd ${outside}`);
      try {
        await eventually("the other workspace", async () => {
          const { rootPath } = await cli.json<{ rootPath: string }>("getWorkspaceFolders");
          return rootPath === outside;
        });
        expect((await cli.call("openFile", { filePath: inside })).isError).toBe(true);
        expect(await cli.texts("openFile", { filePath: secret })).toEqual([
          `Opened file: ${secret}`,
        ]);
      } finally {
        await session.neovim.command(`cd ${session.neovim.cwd}`);
      }
    });

    test("a folder of a language server that a symlink leads out becomes no workspace", async () => {
      const root = session.path("package");
      mkdirSync(root);
      await session.edit(session.write("package/a.lua", "return {}\n"));
      await session.neovim.lua(
        `vim.lsp.start({
          name = "folders", root_dir = (...),
          cmd = function(dispatchers)
            return {
              request = function(_, _, callback) callback(nil, { capabilities = {} }) return true, 1 end,
              notify = function() return true end,
              is_closing = function() return false end,
              terminate = function() dispatchers.on_exit(0, 0) end,
            }
          end,
        })`,
        root,
      );
      await eventually("its folder", async () => {
        const { folders } = await cli.json<{ folders: object[] }>("getWorkspaceFolders");
        return folders.length === 2;
      });
      rmSync(root, { recursive: true });
      symlinkSync(outside, root);
      await session.neovim.command("tabnew | tabclose");
      await eventually("the workspace", async () => {
        const { folders } = await cli.json<{ folders: { path: string }[] }>("getWorkspaceFolders");
        return Bun.deepEquals(
          folders.map(({ path }) => path),
          [session.neovim.cwd],
        );
      });
      expect((await cli.call("openFile", { filePath: secret })).isError).toBe(true);
      rmSync(root);
    });

    test("opens files to be seen, and loads none behind the user's back", async () => {
      const path = session.write("seen.lua", "return {}\n");
      const hidden = await cli.call("openFile", { filePath: path, makeFrontmost: false });
      expect(hidden.isError).toBe(true);
      expect(await buffers()).not.toContain(path);
      expect(await cli.texts("openFile", { filePath: path })).toEqual([`Opened file: ${path}`]);
    });

    test.each(["afterwards", "at once"])(
      "nothing comes of a symlink that takes a file's place while it is opened, and goes %s",
      async (when) => {
        claims("No symlink leads a remote out of them");
        const path = session.write("raced.txt", "mine\n");
        await session.neovim.lua(
          `local path, secret, at_once = ...
           local kept = path .. ".kept"
           local function back()
             os.remove(path)
             assert(os.rename(kept, path))
           end
           vim.api.nvim_create_autocmd("BufReadPre", {
             pattern = path,
             once = true,
             callback = function()
               os.rename(path, kept)
               assert(vim.uv.fs_symlink(secret, path))
             end,
           })
           _G.BACK = back
           _G.ON_READ = at_once and back or nil`,
          path,
          secret,
          when === "at once",
        );
        expect((await cli.call("openFile", { filePath: path })).isError).toBe(true);
        await session.neovim.lua("_G.ON_READ = nil");
        if (when === "afterwards") await session.neovim.lua("_G.BACK()");
        expect(await buffers()).not.toContain(path);
        const uri = `file://${path}`;
        expect(await outcomeOf(cli.request("resources/read", { uri }))).toThrow();
        expect(got(cli)).not.toContain(SECRET);
      },
    );

    test("closes its own diffs, and no buffer by its name", async () => {
      const path = session.write("open.txt", "text\n");
      await session.edit(path);
      await session.neovim.command("enew");
      for (const name of [path, "open.txt"]) {
        expect(await cli.texts("close_tab", { tab_name: name })).toEqual(["TAB_CLOSED"]);
      }
      expect(await session.neovim.lua("return vim.fn.bufloaded((...))", path)).toBe(1);
    });

    test("a mention of what it may not see waits for a client that may", async () => {
      const inside = session.write("inside.lua", "return {}\n");
      // Its handshake is over.
      await cli.request("ping");
      await session.neovim.lua('require("claude-code").mention({ { path = (...) } })', secret);
      await session.neovim.lua('require("claude-code").mention({ { path = (...) } })', inside);
      const mentions = (client: TestClient) =>
        client.notifications<{ filePath: string }>("at_mentioned").map(({ filePath }) => filePath);
      await eventually("the mention", () => mentions(cli).includes(inside));
      expect(mentions(cli)).toEqual([inside]);
      expect(mentions(session.client)).toEqual([secret]);
      expect(got(cli)).not.toContain(outside);
    });

    test("its word for its process is not believed", async () => {
      cli.notify("ide_connected", { pid: session.neovim.process.pid });
      await cli.request("ping");
      const clients = () => session.neovim.lua<object[]>("return require('port').server.clients");
      await eventually("the client", async () =>
        expect(await clients()).toContainEqual(
          expect.objectContaining({ name: "claude-code", remote: NAME }),
        ),
      );
      expect(JSON.stringify((await clients()).at(-1))).not.toContain('"pid"');
      const status = () => session.neovim.lua<string[]>("return require('port').status.lines()");
      expect((await status()).join("\n")).toContain(`claude-code 1.0.0 at ${NAME}, contained`);
      using _other = await connect(`other\n\x1b[31m${"x".repeat(10_000)}`);
      await eventually("the other one", async () =>
        expect((await status()).find((line) => line.includes("other"))).toMatch(
          /other <1b>\[31mx{50,100}… 1\.0\.0 at/,
        ),
      );
    });

    test("messages that are wrong get an error, and the connection lives", async () => {
      const errors: [unknown, number][] = [
        ["{nonsense", -32700],
        [[{ jsonrpc: "2.0", id: 1, method: "ping" }], -32600],
        [{ jsonrpc: "2.0", id: 1, method: "no/such" }, -32601],
        [{ jsonrpc: "2.0", id: 1, method: "constructor" }, -32601],
        [{ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "toString" } }, -32602],
        [{ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "openFile" } }, -32602],
      ];
      for (const [message, code] of errors) {
        const from = cli.received.length;
        cli.send(message);
        const answer = await cli.message((one) => one.error !== undefined, from);
        expect(answer.error?.code).toBe(code);
      }
      const deep = "[".repeat(100_000) + "]".repeat(100_000);
      cli.send(
        `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${deep}}}`,
      );
      const from = cli.received.length;
      for (let id = 1_000; id < 1_010; id++) {
        const params = `{"name":"openDiff","arguments":{"new_file_contents":${deep}}}`;
        cli.send(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`);
      }
      await cli.request("ping");
      expect(JSON.stringify(cli.received.slice(from))).not.toContain("proposals");
      const answer = await outcomeOf(cli.call("openFile", { filePath: 7 }));
      expect(answer as () => never).toThrow(/filePath/);
      expect(await cli.request("ping")).toEqual({});
    });

    function lastOf(client: TestClient) {
      return client
        .notifications<{ filePath: string; text: string; fileUrl: string }>("selection_changed")
        .at(-1) as { filePath: string; text: string; fileUrl: string };
    }
  },
  {
    setup: `{ allowed_hosts = { "${NAME}" }, execute_code = { enabled = true } }`,
    // Once a file is read, and before the plugin learns of it.
    args: ["--cmd", "autocmd BufReadPost * lua if _G.ON_READ then _G.ON_READ() end"],
  },
);
