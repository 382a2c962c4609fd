import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { Glob } from "bun";
import {
  claims,
  EXECUTABLE,
  eventually,
  first,
  isolatedEnv,
  NEWEST,
  outcomeOf,
  run,
  temporaryFolder,
} from "#test";
import { EditorState } from "../../src/editor/state";
import { SHARED_FOLDERS } from "../../src/lib/paths";
import { dirname, join } from "../../src/lib/platform";
import { mcpBorder, nvimLspEnvironment } from "../../src/remote/helpers";
import { PathMap } from "../../src/remote/path-map";
import { Crossing, Remote } from "../../src/remote/remote";
import { StdioTransport } from "../../src/transport/stdio";
import { LanguageProject } from "../language/world";

const THERE = "/workspaces/x";
const FILES = {
  "shared/one.txt": "def apple\nuse apple\n",
  "shared/two.txt": "apple pear\n",
  "shared/closed.txt": "def cherry\n",
  "shared/outer.txt": "quince\n",
  "other/three.txt": "apple in another folder\ndef quince\n",
  "other/four.txt": "def plum\n",
};

test("does nothing in a shared folder that has become a symlink", async () => {
  claims("A remote's hooks run our program on shared files only");
  const root = temporaryFolder();
  const [shared, other] = ["shared", "other"].map((name) => join(root, name)) as [string, string];
  mkdirSync(other);
  const path = join(shared, "a.txt");
  writeFileSync(join(other, "a.txt"), "text of here\n");
  const env = {
    ...isolatedEnv(join(root, "home")),
    [SHARED_FOLDERS]: JSON.stringify([shared]),
    CLAUDE_PROJECT_DIR: shared,
  };
  const edit = {
    ...{ session_id: "s", cwd: shared, tool_name: "Edit", tool_use_id: "u" },
    ...{ tool_input: { file_path: path }, tool_response: { originalFile: "the remote's\n" } },
  };
  const stdin = () => new Blob([JSON.stringify(edit)]);
  const hook = (event: string) => run([EXECUTABLE, "hook", event], { env, stdin: stdin() });
  const recorded = () =>
    [...new Glob("**/journal.jsonl").scanSync({ cwd: root, dot: true })].length;
  symlinkSync(other, shared);
  await hook("post-tool-use");
  expect(recorded()).toBe(0);
  const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: {} };
  const mcp = await run([EXECUTABLE, "mcp"], {
    ...{ env, stdin: new Blob([`${JSON.stringify(initialize)}\n`]) },
  });
  expect(mcp).toMatchObject({ code: 1, stdout: "" });
  expect(mcp.stderr).toContain("is a symlink now");
  rmSync(shared);
  renameSync(other, shared);
  await hook("post-tool-use");
  expect(recorded()).toBe(1);
}, 30_000);

test("looks at as many files as one message may name, and no more", () => {
  const map = new PathMap([{ remote: THERE, host: temporaryFolder() }], "posix");
  const crossing = new Crossing(new Remote("dev", map, { state: new EditorState() }));
  const names = (count: number) => Array.from({ length: count }, (_, n) => `${THERE}/${n}`);
  expect(crossing.pathToHost(names(200))).toHaveLength(200);
  for (const one of [names(201), [names(2)]])
    expect(() => crossing.pathToHost(one)).toThrow("At most 200 files");
});

interface Answer {
  result?: unknown;
  error?: object;
}

