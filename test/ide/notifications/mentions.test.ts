import { existsSync, mkdirSync, rmSync } from "node:fs";
import {
  claims,
  eventually,
  lacks,
  onEachNeovim,
  onNewestNeovim,
  type Session,
  TestClient,
} from "#test";
import { native } from "../../../src/lib/platform";

/* at_mentioned (spec 03, 5.2): what :Claude mention means, which client receives it, and when. */
const TEXT = "one\ntwo\nthree\nfour\nfive\nsix\n";

const mentions = (client: TestClient) => client.notifications("at_mentioned");

/** Waits until the client has got exactly these, in this order. */
const expectMentions = (client: TestClient, wanted: object[]) =>
  eventually("the mentions", () => expect<unknown[]>(mentions(client)).toEqual(wanted));

/** The same for whole files. */
const expectFiles = (client: TestClient, paths: string[]) => {
  const wanted = paths.map((filePath) => ({ filePath }));
  return expectMentions(client, wanted);
};

/** The messages that the user saw, one after the other. */
async function listenToMessages({ neovim }: Session): Promise<() => Promise<string>> {
  await neovim.lua(`
    SAID = {}
    vim.notify = function(text) table.insert(SAID, text) end`);
  return () => neovim.lua<string>(`return table.concat(SAID, "\\n")`);
}

