import { mkdirSync, writeFileSync } from "node:fs";
import { eventually, NEOVIMS, needs, outcomeOf, TestClient, TestNeovim } from "#test";
import { dirname, join } from "../../../src/lib/platform";
import { configure, ECHO, openEcho, startNeovim, terminalText } from "../../terminal/workbench";

const LINES = ["one", "two", "three", "four", "five"];

describe.each(NEOVIMS)("comments in $name", (version) => {
  let neovim: TestNeovim;
  beforeEach(async () => {
    neovim = await startNeovim(version, "{}");
    await attached(neovim);
    write("src/a.ts", LINES);
    await neovim.command("edit src/a.ts");
  });
  afterEach(() => neovim[Symbol.asyncDispose]());

  function write(name: string, lines: string[]): void {
    const path = join(neovim.cwd, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${lines.join("\n")}\n`);
  }

  /** Virtual text in the current buffer: `row: text`, the row above it from 1. */
  const drawn = (of = neovim) =>
    of.lua<string[]>(`
      local namespace = vim.api.nvim_get_namespaces()["claude-code.review.comments"]
      local marks = vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })
      return vim.tbl_map(function(mark)
        local lines = vim.tbl_map(function(line) return line[2][1] end, mark[4].virt_lines)
        return (mark[2] + 1) .. ": " .. table.concat(lines, "|")
      end, marks)`);
  const draws = (expected: string[], of = neovim) =>
    eventually("the comments", async () => expect(await drawn(of)).toEqual(expected));
  const attached = (one: TestNeovim) =>
    one.until("the executable", 'return require("port").channel.is_attached()');
  /** Includes the drawn comments, and the plugin's last message. */
  const plays = (script: string) =>
    neovim.plays(script, {
      words: {
        drawn: async () => (await drawn()).join("; "),
        said: () => neovim.lua<string>("return SAID[#SAID] or ''"),
      },
    });
  /** The input of the program in Claude's terminal. */
  const pasted = async () => (await terminalText(neovim)).replaceAll("\n", "");

  test("makes, edits and deletes comments", async () => {
    await neovim.lua(`
      vim.ui.input = function(options, done)
        ASKED = options
        done(ANSWER)
      end
      vim.keymap.set("x", "gC", "<Plug>(claude-comment)")`);
    await plays(`
      :2,3Claude comment better names | please
                                 drawn = 3: better names | please
      :5 | lua ANSWER = "why?"
      :Claude comment            drawn = 3: better names | please; 5: why?
      :3 | lua ANSWER = nil
      :Claude comment            {luaeval('ASKED.default')} better names | please
                                 drawn = 3: better names | please; 5: why?
      :lua ANSWER = "names"
      :Claude comment            drawn = 3: names; 5: why?
      :lua ANSWER = ""
      :Claude comment            drawn = 5: why?   said 1 comment waits to be sent: :Claude comment! sends all
                                 {luaeval('require("port").comments.at(0, 5).text')} why?   {v:lua.require'port'.comments.at(0, 4)} v:null
      :lua ANSWER = ("word "):rep(20)
      ggVjgC                     drawn /^2: (word ?){15}\\|word word word word word; 5: why.$/
    `);
  });

  test("follows its lines, into the next Neovim, too, and says that they are gone", async () => {
    await plays(`
      :4Claude comment here                      drawn = 4: here
      :call append(0, ['zero', 'zero']) | write  drawn = 6: here
    `);
    const options = { version, cwd: neovim.cwd, home: neovim.home };
    await using next = await TestNeovim.start(options);
    await attached(next);
    write("src/a.ts", ["new", "zero", "zero", ...LINES]);
    await next.command("edit src/a.ts");
    await draws(["7: here"], next);
    write("src/a.ts", ["zero", "other"]);
    await next.command("edit!");
    await draws(["2: (its lines have changed) here"], next);
    // Both Neovims share one state.
    await next.lua('vim.ui.input = function(_, done) done("") end');
    await next.command("2Claude comment");
    await draws([], next);
    await draws([]);
  });

  needs("a shell")(
    "pastes all comments into Claude's terminal once, and submits them",
    async () => {
      write("b.ts", ["x", "y"]);
      await plays(`
      :2,3Claude comment better names   drawn = 3: better names
      :edit b.ts
      :1Claude comment why x?           drawn = 1: why x?
    `);
      write("b.ts", ["other"]);
      await neovim.command("bwipeout! | edit src/a.ts");
      await configure(neovim, `{ command = ${ECHO} }`);
      await openEcho(neovim);
      await neovim.type("<C-\\><C-n>");
      // Enter would answer the CLI's question.
      const pid = await neovim.lua<number>("return vim.b.terminal_job_pid");
      using cli = await TestClient.open(await neovim.lock(), "claude-code");
      cli.notify("ide_connected", { pid });
      await neovim.until(
        "the client",
        'return (require("port").server.clients[1] or {}).pid == ...',
        pid,
      );
      const folder = join(neovim.home, ".claude/sessions");
      mkdirSync(folder, { recursive: true });
      /** Resolves once Neovim knows it. */
      const status = async (status: string, state: string) => {
        const file = { pid, status, kind: "interactive", cwd: neovim.cwd };
        writeFileSync(join(folder, `${pid}.json`), JSON.stringify(file));
        const known = `return (require("port").session_rows.get({ pid = ... }) or {}).state == "${state}"`;
        await neovim.until(status, known, pid);
      };
      await status("waiting", "blocked");
      await plays(":Claude comment!  said Claude asks something in its terminal: answer it first");
      await status("idle", "idle");
      expect(await pasted()).toBe("up");
      await neovim.command("Claude comment!");
      const first = "1. src/a.ts:2-3: better names > two > three";
      const second = "2. b.ts:1 (these lines have changed since): why x? > x";
      const text = `My comments on these lines: ${first} ${second}`.replaceAll(" ", "");
      await eventually("the paste", async () =>
        expect((await pasted()).replaceAll(/\s|\^[MJ]/g, "")).toContain(`^[[200~${text}^[[201~`),
      );
      await eventually("Enter", async () => expect(await pasted()).toEndWith("^[[201~^M"));
      // A sent comment disappears when its lines change.
      await plays(`
      <Ignore>           said = 2 comments sent to Claude
      :wincmd p          drawn = 3: sent: better names
      :Claude comment!   said no comment to send
      :call deletebufline('', 3) | call setline(2, 'TWO') | write
                         drawn =
    `);
    },
  );

  test("keeps comments until a Claude runs, and mentions them to one that runs elsewhere", async () => {
    await plays(
      `:1Claude comment! look  said no Claude runs, so your comments wait  drawn = 1: look`,
    );
    using cli = await TestClient.open(await neovim.lock(), "claude-code");
    await cli.request("tools/list");
    cli.notify("ide_connected", { pid: process.pid });
    await neovim.until("the client", 'return #require("port").server.clients == 1');
    await neovim.command("Claude comment!");
    // Its prompts contain nothing that was requested before it started.
    await eventually("one mention", async () =>
      expect(cli.notifications("at_mentioned")).toEqual([{ filePath: "ide:review:comments" }]),
    );
    // It is about its line, however the user edits that line before Claude reads it.
    await plays(`
      <Ignore>                        said press Enter in Claude's prompt to send your comments   drawn = 1: look
      :call setline(1, 'one more')
    `);
    const { resources } = await cli.request<{ resources: { uri: string }[] }>("resources/list");
    expect(resources.map(({ uri }) => uri)).toContain("review:comments");
    const uri = "review:comments";
    // Another program does not take them away from Claude.
    using other = await TestClient.open(await neovim.lock(), "another");
    expect(await outcomeOf(other.request("resources/read", { uri }))).toThrow("No open buffer");
    const read = () => cli.request("resources/read", { uri });
    const text = "My comments on these lines:\n\n1. src/a.ts:1: look\n   > one more";
    expect(await read()).toMatchObject({ contents: [{ uri: "review:comments", text }] });
    await plays("<Ignore>  drawn = 1: sent: look  said = 1 comment sent to Claude");
    const none = "You have already received every comment of the user.";
    expect(await read()).toMatchObject({ contents: [{ text: none }] });
  });

  test("lists comments with the fate of their lines, and deletes them there", async () => {
    const lists = (texts: string) =>
      eventually("the list", () =>
        plays(
          `:Claude comment list  {getqflist()->map('bufname(v:val.bufnr)->fnamemodify(":t") .. " " .. v:val.text')} ['${texts}']`,
        ),
      );
    await plays(`
      :2Claude comment first
      :2Claude comment second
      :4Claude comment below                 drawn = 2: first|second; 4: below
    `);
    write("b.ts", LINES);
    await plays(":edit b.ts | 1Claude comment other  drawn = 1: other");
    await lists("a.ts waits first', 'a.ts waits second', 'a.ts waits below', 'b.ts waits other");
    await neovim.command("1,2Claude comment delete");
    await lists("a.ts waits below', 'b.ts waits other");
    await plays("<CR>  drawn = 4: below");
    using cli = await TestClient.open(await neovim.lock(), "claude-code");
    await cli.request("resources/read", { uri: "review:comments" });
    // Claude changes the line, in a buffer that is not read again, and leaves an equal line.
    await plays(`
      <Ignore>   drawn = 4: sent: below
      :call setline(1, ['0', 'four', '2', '4']) | call append(4, 'four') | 6delete
                 drawn =
      :undo      drawn = 4: sent: below
    `);
    write("b.ts", ["ONE"]);
    await neovim.command("bwipeout! b.ts");
    await lists("a.ts sent, untouched below', 'b.ts sent, changed other");
  });

  test("takes lines that are empty, very long, the last one, or no text", async () => {
    const path = join(neovim.cwd, "odd");
    writeFileSync(path, Buffer.from(`\xff\xfe\0\n\n${"long ".repeat(10_000)}\n\xe9nd`, "latin1"));
    await neovim.command("edit ++enc=utf-8 odd");
    for (const row of [1, 2, 3, 4]) await neovim.command(`${row}Claude comment on ${row}`);
    const all = [1, 2, 3, 4].map((row) => `${row}: on ${row}`);
    await draws(all);
    await neovim.command("edit!");
    await eventually("the comments", async () => expect(await drawn()).toHaveLength(4));
    expect((await drawn()).slice(1, 3)).toEqual(all.slice(1, 3));
    await neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, {})");
    await neovim.command("1Claude comment on nothing");
    await neovim.command("silent write");
    expect((await drawn()).length).toBeGreaterThan(0);
  });

  test("refuses private files and buffers without a file, and loses no comment without the executable", async () => {
    write(".env", ["KEY=1"]);
    await plays(`
      :enew
      :Claude comment x                  said this buffer is not a file
      :edit .env
      :Claude comment x                  said private
      :edit src/a.ts
      :ClaudeCodeStop
      :1Claude comment a long thought    said a long thought
      :ClaudeCodeStart
    `);
    await attached(neovim);
    await plays(":1Claude comment a long thought  drawn = 1: a long thought");
  });
});
