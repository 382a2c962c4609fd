import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { World } from "../../review/state/world";
import { eventually } from "../../support/eventually";
import { NEOVIMS, nightly, type TestNeovim, temporaryFolder } from "../../support/neovim";
import { configure, ECHO, openEcho, startNeovim, terminalText } from "../../terminal/workbench";

setDefaultTimeout(60_000);

const TEN = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join("");

/** `:Claude review branch` in real repositories. */
describe.each(NEOVIMS)("a branch in $name", (version) => {
  let neovim: TestNeovim;
  /** The repository is made once, and copied. */
  const template = temporaryFolder();
  let root = template;
  beforeAll(() => repository());
  afterAll(() => rmSync(template, { recursive: true }));
  beforeEach(async () => {
    neovim = await startNeovim(version, "{}");
    root = neovim.cwd;
    cpSync(template, root, { recursive: true });
    await neovim.lua("vim.o.timeoutlen = 100");
    await eventually("the executable", () =>
      neovim.lua<boolean>('return require("port").channel.is_attached()'),
    );
  });
  afterEach(() => neovim[Symbol.asyncDispose]());

  function git(...args: string[]): void {
    const who = ["-c", "user.name=a", "-c", "user.email=b"];
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
    const { success, stderr } = Bun.spawnSync(["git", "-C", root, ...who, ...args], { env });
    if (!success) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  }
  function write(name: string, text: string): void {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  function commit(): void {
    git("add", "-A");
    git("commit", "-q", "-m", "x");
  }
  /** Two hunks in a, a new c, a deleted d; the second hunk is not committed. */
  function repository(): void {
    git("init", "-q", "-b", "main");
    for (const name of ["a", "b", "d"]) write(name, TEN);
    commit();
    git("switch", "-q", "-c", "topic");
    write("a", TEN.replace("line 2\n", "LINE 2\n"));
    write("c", "new\n");
    git("rm", "-q", "d");
    commit();
    write("a", TEN.replace("line 2\n", "LINE 2\n").replace("line 8\n", "LINE 8\nand more\n"));
  }

  const lua = <T>(code: string, ...args: unknown[]) => neovim.lua<T>(code, ...args);
  const list = () =>
    lua<string[]>(`
      return vim.tbl_map(function(item)
        local name = vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ":.")
        return ("%s:%d %s"):format(name, item.lnum, item.text)
      end, vim.fn.getqflist())`);
  const listed = (count: number) =>
    eventually(`${count} entries`, async () => {
      const items = await list();
      expect(items, await said()).toHaveLength(count);
      return items;
    });
  const said = () => lua<string>("return table.concat(SAID, '\\n')");
  const says = (text: string) => eventually(text, async () => expect(await said()).toContain(text));
  const title = () => lua<string>("return vim.fn.getqflist({ title = 0 }).title");
  const bar = () => lua<string>("return vim.wo.winbar");
  const place = () =>
    lua<[string, number]>("return { vim.fn.expand('%:t'), vim.api.nvim_win_get_cursor(0)[1] }");
  const at = (name: string, row: number) =>
    eventually(`${name}:${row}`, async () => expect(await place()).toEqual([name, row]));
  /** Rows that are marked in the current buffer, from 1. */
  const marked = () =>
    lua<number[]>(`
      local space = vim.api.nvim_create_namespace("claude-code.review")
      local rows = {}
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {})) do
        rows[mark[2] + 1] = true
      end
      rows = vim.tbl_keys(rows)
      table.sort(rows)
      return rows`);
  async function read(command = "Claude review branch!", count = 4): Promise<string[]> {
    await neovim.command(command);
    return listed(count);
  }

  test("is listed, and its keys lead from hunk to hunk and from file to file", async () => {
    expect(await read()).toEqual([
      "a:2 +1 -1  LINE 2",
      "a:8 +2 -1  LINE 8",
      "c:1 new file",
      expect.stringMatching(/^claude-code:\/\/base.*\/d:1 deleted$/),
    ]);
    expect(await title()).toMatch(
      /^Changes since main \([0-9a-f]{8}\), uncommitted ones included$/,
    );
    await at("a", 2);
    await eventually("the marks", async () => expect(await marked()).toEqual([2, 8, 9]));
    await eventually("the bar", async () => {
      const text = await bar();
      expect(text).toContain("hunk 1/2 file 1/3");
      expect(text).toContain(" since main ");
      expect(text).toContain("comment");
      expect(text).not.toContain("undo");
    });
    await neovim.type("]c");
    await at("a", 8);
    await neovim.type("]c");
    await at("c", 1);
    await neovim.type("]f");
    await at("d", 1);
    await eventually("its text", async () => {
      const lines = await lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, false)");
      expect(lines.join("\n")).toBe(TEN.trimEnd());
    });
    await neovim.type("[f[f");
    await at("a", 8);
    await neovim.type("g?");
    const help = await eventually("the help", async () => {
      const lines = await lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, false)");
      expect(lines.join("\n")).toContain("Next change");
      return lines.join("\n");
    });
    expect(help).toContain("Close the list");
    expect(help).toContain("Comment on these lines for Claude");
    expect(help).not.toMatch(/keep|undo|decision/i);
  });

  test("nothing is kept or undone, which the keys and the commands say", async () => {
    await read();
    await at("a", 2);
    const before = readFileSync(join(root, "a"), "utf8");
    for (const keys of ["gr", "ga", "gR", "gA", "gB", ":Claude undo!\r", ":Claude keep\r"]) {
      await lua("SAID = {}");
      await neovim.type(keys);
      await says("a branch is only read, so nothing is kept or undone");
    }
    expect(readFileSync(join(root, "a"), "utf8")).toBe(before);
    expect(await list()).toHaveLength(4);
    expect(await lua<boolean>("return vim.bo.modified")).toBe(false);
  });

  test("an edit in the buffer, and one on disk, move its marks and its list", async () => {
    await read();
    await at("a", 2);
    await eventually("the marks", async () => expect(await marked()).toEqual([2, 8, 9]));
    await neovim.type("ggOfirst<Esc>");
    expect((await listed(5))[0]).toBe("a:1 +1 -0  first");
    await eventually("the marks", async () => expect(await marked()).toEqual([1, 3, 9, 10]));
    await neovim.type("3Gccline 2<Esc>");
    expect((await listed(4))[1]).toBe("a:9 +2 -1  LINE 8");
  });

  test("a file that the list has not is in it once it is written", async () => {
    await read();
    await at("a", 2);
    await neovim.command("edit b | call setline(1, 'other')");
    await neovim.command("silent write");
    expect((await listed(5))[2]).toBe("b:1 +1 -1  other");
    await eventually("its mark", async () => expect(await marked()).toEqual([1]));
    await neovim.command("call setline(1, 'line 1') | silent write");
    await listed(4);
  });

  test("a comment on its lines is Claude's next prompt", async () => {
    await configure(neovim, `{ command = ${ECHO} }`);
    await openEcho(neovim);
    await neovim.type("<C-\\><C-n>");
    await neovim.command("wincmd p");
    await read();
    await at("a", 2);
    await lua('vim.ui.input = function(_, done) done("why shout?") end');
    await neovim.type("gC");
    await says("1 comment waits to be sent");
    await neovim.command("Claude comment!");
    await eventually("the prompt", async () => {
      const text = (await terminalText(neovim)).replaceAll(/\s+/g, "");
      expect(text).toContain("a:2:whyshout?");
      expect(text).toContain(">LINE2");
    });
  });

  nightly.test("a comment on a private file's lines is refused", async () => {
    write(".env", "SECRET=1\n");
    write("sub/.env", "SECRET=2\n");
    git("add", "-f", "sub/.env");
    git("commit", "-q", "-m", "x", "sub/.env");
    git("branch", "-f", "main", "HEAD");
    git("rm", "-q", "sub/.env");
    await read("Claude review branch!", 3);
    await at(".env", 1);
    await neovim.command("Claude comment look");
    await says(".env");
    await lua("SAID = {}");
    await neovim.type("[f");
    await eventually("the other", async () => expect(await bar()).toContain("sub/.env"));
    await neovim.command("Claude comment look");
    await says(".env");
    expect(
      // There is no summary before there is something to say.
      await lua<unknown[]>(
        'return (require("claude-code.editor.review.client").summary() or { comments = {} }).comments',
      ),
    ).toEqual([]);
  });

  nightly.test("it and the review of Claude's changes take each other's place", async () => {
    using world = new World(neovim.cwd, neovim.home);
    const text = readFileSync(join(root, "a"), "utf8");
    world.claude({ a: text.replace("line 4\n", "CLAUDE\n"), d: "by Claude\n" });
    world.claude({ d: undefined }, { session: "B" });
    await eventually("Claude's", () =>
      lua<boolean>(`return require("claude-code.editor.review").count() > 0`),
    );
    expect((await read("Claude review branch!", 5))[1]).toBe("a:4 +1 -1  CLAUDE");
    await lua('require("claude-code.lib.events").emit("ActivityChanged", { activity = "idle" })');
    await says("1 change in 1 file to review: :Claude review");
    await at("a", 2);
    await neovim.type("4GgW");
    await eventually("why", async () => {
      const text = await lua<string>("return table.concat(vim.fn.getline(1, '$'), ' ')");
      expect(text).toMatch(/^Edit, .* session +/);
    });
    await neovim.type("q");
    await neovim.command("Claude review!");
    const items = await listed(1);
    expect(items[0]).toStartWith("a:4 +1 -1  CLAUDE  ");
    expect(await title()).toBe("Claude's changes");
    await eventually("its mark", async () => expect(await marked()).toEqual([4]));
    expect(await bar()).not.toContain("since");
    await read("Claude review branch", 5);
    await neovim.command("Claude review done");
    await eventually("the end", async () => {
      const open = await lua<number>("return vim.fn.getqflist({ winid = 0 }).winid");
      expect(open).toBe(0);
    });
    expect(await lua<number>(`return require("claude-code.editor.review").count()`)).toBe(1);
    await neovim.command("Claude review!");
    await listed(1);
    await neovim.type("gr");
    await eventually("the undo", () => expect(readFileSync(join(root, "a"), "utf8")).toBe(text));
  });

  nightly.test(
    "a deleted file is read as it was at the base, and in the review as Claude found it",
    async () => {
      using world = new World(neovim.cwd, neovim.home);
      write("b", "edited\n");
      world.claude({ b: undefined });
      await eventually("Claude's", () =>
        lua<boolean>(`return require("claude-code.editor.review").count() > 0`),
      );
      const reads = (text: string) =>
        eventually(text, async () => {
          const lines = await lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, false)");
          expect(`${lines.join("\n")}\n`).toBe(text);
        });
      await read("Claude review branch! main b", 1);
      await at("b", 1);
      await reads(TEN);
      await neovim.command("Claude review!");
      await reads("edited\n");
      await neovim.command("Claude review branch! main b");
      await reads(TEN);
    },
  );

  nightly.test("another base, folders, and none that there is", async () => {
    await neovim.command("Claude review branch nowhere");
    await says(`has no branch, tag or commit of the name nowhere`);
    expect(
      await lua<boolean>('return require("claude-code.editor.review.listing").review() == nil'),
    ).toBe(true);
    expect(await read("Claude review branch topic", 1)).toEqual(["a:8 +2 -1  LINE 8"]);
    await read("Claude review branch HEAD~1", 4);
    await read("Claude review branch main c d", 2);
    await neovim.command("Claude review branch main b");
    await says("nothing in b differs from main");
    await neovim.command("Claude review branch main typo");
    await says("there is no file of the name typo");
    git("commit", "-qam", "x");
    await neovim.command("Claude review branch HEAD");
    await says("nothing differs from HEAD");
    git("switch", "-q", "--orphan", "empty");
    await neovim.command("Claude review branch");
    await says("has no commit yet");
  });

  nightly.test("a work tree that is not the current one, detached", async () => {
    const other = mkdtempSync(join(neovim.home, "tree-"));
    rmSync(other, { recursive: true });
    git("worktree", "add", "-q", "--detach", other, "topic");
    writeFileSync(join(other, "b"), `${TEN}more\n`);
    await lua('require("claude-code.editor.review.branch").open(..., "main", nil, true)', other);
    const items = await listed(4);
    expect(items.map((item) => item.replace(/^.*\//, ""))).toEqual([
      "a:2 +1 -1  LINE 2",
      "b:11 +1 -0  more",
      "c:1 new file",
      "d:1 deleted",
    ]);
    await neovim.type("]f");
    await at("b", 11);
    expect(await lua<string>("return vim.api.nvim_buf_get_name(0)")).toBe(join(other, "b"));
    await eventually("its mark", async () => expect(await marked()).toEqual([11]));
    await neovim.command("Claude comment more?");
    await says("1 comment waits");
    expect(await lua<string>('return require("port").comments.at(0, 11).text')).toBe("more?");
    await lua(
      'require("claude-code.editor.review.branch").open(..., "main", { ... .. "/c" })',
      other,
    );
    await listed(1);
  });

  test("the base is completed, then files", async () => {
    git("tag", "v1");
    const complete = (line: string) =>
      lua<string[]>("return vim.fn.getcompletion(..., 'cmdline')", line);
    expect(await complete("Claude review branch ")).toEqual(["main", "topic", "v1"]);
    expect(await complete("Claude review branch to")).toEqual(["topic"]);
    expect(await complete("Claude review branch main ")).toEqual(["a", "b", "c"]);
    expect(await complete("Claude review b")).toContain("branch");
  });
});