/** The `nvim-lsp` of a Claude elsewhere, which shares one folder of the project. */
describe("nvim-lsp for a Claude elsewhere", () => {
  let world: LanguageProject;
  let child: Bun.Subprocess<"pipe", "pipe">;
  let received = "";
  let send: (text: string) => void;
  const pending = new Map<number, (message: Answer) => void>();
  let id = 0;

  beforeAll(async () => {
    world = await LanguageProject.open(NEWEST, FILES);
    const shared = world.project.path("shared");
    const folders = new PathMap([{ remote: THERE, host: shared }], "posix");
    const remote = new Remote("dev", folders, { state: new EditorState() });
    child = Bun.spawn([EXECUTABLE, "mcp"], {
      cwd: shared,
      env: { ...isolatedEnv(world.project.neovim.home), ...nvimLspEnvironment(remote) },
      stdin: "pipe",
      stdout: "pipe",
    });
    const outside = {
      send(text: string) {
        received += text;
        const message = JSON.parse(text);
        pending.get(message.id)?.(message);
      },
      onMessage: (_text: string) => {},
      onClose: () => {},
    };
    const server = new StdioTransport(child.stdout, child.stdin);
    const inner = mcpBorder(outside, remote);
    inner.onMessage = (text) => server.send(text);
    server.onMessage = (text) => inner.send(text);
    send = (text) => outside.onMessage(text);
    await request("initialize", {
      protocolVersion: "2025-11-25",
      clientInfo: { name: "claude-code", version: "1" },
    });
    await world.project.neovim.command(`edit ${world.project.path("shared/one.txt")}`);
    await eventually("the server", () => expect(world.log).toContain("didOpen"));
  });
  afterAll(async () => {
    child.kill();
    await world[Symbol.asyncDispose]();
  });
  afterEach(() => {
    for (const text of [world.project.folder, "another folder", "four.txt", "secret"]) {
      expect(received).not.toContain(text);
    }
  });

  function request(method: string, params: object): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    pending.set(++id, resolve);
    send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return promise;
  }
  async function call(name: string, args: object): Promise<{ text: string; isError: boolean }> {
    const { result, error } = await request("tools/call", { name, arguments: args });
    if (error) throw new Error(JSON.stringify(error));
    const { content, isError } = result as { content: { text: string }[]; isError?: boolean };
    return { text: content.map(({ text }) => text).join("\n"), isError: isError === true };
  }
  const buffers = () => world.project.neovim.buffers();

  test("offers the tools that only read, and calls no others", async () => {
    const { result } = await request("tools/list", {});
    const names = (result as { tools: { name: string }[] }).tools.map(({ name }) => name);
    expect(names.sort()).toEqual([
      ...["find_references", "find_symbol", "get_diagnostic_context", "get_diagnostic_summary"],
      ...["get_diagnostics", "get_session_diagnostics", "outline"],
    ]);
    for (const name of ["rename_symbol", "code_action", "editor_context", "__proto__"]) {
      const args = { path: `${THERE}/one.txt`, new_name: "x" };
      expect(await outcomeOf(call(name, args))).toThrow(/Unknown tool/);
    }
  });

  test.each(first(1, [`${THERE}/one.txt`, "one.txt", "./one.txt"]))(
    "names files by their paths there: %s",
    async (path) => {
      const { text } = await call("find_references", { symbol: "apple", path });
      expect(text.split("\n")).toEqual([
        "apple (one.txt:1): 2 uses in 2 files",
        "one.txt",
        "  2 use apple",
        "two.txt",
        "  1 apple pear",
        "1 more in private files",
        "as text reports; the text may match elsewhere",
      ]);
    },
  );

  test("loads no file that the user has not opened", async () => {
    const before = await buffers();
    for (const [tool, args] of [
      ["find_symbol", { symbol: "cherry", path: "closed.txt" }],
      ["find_references", { symbol: "cherry", path: "closed.txt" }],
      ["outline", { path: "closed.txt" }],
      ["get_diagnostics", { file_paths: ["closed.txt"] }],
    ] as const) {
      expect((await call(tool, args)).text).toContain("closed.txt is not open in Neovim");
    }
    await call("find_symbol", { symbol: "cherry" });
    expect(await buffers()).toEqual(before);
  });

  const foreign: [string, () => string][] = [
    ["a file outside", () => world.project.path("other/three.txt")],
    ["dots", () => "../other/three.txt"],
    ["dots behind a name", () => `${THERE}/../other/three.txt`],
    ["the host's own path", () => world.project.path("shared/one.txt")],
    ["a home folder", () => "~/secret.txt"],
    ["a link", () => link(join(world.project.folder, "other/three.txt"))],
    [
      "a link to a folder",
      () => `${link(dirname(world.project.path("other/three.txt")))}/three.txt`,
    ],
    ["a drive", () => "C:\\secret.txt"],
  ];
  test.each(foreign)("gives no part of %s", async (_name, find) => {
    const path = find();
    const before = await buffers();
    for (const [tool, args] of [
      ["find_symbol", { symbol: "apple", path }],
      ["find_references", { symbol: "apple", path }],
      ["outline", { path }],
      ["get_diagnostic_context", { file_path: path, line: 1 }],
    ] as const) {
      expect((await call(tool, args)).isError).toBe(true);
    }
    await call("get_diagnostics", { file_paths: [path] });
    await call("find_references", { symbol: "apple", within: path });
    expect(await buffers()).toEqual(before);
    rmSync(world.project.path("shared/link"), { force: true });
  });

  function link(target: string): string {
    symlinkSync(target, world.project.path("shared/link"));
    return "link";
  }
});
