import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { EditorState } from "../../src/editor/state";
import { border } from "../../src/remote/ide";
import { PathMap } from "../../src/remote/path-map";
import { Remote } from "../../src/remote/remote";
import { WebSocketListener } from "../../src/transport/websocket";
import { TestClient } from "../support/client";
import { eventually } from "../support/eventually";
import { nightly, temporaryFolder } from "../support/neovim";
import { outcomeOf } from "../support/outcome";
import { onNewestNeovim } from "../support/session";
import { openDiff } from "./world";

const THERE = "/workspaces/x";
const SECRET = "nobody-elsewhere-reads-this";

/** A client whose project has another path than here, at the border of the real server. */
onNewestNeovim((session) => {
  let listener: WebSocketListener;
  let cli: TestClient;
  let outside: string;
  const token = crypto.randomUUID();

  beforeAll(() => {
    const folders = new PathMap([{ remote: THERE, host: session.neovim.cwd }], "posix");
    const remote = new Remote(
      "dev",
      () => folders,
      () => new EditorState(),
    );
    listener = new WebSocketListener(0);
    listener.admit({
      token,
      onConnect(transport) {
        const { port, content } = session.lock;
        const headers = { "x-claude-code-ide-authorization": content.authToken };
        const server = new WebSocket(`ws://127.0.0.1:${port}/`, { headers } as never);
        const open = new Promise((resolve) => server.addEventListener("open", resolve));
        const inner = border(transport, remote);
        inner.onMessage = (text) => void open.then(() => server.send(text));
        inner.onClose = () => server.close();
        server.addEventListener("message", ({ data }) => inner.send(String(data)));
      },
    });
  });
  afterAll(() => listener.stop());
  beforeEach(async () => {
    await session.reset();
    outside = temporaryFolder();
    writeFileSync(join(outside, "secret.txt"), `${SECRET}\n`);
    cli = await connect("claude-code");
  });
  afterEach(() => {
    // Whatever a test did: no path of this machine has left.
    const got = JSON.stringify(cli.received);
    for (const text of [session.neovim.cwd, outside, session.neovim.home, SECRET]) {
      expect(got).not.toContain(text);
    }
    cli.close();
    rmSync(outside, { recursive: true, force: true });
  });

  const connect = (name: string) =>
    TestClient.open({ port: listener.port, content: { authToken: token } }, name);
  const open = (path: string, contents: string, name?: string) =>
    openDiff(cli, path, contents, name);
  const shown = (path: string) =>
    eventually("the diff", () =>
      session.neovim.lua<boolean>('return require("port").diff_shown(...)', path),
    );
  const setProblem = (path: string) =>
    session.neovim.lua(
      `local buf = vim.fn.bufadd((...))
       vim.fn.bufload(buf)
       vim.bo[buf].buflisted = true
       local at = { lnum = 0, col = 0, severity = 1, message = "wrong in " .. (...), source = (...) }
       vim.diagnostic.set(vim.api.nvim_create_namespace("test"), buf, { at })`,
      path,
    );

  test("a proposal is for the file here, and answered with the path there", async () => {
    const here = session.write("a b/é.lua", "old\n");
    const there = `${THERE}/a b/é.lua`;
    const accepted = open(there, "new\n", "tab");
    await shown(here);
    await session.neovim.type("<CR>");
    expect(await accepted).toEqual(["FILE_SAVED", "new\n"]);
    const rejected = open(there, "newer\n");
    await shown(here);
    await session.neovim.type("q");
    expect(await rejected).toEqual(["DIFF_REJECTED", there]);
    cli.send({
      ...{ jsonrpc: "2.0", id: "to-cancel", method: "tools/call" },
      params: {
        name: "openDiff",
        arguments: { old_file_path: there, new_file_path: there, new_file_contents: "x\n" },
      },
    });
    await shown(here);
    cli.notify("notifications/cancelled", { requestId: "to-cancel" });
    await eventually("no diff", () =>
      session.neovim.lua<boolean>('return not require("port").diff_shown(...)', here),
    );
  });

  test("a file is opened here, and named as there", async () => {
    const here = session.write("a.lua", "return {}\n");
    expect(await cli.texts("openFile", { filePath: `${THERE}/b/../a.lua` })).toEqual([
      `Opened file: ${THERE}/b/../a.lua`,
    ]);
    expect(await session.neovim.lua("return vim.api.nvim_buf_get_name(0)")).toBe(here);
  });

  test("problems: as the CLI spelled the file last, byte for byte; and in messages, too", async () => {
    await setProblem(session.write("%41 é.lua", "return {}\n"));
    const uri = `file://${THERE}/./%41 é.lua`;
    const wanted = [
      { uri, diagnostics: [expect.objectContaining({ message: `wrong in ${THERE}/%41 é.lua` })] },
    ];
    await eventually("the problem", async () => {
      expect(await cli.json("getDiagnostics", { uri })).toEqual(wanted);
      return true;
    });
    expect(await cli.json("getDiagnostics")).toEqual(wanted);
    using other = await connect("another");
    const encoded = [{ uri: `file://${THERE}/%2541%20%C3%A9.lua`, diagnostics: expect.anything() }];
    expect(await other.json("getDiagnostics")).toEqual(encoded);
    expect(JSON.stringify(other.received)).not.toContain(session.neovim.cwd);
  });

  test("what is open, the workspace, what is unsaved, and resources: with paths there", async () => {
    await session.edit(session.write("a b.lua", "return {}\n"));
    await session.edit(join(outside, "secret.txt"));
    const path = `${THERE}/a b.lua`;
    const uri = `file://${THERE}/a%20b.lua`;
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
    const { resources } = await cli.request<{ resources: object[] }>("resources/list");
    expect(resources).toContainEqual({ uri, name: "a b.lua", mimeType: "text/plain" });
    expect(await cli.request("resources/read", { uri })).toEqual({
      contents: [{ uri, mimeType: "text/plain", text: "return {}\n" }],
    });
    const gone = cli.request("resources/read", { uri: `file://${THERE}/none` });
    expect(await outcomeOf(gone)).toThrow(`No open buffer for file://${THERE}/none`);
  });

  nightly.test(
    "selection, mentions and changed problems: with paths there, or not at all",
    async () => {
      const here = session.write("a b.lua", "return {}\n");
      await session.edit(here);
      const last = () => cli.notifications<{ filePath: string }>("selection_changed").at(-1);
      await eventually("the selection", () => last()?.filePath === `${THERE}/a b.lua`);
      expect(last()).toMatchObject({ fileUrl: `file://${THERE}/a%20b.lua` });
      expect(await cli.json("getLatestSelection")).toMatchObject({ filePath: `${THERE}/a b.lua` });
      await setProblem(join(outside, "secret.txt"));
      await setProblem(here);
      const changed = () =>
        cli.notifications<{ uris: string[] }>("diagnostics_changed").flatMap(({ uris }) => uris);
      await eventually("the problems", () => changed().includes(`file://${THERE}/a%20b.lua`));
      for (const uri of changed()) expect(uri).toStartWith(`file://${THERE}/`);
      await session.neovim.lua(
        'require("claude-code").mention({ { path = (...), first = 1 } })',
        here,
      );
      await eventually("the mention", () => cli.notifications("at_mentioned").length > 0);
      expect(cli.notifications("at_mentioned")[0]).toMatchObject({ filePath: `${THERE}/a b.lua` });
      await session.edit(join(outside, "secret.txt"));
      await eventually("none", () => last()?.filePath === "");
    },
  );

  nightly.test("a reason for a rejection quotes the path there", async () => {
    const here = session.write("a.lua", "old\n");
    const answer = open(`${THERE}/a.lua`, "new\n");
    await shown(here);
    await session.neovim.lua('require("port").reject(nil, "no")');
    await answer;
    const uri = "rejection:reason";
    await eventually("its mention", () => cli.notifications("at_mentioned").length > 0);
    const { contents } = await cli.request<{ contents: [{ text: string }] }>("resources/read", {
      uri,
    });
    expect(contents[0].text).toBe(`I rejected your edit of ${THERE}/a.lua: no`);
  });

  describe("a hostile client", () => {
    const fields: Record<string, string[]> = {
      openDiff: ["old_file_path", "new_file_path", "new_file_contents", "tab_name"],
      openFile: ["filePath", "startText", "endText"],
      getDiagnostics: ["uri"],
      checkDocumentDirty: ["filePath"],
      saveDocument: ["filePath"],
      close_tab: ["tab_name"],
      executeCode: ["code"],
      getCurrentSelection: [],
      getLatestSelection: [],
      getOpenEditors: [],
      getWorkspaceFolders: [],
      closeAllDiffTabs: [],
    };

    test("gets nothing by any field of any tool, and changes nothing", async () => {
      const inside = session.write("inside.lua", "return {}\n");
      for (const [name, target] of [
        ["link", join(outside, "secret.txt")],
        ["folder", outside],
      ] as const) {
        rmSync(session.path(name), { force: true });
        symlinkSync(target, session.path(name));
      }
      await session.edit(inside);
      const buffers = () => session.neovim.lua<number>("return #vim.api.nvim_list_bufs()");
      const before = await buffers();
      const secret = join(outside, "secret.txt");
      const hostile: unknown[] = [
        secret,
        `file://${secret}`,
        `${THERE}/../..${secret}`,
        `file://${THERE}/%2e%2e/%2e%2e/etc/passwd`,
        `${THERE}/link`,
        `file://${THERE}/link`,
        `${THERE}/folder/secret.txt`,
        inside,
        `file://${inside}`,
        session.lock.path,
        "/",
        "",
        "~",
        "\0",
        "secret.txt",
        `\\\\?\\${secret}`,
        "x".repeat(100_000),
        7,
        null,
        {},
        [secret],
        { toString: secret },
      ];
      for (const [tool, names] of Object.entries(fields)) {
        for (const name of names) {
          for (const value of hostile) {
            const others = Object.fromEntries(names.map((one) => [one, `${THERE}/inside.lua`]));
            const isText = /contents|Text|tab_name/.test(name);
            // What is only text may be anything; a proposal with it would wait.
            if (isText && tool === "openDiff") continue;
            await outcomeOf(cli.call(tool, { ...others, [name]: value }));
          }
        }
        if (tool !== "openDiff") await outcomeOf(cli.call(tool, { unknown: secret }));
      }
      expect(await buffers()).toBe(before);
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
          "name",
          "arguments",
          "uri",
          "protocolVersion",
          "clientInfo",
          "requestId",
          "_meta",
        ),
        fc.oneof(
          text,
          fc.object({ values: [text], maxDepth: 1 }),
          fc.constantFrom(...Object.keys(fields)),
        ),
      );
      const methods = [
        ...["initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read"],
        ...[
          "resources/templates/list",
          "editor/selection",
          "editor/context",
          "shutdown",
          "__proto__",
        ],
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
});