onEachNeovim((session) => {
  let client: TestClient;
  /** As the CLI is given paths. */
  const path = (name: string) => native(session.path(name));

  beforeEach(async () => {
    await session.reset();
    await session.open("main.lua", TEXT);
    // Not under the CLI's name: the CLI gets no mention in the first moments of its connection.
    client = await TestClient.open(session.lock);
    session.client.close();
    session.client = client;
    await knows(session, 1);
  });

  describe(":Claude mention", () => {
    const lines = (first: number, last: number) => ({ lineStart: first, lineEnd: last });
    const CASES: [string, string, object][] = [
      ["the whole file, without line fields", ":Claude mention<CR>", {}],
      ["a range", ":3,5Claude mention<CR>", lines(2, 4)],
      ["one line", ":4Claude mention<CR>", lines(3, 3)],
      ["the whole buffer as a range", ":%Claude mention<CR>", lines(0, 5)],
      ["the visual lines", "2GVj:Claude mention<CR>", lines(1, 2)],
      ["visual characters, backwards", "4Gvk:Claude mention<CR>", lines(2, 3)],
      ["from a <Cmd> mapping in visual mode", "4GVk<Cmd>Claude mention<CR>", lines(2, 3)],
      ["a block, from a <Cmd> mapping", "2G<C-v>2j<Cmd>Claude mention<CR>", lines(1, 3)],
      ["a file by its name", ":Claude mention main.lua<CR>", {}],
      ["lines of this file", ":Claude mention % 3 5<CR>", lines(2, 4)],
      ["a line of a file", ":Claude mention main.lua 4<CR>", lines(3, 3)],
    ];
    test.each(CASES)("mentions %s", async (_name, keys, range) => {
      await session.neovim.type(keys);
      await expectMentions(client, [{ filePath: path("main.lua"), ...range }]);
    });

    test("mentions several paths, whatever their names hold, in their order", async () => {
      const names = ["b.txt", "a b.txt", "c%d.txt", "e#.txt", "[x].txt", "ü.txt", "`x`[1]"];
      for (const name of names) session.write(`dir/${name}`, TEXT);
      await session.neovim.lua(
        `vim.cmd("Claude mention " .. table.concat(vim.tbl_map(vim.fn.fnameescape, { ... }), " "))`,
        ...names.map((name) => `dir/${name}`),
      );
      const paths = names.map((name) => path(`dir/${name}`));
      await expectFiles(client, paths);
    });

    test("runs nothing between backticks in a name", async () => {
      claims("A file name is never a pattern, a command or shell code");
      const trap = path("trap");
      await session.neovim.lua("vim.cmd.edit(vim.fn.fnameescape(...))", `\`touch ${trap}\``);
      const said = await listenToMessages(session);
      await session.neovim.command("Claude mention %");
      await eventually("the reason", async () => expect(await said()).toContain("is not on disk"));
      expect(existsSync(trap)).toBe(false);
    });

    test.each([
      [`b.txt "a b.txt" 'c d.txt'`, ["b.txt", "a b.txt", "c d.txt"]],
      ["x/*.txt % x PWD/x/1.txt", ["x/1.txt", "x/2.txt", "main.lua", "x", "x/1.txt"]],
    ])("mentions all of %s", async (given, names) => {
      for (const name of names) if (name.endsWith(".txt")) session.write(name, TEXT);
      await session.neovim.command(`Claude mention ${given.replace("PWD", session.neovim.cwd)}`);
      await expectFiles(client, names.map(path));
    });

    test("completes paths, each as one word", async () => {
      session.write("some file.txt", TEXT);
      await session.neovim.type(":Claude mention some<C-l><CR>");
      await expectMentions(client, [{ filePath: path("some file.txt") }]);
      const completed = `return vim.fn.getcompletion("Claude mention some", "cmdline")`;
      expect(await session.neovim.lua(completed)).toEqual(["some\\ file.txt"]);
    });

    const REFUSED: [string, string, RegExp][] = [
      ["a missing path", "Claude mention nowhere.txt", /nowhere\.txt is not on disk/],
      [
        "a buffer without a file on disk",
        "edit new.txt | Claude mention",
        /new\.txt is not on disk/,
      ],
      ["a private file", "Claude mention .env", /\.env is private: `!\.env` in privacy\.patterns/],
      ["the workspace itself", "Claude mention .", /is the workspace itself/],
      ["a range and a path", "1,2Claude mention main.lua", /leave out the range/],
      ["a buffer without a file", "enew | Claude mention", /this buffer is not a file/],
      ["a terminal", "terminal | Claude mention", /this buffer is not a file/],
      ["lines backwards", "Claude mention main.lua 5 3", /main\.lua: lines 5 to 3 cannot be/],
      ["the line 0", "Claude mention main.lua 0", /lines 0 to 0 cannot be mentioned/],
      ["lines of no file", "Claude mention nowhere.lua 1 2", /nowhere\.lua is not on disk/],
    ];
    const REFUSED_LINK: typeof REFUSED = [
      ["a link to a private file", "Claude mention innocent.txt", /innocent\.txt is private/],
    ];
    test.each([...REFUSED, ...(lacks("symlinks") ? [] : REFUSED_LINK)])(
      "refuses %s, and says why",
      async (_name, command, reason) => {
        const said = await listenToMessages(session);
        session.write(".env", "SECRET=1\n");
        rmSync(path("innocent.txt"), { force: true });
        session.link("innocent.txt", path(".env"));
        await session.neovim.lua("vim.cmd((...))", command.replace(/ \| /, "\n"));
        await eventually("the reason", async () => expect(await said()).toMatch(reason));
        await client.request("ping");
        expect(mentions(client)).toEqual([]);
      },
    );

    test("says that Claude reads the disk when the buffer has unsaved changes", async () => {
      const said = await listenToMessages(session);
      await session.neovim.type("xh:2Claude mention<CR>");
      await expectMentions(client, [{ filePath: path("main.lua"), lineStart: 1, lineEnd: 1 }]);
      await eventually("a word", async () => expect(await said()).toContain("unsaved changes"));
      await session.neovim.command("edit!");
    });
  });

  describe("mention()", () => {
    const mention = (items: string) =>
      session.neovim.lua<[boolean, string?]>(`return { require("claude-code").mention(${items}) }`);

    test("takes a path, lines of a file, and a list of both", async () => {
      session.write("b.txt", TEXT);
      expect(await mention(`"main.lua"`)).toEqual([true]);
      expect(await mention(`{ path = "b.txt", first = 2, last = 3 }`)).toEqual([true]);
      expect(await mention(`{ "b.txt", { path = "main.lua", first = 6 } }`)).toEqual([true]);
      await expectMentions(client, [
        { filePath: path("main.lua") },
        { filePath: path("b.txt"), lineStart: 1, lineEnd: 2 },
        { filePath: path("b.txt") },
        { filePath: path("main.lua"), lineStart: 5, lineEnd: 5 },
      ]);
    });

    test("returns what is wrong, shows nothing, and mentions the rest", async () => {
      const said = await listenToMessages(session);
      const [ok, problem] = await mention(`{ "nowhere.txt", "main.lua" }`);
      expect(ok).toBe(false);
      expect(problem).toContain("nowhere.txt is not on disk");
      const empty = expect.stringContaining("list of paths is empty");
      expect(await mention("{}")).toEqual([false, empty]);
      await expectMentions(client, [{ filePath: path("main.lua") }]);
      expect(await said()).toBe("");
    });
  });

  describe("from one of Neovim's lists", () => {
    test.each([
      ["quickfix", "vim.fn.setqflist(ITEMS)", "copen"],
      ["location", "vim.fn.setloclist(0, ITEMS)", "lopen"],
    ])("%s: the entry under the cursor, and a range", async (_name, set, open) => {
      session.write("b.txt", TEXT);
      await session.neovim.lua(
        `ITEMS = {
          { filename = ..., lnum = 2, text = "a" },
          { text = "no file" },
          { filename = select(2, ...), lnum = 3, end_lnum = 5, text = "b" },
        }
        ${set}
        vim.cmd("${open} | normal! gg")`,
        path("main.lua"),
        path("b.txt"),
      );
      const first = { filePath: path("main.lua"), lineStart: 1, lineEnd: 1 };
      await session.neovim.command("Claude mention");
      await expectMentions(client, [first]);
      await session.neovim.command("%Claude mention");
      const second = { filePath: path("b.txt"), lineStart: 2, lineEnd: 4 };
      await expectMentions(client, [first, first, second]);
      await session.neovim.command("quit");
    });
  });

  describe("from a file explorer", () => {
    beforeEach(() => {
      for (const name of ["a.txt", "b c.txt", "sub/deep.txt"]) session.write(`tree/${name}`, TEXT);
      mkdirSync(path("tree/sub"), { recursive: true });
    });

    const explore = (style: number) =>
      session.neovim.command(
        `silent! unlet w:netrw_liststyle | let g:netrw_liststyle = ${style} | Explore ${path("tree")}`,
      );

    test.each([
      ["thin", 0],
      ["long", 1],
      ["tree", 3],
    ] as const)("mentions entries of netrw's %s listing", async (_name, style) => {
      await explore(style);
      await session.neovim.type("gg/b c<CR>");
      await session.neovim.command("Claude mention");
      await expectMentions(client, [{ filePath: path("tree/b c.txt") }]);
      await session.neovim.command("%Claude mention");
      const names = () =>
        mentions(client)
          .slice(1)
          .map(({ filePath }) => filePath);
      await eventually("all entries", () => names().length === 3);
      expect(names().sort()).toEqual(["tree/a.txt", "tree/b c.txt", "tree/sub"].map(path));
    });

    const INNER = [
      ["an entry of a folder that is open in it", "gg/sub<CR><CR>", "deep", "tree/sub/deep.txt"],
    ] as const;
    const LINK = [["a symbolic link", "gg", "link", "tree/link.txt"]] as const;
    test.each([...INNER, ...(lacks("symlinks") ? [] : LINK)])(
      "netrw's tree: %s",
      async (_what, open, word, name) => {
        rmSync(path("tree/link.txt"), { force: true });
        session.link("tree/link.txt", path("tree/a.txt"));
        await explore(3);
        await session.neovim.type(open);
        await session.neovim.type(`gg/${word}<CR>:Claude mention<CR>`);
        await expectFiles(client, [path(name)]);
        rmSync(path("tree/link.txt"), { force: true });
      },
    );

    test("mentions netrw's marked files wherever the cursor is, and with a range its lines", async () => {
      await explore(0);
      await session.neovim.type("gg/sub<CR>mfgg/b c<CR>mf");
      await session.neovim.type("gg/a.txt<CR>:Claude mention<CR>");
      await session.neovim.type(":.Claude mention<CR>");
      await expectFiles(client, ["tree/sub", "tree/b c.txt", "tree/a.txt"].map(path));
      await session.neovim.type("mu");
    });

    test("asks the user's own adapter", async () => {
      await session.neovim.lua(
        `
        require("claude-code.explorers").register("mytree", {
          paths = function(buf, first, last)
            return vim.api.nvim_buf_get_lines(buf, first - 1, last, false)
          end,
        })
        vim.cmd("enew | setlocal buftype=nofile filetype=mytree")
        vim.api.nvim_buf_set_lines(0, 0, -1, false, { ... })`,
        path("tree/a.txt"),
        path("tree/sub"),
      );
      await session.neovim.command("%Claude mention");
      await expectFiles(client, [path("tree/a.txt"), path("tree/sub")]);
    });
  });

  test("goes to the client that was active last", async () => {
    using other = await TestClient.open(session.lock);
    await other.request("ping");
    await session.neovim.command("Claude mention");
    await expectMentions(other, [{ filePath: path("main.lua") }]);
    await Bun.sleep(5);
    await client.request("ping");
    await session.neovim.command("2Claude mention");
    await expectMentions(client, [{ filePath: path("main.lua"), lineStart: 1, lineEnd: 1 }]);
    expect(mentions(other)).toHaveLength(1);
  });

  test("waits for the executable to come back", async () => {
    client.close();
    const killed = await session.neovim.ready();
    process.kill(killed, "SIGKILL");
    await session.neovim.command("Claude mention");
    await session.neovim.ready(killed);
    session.lock = await session.neovim.lock();
    client = await TestClient.open(session.lock);
    session.client = client;
    await expectMentions(client, [{ filePath: path("main.lua") }]);
  });
});

