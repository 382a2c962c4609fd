import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { claims, eventually, onNewestNeovim, outcomeOf, TestClient, temporaryFolder } from "#test";
import { dirname, join } from "../../src/lib/platform";
import { remotesOption } from "../support/remote";
import { STAND_IN, World } from "./world";

/** The project there. No folder here has this path. */
const THERE = "/workspaces/x";
const NAME = "dev";
const SECRET = "nobody-elsewhere-reads-this";
const PROBLEM = `
  local buf = vim.fn.bufadd((...))
  vim.fn.bufload(buf)
  vim.bo[buf].buflisted = true
  local at = { lnum = 0, col = 0, severity = 1, message = "wrong in " .. (...), source = (...) }
  vim.diagnostic.set(vim.api.nvim_create_namespace("test"), buf, { at })`;

const world = new World();
afterAll(() => world[Symbol.dispose]());

onNewestNeovim(
  (session) => {
    let cli: TestClient;
    let outside: string;
    let secret: string;

    const connect = (name = "claude-code") => TestClient.open(world.locks()[0] as never, name);
    const shown = (path: string) =>
      session.neovim.until("the diff", 'return require("port").diff_shown(...)', path);
    const bar = () =>
      session.neovim.lua<string>(`
        return table.concat(vim.tbl_map(function(win)
          return vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win }).str
        end, vim.api.nvim_tabpage_list_wins(0)), "|")`);
    const buffers = () => session.neovim.buffers();
    const setProblem = (path: string) => session.neovim.lua(PROBLEM, path);
    const mention = (path: string) =>
      session.neovim.lua('require("claude-code").mention({ { path = (...) } })', path);
    const mentions = (client: TestClient) =>
      client.notifications<{ filePath: string }>("at_mentioned").map(({ filePath }) => filePath);
    const lastOf = (client: TestClient) =>
      client
        .notifications<{ filePath: string; text: string; fileUrl: string }>("selection_changed")
        .at(-1) as { filePath: string; text: string; fileUrl: string };
    const expectNothing = (client: TestClient) => {
      const got = JSON.stringify(client.received);
      for (const text of [session.neovim.cwd, outside, session.neovim.home, SECRET])
        expect(got).not.toContain(text);
    };

    beforeAll(async () => {
      // Once attached, the executable starts everything again that ran before.
      await session.known();
      await session.neovim.lua(`
        vim.notify = function() end
        local port = require("port")
        port.remote.ensure(port.remote.place(vim.fn.getcwd()), function() end)`);
      await session.neovim.until(
        "the relay",
        `return require("port").remote.report("${NAME}").state == "up"`,
      );
    });
    beforeEach(async () => {
      await session.reset();
      outside = temporaryFolder();
      secret = join(outside, "secret.txt");
      writeFileSync(secret, `${SECRET}\n`);
      cli = await connect();
    });
    afterEach(() => {
      // No path of this machine has left, whatever a test did.
      expectNothing(cli);
      cli.close();
      rmSync(outside, { recursive: true, force: true });
    });

    test("neither runs code, nor saves, nor asks by the editor's methods", async () => {
      claims("A remote calls a closed list of tools");
      const path = session.write("a.txt", "old\n");
      await session.edit(path);
      await session.neovim.lua('vim.api.nvim_buf_set_lines(0, 0, -1, false, { "unsaved" })');
      const { tools } = await cli.request<{ tools: { name: string }[] }>("tools/list");
      const names = tools.map(({ name }) => name);
      expect(names).toContain("openDiff");
      for (const name of ["unknownTool", "saveDocument"]) {
        expect(names).not.toContain(name);
        const code = `open(${JSON.stringify(join(outside, "made"))}, "w")`;
        const answer = await outcomeOf(cli.call(name, { code, filePath: `${THERE}/a.txt` }));
        expect(answer).toThrow(`Unknown tool: ${name}`);
      }
      for (const method of ["selection", "position", "buffers", "context"]) {
        expect(await outcomeOf(cli.request(`editor/${method}`))).toThrow(/Method not found/);
      }
      expect(existsSync(join(outside, "made"))).toBe(false);
      expect(readFileSync(path, "utf8")).toBe("old\n");
    });

    test("shows its diff with the remote's name, and lets it write what is accepted", async () => {
      claims("A remote accepts none of its own edits");
      using other = await connect("another-client");
      for (const client of [cli, other]) {
        const path = session.write("a b/é.txt", "old\n");
        const answer = client.openDiff(`${THERE}/a b/é.txt`, "proposed\n", "tab");
        await shown(path);
        expect(await bar()).toContain(`${NAME}: `);
        await session.neovim.type("ggA!<Esc><CR>");
        expect(await answer).toEqual(["FILE_SAVED", "proposed!\n"]);
        expect(readFileSync(path, "utf8")).toBe("old\n");
      }
    });

    test("answers a rejection with its own name of the file or tab; closes a cancelled diff", async () => {
      const path = session.write("a.txt", "old\n");
      const there = `${THERE}/a.txt`;
      for (const name of [undefined, "not me: 127.0.0.1"]) {
        const answer = cli.openDiff(there, "new\n", name);
        await shown(path);
        expect(await bar()).not.toContain("not me");
        await session.neovim.type("q");
        expect(await answer).toEqual(["DIFF_REJECTED", name ?? there]);
      }
      const paths = { old_file_path: there, new_file_path: there };
      cli.callAs("to-cancel", "openDiff", { ...paths, new_file_contents: "x\n" });
      await shown(path);
      cli.notify("notifications/cancelled", { requestId: "to-cancel" });
      await session.neovim.until("no diff", 'return not require("port").diff_shown(...)', path);
    });

    test("lets eight proposals wait, and no ninth", async () => {
      claims("A remote accepts none of its own edits");
      using further = await connect();
      const path = (n: number) => {
        session.write(`waiting/${n}.txt`, "old\n");
        return `${THERE}/waiting/${n}.txt`;
      };
      const propose = (n: number, client = cli) => client.openDiff(path(n), "proposed\n");
      const waiting = Array.from({ length: 8 }, (_, n) => propose(n, n < 4 ? cli : further));
      const count = () => session.neovim.lua<number>('return require("port").diff_count()');
      await eventually("all of them", async () => (await count()) === 8);
      expect(await outcomeOf(propose(8))).toThrow(
        `8 proposals of ${NAME} wait for the user already`,
      );
      expect(await cli.texts("closeAllDiffTabs")).toEqual(["closed 4 diff tabs"]);
      const another = propose(9);
      await cli.texts("closeAllDiffTabs");
      expect((await another)[0]).toBe("DIFF_REJECTED");
      further.close();
      expect(await outcomeOf(Promise.all(waiting))).toThrow("connection closed");
    });

    test("shows a file here, and names it by its path there", async () => {
      const path = session.write("seen.lua", "return {}\n");
      const filePath = `${THERE}/b/../seen.lua`;
      const hidden = await cli.call("openFile", { filePath, makeFrontmost: false });
      expect(hidden.isError).toBe(true);
      expect(await buffers()).not.toContain(path);
      expect(await cli.texts("openFile", { filePath })).toEqual([`Opened file: ${filePath}`]);
      expect(await session.neovim.lua("return vim.api.nvim_buf_get_name(0)")).toBe(path);
    });

    test("names files in problems as the CLI last spelled them, even in messages", async () => {
      await setProblem(session.write("%41 é.lua", "return {}\n"));
      const uri = `file://${THERE}/./%41 é.lua`;
      const wanted = [
        { uri, diagnostics: [expect.objectContaining({ message: `wrong in ${THERE}/%41 é.lua` })] },
      ];
      await eventually("the problem", async () =>
        expect(await cli.json("getDiagnostics", { uri })).toEqual(wanted),
      );
      expect(await cli.json("getDiagnostics")).toEqual(wanted);
      using other = await connect("another");
      const encoded = [
        { uri: `file://${THERE}/%2541%20%C3%A9.lua`, diagnostics: expect.anything() },
      ];
      expect(await other.json("getDiagnostics")).toEqual(encoded);
      expectNothing(other);
    });

    test("lists only shared files, by their paths there", async () => {
      claims("A remote sees only the folders that are shared");
      const inside = session.write("a b.lua", "return {}\n");
      const planted = session.link("planted.txt", secret);
      for (const path of [secret, inside]) await setProblem(path);
      await session.edit(planted);
      const [path, uri] = [`${THERE}/a b.lua`, `file://${THERE}/a%20b.lua`];
      await eventually("the diagnostics", async () => {
        const files = await cli.json<{ uri: string }[]>("getDiagnostics");
        return files.length > 0 && files.every((one) => one.uri === `file://${path}`);
      });
      const { tabs } = await cli.json<{ tabs: object[] }>("getOpenEditors");
      expect(tabs).toEqual([expect.objectContaining({ uri, label: "a b.lua" })]);
      expect(await cli.json("getWorkspaceFolders")).toEqual({
        success: true,
        folders: [{ name: "x", uri: `file://${THERE}`, path: THERE }],
        rootPath: THERE,
      });
      expect(await cli.json("checkDocumentDirty", { filePath: path })).toMatchObject({
        success: true,
        filePath: path,
      });
      expect(await cli.json("checkDocumentDirty", { filePath: `${THERE}/none` })).toEqual({
        success: false,
        message: `Document not open: ${THERE}/none`,
      });
      const { resources } = await cli.request<{ resources: { uri: string }[] }>("resources/list");
      expect(resources.map((one) => one.uri).sort()).toEqual([uri, "rejection:reason"]);
      expect(resources).toContainEqual({ uri, name: "a b.lua", mimeType: "text/plain" } as never);
      const read = (one: string) => outcomeOf(cli.request("resources/read", { uri: one }));
      expect((await read(uri))()).toEqual({
        contents: [{ uri, mimeType: "text/plain", text: "return {}\n" }],
      });
      expect(await read(`file://${THERE}/none`)).toThrow(`No open buffer for file://${THERE}/none`);
      for (const one of [`file://${secret}`, `file://${THERE}/planted.txt`, "review:comments"])
        expect(await read(one)).toThrow("no folder");
    });

    test.each(["edit", "checktime"])(
      "gives no text that :%s read through a link to the outside",
      async (read_again) => {
        claims("No symlink leads a remote out of them");
        const path = session.write("swapped.txt", "own\n");
        const uri = `file://${THERE}/swapped.txt`;
        await session.edit(path);
        await eventually("the file", () => lastOf(cli).filePath === `${THERE}/swapped.txt`);
        // The remote swaps the file, Neovim reads it again, and the remote swaps it back.
        rmSync(path);
        symlinkSync(secret, path);
        await session.neovim.command(read_again);
        rmSync(path);
        session.write("swapped.txt", "own\n");
        await setProblem(path);
        await session.neovim.type("V");
        using here = await TestClient.open(session.lock);
        await eventually("another client", () => lastOf(here)?.text.startsWith(SECRET));
        const read = () => outcomeOf(cli.request("resources/read", { uri }));
        // Nothing, or a part of the file's restored text, once Neovim has read it.
        for (const tool of ["getCurrentSelection", "getLatestSelection", "getDiagnostics"])
          await cli.json(tool);
        await session.neovim.type("<Esc>");
        await read(); // Refused, or what the file holds again.
        expectNothing(cli);
        await session.neovim.command("edit");
        await cli.json("getOpenEditors");
        expect((await read())()).toEqual({
          contents: [{ uri, mimeType: "text/plain", text: "own\n" }],
        });
      },
    );

    test("takes the selection back when the user leaves the folder", async () => {
      const inside = session.write("inside.lua", "return {}\n");
      await session.edit(inside);
      await eventually("the selection", () => lastOf(cli).filePath === `${THERE}/inside.lua`);
      expect(lastOf(cli).fileUrl).toBe(`file://${THERE}/inside.lua`);
      const latest = await cli.json("getLatestSelection");
      expect(latest).toMatchObject({ filePath: `${THERE}/inside.lua` });
      const count = () => cli.notifications("selection_changed").length;
      await session.edit(secret);
      await eventually("none", () => lastOf(cli).filePath === "");
      expect(lastOf(cli)).toMatchObject({ text: "", fileUrl: "" });
      const before = count();
      await session.neovim.type("Vj<Esc>");
      // A client that sees everything has received it by then.
      using here = await TestClient.open(session.lock);
      await eventually("another client", () => lastOf(here)?.filePath === secret);
      expect(await cli.json("getCurrentSelection")).toMatchObject({ success: false });
      expect(await cli.json("getLatestSelection")).toMatchObject({ success: false });
      expect(count()).toBe(before);
    });

    test("keeps a mention of a file that it may not see for a client that may", async () => {
      const inside = session.write("inside.lua", "return {}\n");
      // Its handshake is over.
      await cli.request("ping");
      await mention(secret);
      await mention(inside);
      await eventually("the mention", () => mentions(cli).length > 0);
      expect(mentions(cli)).toEqual([`${THERE}/inside.lua`]);
      expect(mentions(session.client)).toEqual([secret]);
    });

    test.each(["afterwards", "at once"])(
      "opens no symlink that takes a file's place, and disappears %s",
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
        expect((await cli.call("openFile", { filePath: `${THERE}/raced.txt` })).isError).toBe(true);
        await session.neovim.lua("_G.ON_READ = nil");
        if (when === "afterwards") await session.neovim.lua("_G.BACK()");
        expect(await buffers()).not.toContain(path);
        const uri = `file://${THERE}/raced.txt`;
        expect(await outcomeOf(cli.request("resources/read", { uri }))).toThrow();
      },
    );

    test("closes its own diffs, and does not close buffers by name", async () => {
      const path = session.write("open.txt", "text\n");
      await session.edit(path);
      await session.neovim.command("enew");
      for (const name of [path, "open.txt"]) {
        expect(await cli.texts("close_tab", { tab_name: name })).toEqual(["TAB_CLOSED"]);
      }
      expect(await session.neovim.lua("return vim.fn.bufloaded((...))", path)).toBe(1);
    });

    test("does not believe the process id that it claims", async () => {
      cli.notify("ide_connected", { pid: session.neovim.process.pid });
      await cli.request("ping");
      const clients = () => session.neovim.lua<object[]>("return require('port').server.clients");
      await eventually("the client", async () =>
        expect(await clients()).toContainEqual(
          expect.objectContaining({ name: "claude-code", remote: NAME }),
        ),
      );
      expect(JSON.stringify((await clients()).at(-1))).not.toContain('"pid"');
      const status = () => session.neovim.lua<string[]>("return require('port').status_lines()");
      expect((await status()).join("\n")).toContain(`claude-code 1.0.0 at ${NAME}, contained`);
      using _other = await connect(`other\n\x1b[31m${"x".repeat(10_000)}`);
      await eventually("the other one", async () =>
        expect((await status()).find((line) => line.includes("other"))).toMatch(
          /other <1b>\[31mx{50,100}… 1\.0\.0 at/,
        ),
      );
    });

    test("answers a deeply nested message with an error, and keeps the connection", async () => {
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
    });

    describe("a hostile client", () => {
      const fields: Record<string, string[]> = {
        openDiff: ["old_file_path", "new_file_path", "new_file_contents", "tab_name"],
        openFile: ["filePath", "startText", "endText"],
        getDiagnostics: ["uri"],
        checkDocumentDirty: ["filePath"],
        saveDocument: ["filePath"],
        close_tab: ["tab_name"],
        getCurrentSelection: [],
        getLatestSelection: [],
        getOpenEditors: [],
        getWorkspaceFolders: [],
        closeAllDiffTabs: [],
      };
      /** The parameters of permitted tools that are a path or URI. */
      const isPath = (tool: string, name: string) =>
        /path|uri/i.test(name) && tool !== "saveDocument";

      test("gets nothing through any field of any tool, and changes nothing", async () => {
        claims("A remote sees only the folders that are shared");
        const inside = session.write("inside.lua", "return {}\n");
        const nowhere = join(outside, "made");
        const links = { link: secret, folder: outside, nowhere, "a%20b": outside };
        for (const [name, target] of Object.entries(links)) {
          rmSync(session.path(name), { force: true });
          symlinkSync(target, session.path(name));
        }
        await session.edit(inside);
        await setProblem(secret);
        const before = await buffers();
        const hostile: unknown[] = [
          ...[secret, `file://${secret}`, inside, `file://${inside}`, session.lock.path],
          ...[`${THERE}/../..${secret}`, `${THERE}-other/a.txt`, dirname(THERE)],
          ...[`${THERE}/link`, `file://${THERE}/link`, `${THERE}/nowhere`],
          ...[`${THERE}/folder/secret.txt`, `${THERE}/folder/new.txt`],
          ...["/", "", "~", "\0", "secret.txt", "C:\\Windows\\win.ini", `\\\\?\\${secret}`],
          ...["x".repeat(100_000), 7, null, {}, [secret], { toString: secret }],
        ];
        for (const [tool, names] of Object.entries(fields)) {
          for (const name of names) {
            // A proposal that is only text may be anything; it would wait.
            if (tool === "openDiff" && !isPath(tool, name)) continue;
            for (const value of hostile) {
              const others = Object.fromEntries(names.map((one) => [one, `${THERE}/inside.lua`]));
              const outcome = await outcomeOf(cli.call(tool, { ...others, [name]: value }));
              if (!isPath(tool, name) || typeof value !== "string") continue;
              expect(outcome()).toMatchObject({
                isError: true,
                content: [{ text: expect.stringContaining("The file is in no folder") }],
              });
            }
          }
          if (tool !== "openDiff") await outcomeOf(cli.call(tool, { unknown: secret }));
        }
        expect(await buffers()).toEqual(before);
        // A URI is decoded exactly as it will be used, even if it is encoded twice.
        for (const path of ["%2e%2e/%2e%2e/etc/passwd", "a%20b/secret.txt", "a%2520b/secret.txt"])
          await cli.call("getDiagnostics", { uri: `file://${THERE}/${path}` });
        expect(JSON.stringify(cli.received)).not.toContain("wrong in");
        expect(existsSync(nowhere)).toBe(false);
        expect(readFileSync(secret, "utf8")).toBe(`${SECRET}\n`);
        expect(readFileSync(inside, "utf8")).toBe("return {}\n");
      });

      test("gets an answer to each request, whatever it is, and no path of this machine", async () => {
        await session.edit(session.write("inside.lua", "return {}\n"));
        const text = fc.oneof(
          fc.string({ maxLength: 20 }),
          fc.constantFrom(`${THERE}/inside.lua`, `file://${THERE}/inside.lua`, "/etc/passwd"),
        );
        const params = fc.dictionary(
          fc.constantFrom(
            ...["name", "arguments", "uri", "protocolVersion", "clientInfo", "requestId", "_meta"],
          ),
          fc.oneof(
            text,
            fc.object({ values: [text], maxDepth: 1 }),
            fc.constantFrom(...Object.keys(fields)),
          ),
        );
        const methods = [
          ...["initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read"],
          ...["resources/templates/list", "editor/selection", "editor/context", "shutdown"],
          "__proto__",
        ];
        await fc.assert(
          fc.asyncProperty(fc.constantFrom(...methods), params, async (method, given) => {
            if (given.name === "openDiff") return;
            await outcomeOf(cli.request(method, given));
            cli.notify(method, given);
          }),
          { numRuns: 300 },
        );
        expect(await cli.request("ping")).toEqual({});
      });
    });
  },
  {
    setup: `{ terminal = { remote = "${NAME}" }, ${remotesOption({
      command: STAND_IN,
      relay: world.relay,
      path_mappings: { [THERE]: world.project },
    })} }`,
    cwd: world.project,
    // Once a file is read, and before the plugin learns of it.
    args: ["--cmd", "autocmd BufReadPost * lua if _G.ON_READ then _G.ON_READ() end"],
  },
);