/** Waits until Neovim knows of this many clients. */
const knows = ({ neovim }: Session, count: number) =>
  neovim.until(`${count} clients`, `return #require("claude-code").status().clients == ...`, count);

/** Neovim must know of the client first: it could still send a mention to one that it does not know yet. */
async function disconnect(session: Session): Promise<void> {
  await knows(session, 1);
  session.client.close();
  await knows(session, 0);
}

/* Only the executable holds back a mention from a CLI that has just connected. */
onNewestNeovim((session) => {
  test("waits for a client, then comes once and in order, with a message", async () => {
    const said = await listenToMessages(session);
    await session.open("main.lua", TEXT);
    await disconnect(session);
    for (const line of [3, 1, 2]) await session.neovim.command(`${line}Claude mention`);
    await eventually("a word", async () => expect(await said()).toContain("waits for Claude"));

    using early = await justStarted();
    expect(mentions(early)).toEqual([]);
    early.notify("ide_connected", { pid: process.pid });
    const filePath = native(session.path("main.lua"));
    await expectMentions(
      early,
      [2, 0, 1].map((line) => ({ filePath, lineStart: line, lineEnd: line })),
    );
    await eventually("a word", async () => expect(await said()).toContain("in its prompt"));
    using late = await TestClient.open(session.lock, "claude-code");
    await late.request("ping");
    expect(mentions(late)).toEqual([]);
  });

  test("goes to another client when the one that it waits for is gone", async () => {
    await session.open("main.lua", TEXT);
    session.client.close();
    using other = await TestClient.open(session.lock);
    await other.request("ping");
    using early = await justStarted();
    early.notify("ide_connected", { pid: process.pid });
    await early.request("ping");
    await session.neovim.command("Claude mention");
    await other.request("ping");
    expect(mentions(other)).toEqual([]);
    early.close();
    await expectMentions(other, [{ filePath: native(session.path("main.lua")) }]);
  });

  /** A CLI that does not take mentions yet. */
  async function justStarted(): Promise<TestClient> {
    const cli = await TestClient.connect(session.lock);
    await cli.initialize("claude-code");
    cli.notify("notifications/initialized");
    await cli.request("ping");
    return cli;
  }
});

onEachNeovim(
  (session) => {
    test("is dropped with a message when no client connects", async () => {
      const said = await listenToMessages(session);
      await session.open("main.lua", TEXT);
      await disconnect(session);
      await session.neovim.command("Claude mention");
      const words = (wanted: string) =>
        eventually(wanted, async () => expect(await said()).toContain(wanted));
      await words("did not connect in time");
      // Not under the CLI's name, as above: what still waits comes at once.
      using late = await TestClient.open(session.lock);
      await late.request("ping");
      expect(mentions(late)).toEqual([]);

      await session.neovim.lua(`require("claude-code").stop()`);
      await session.neovim.command("Claude mention");
      await words("you stopped the server");
    });
  },
  { constants: ["mentions.WAIT_MS = 1000"], client: "claude-code" },
);
