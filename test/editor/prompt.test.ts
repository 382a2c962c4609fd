import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { eventually, nightly, onEachNeovim } from "#test";

/* A prompt in a buffer. The program in Claude's terminal writes down what it receives. */
onEachNeovim(
  (session) => {
    const lua = <T>(code: string, ...args: unknown[]) => session.neovim.lua<T>(code, ...args);
    const keys = (typed: string) =>
      lua("vim.api.nvim_feedkeys(vim.keycode((...)), 'mx', false)", typed);
    const name = () => lua<string>("return vim.api.nvim_buf_get_name(0)");
    const lines = () => lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, true)");
    const messages = () => lua<string>("return vim.fn.execute('messages')");
    const says = (text: string) =>
      eventually(text, async () => expect(await messages()).toContain(text));
    const drafts = () => join(session.neovim.home, ".local/state/nvim/claude-code/drafts");
    const received = () => {
      const path = session.path("received");
      return existsSync(path) ? readFileSync(path, "utf8") : "";
    };

    const open = async () => {
      await session.neovim.command("Claude prompt");
      expect(await name()).toStartWith("claude-code://prompt/");
      // It begins a moment later, but in a draft.
      if (!(await lines()).join("").trim()) await session.neovim.inMode("i");
      await lua("vim.cmd.stopinsert()");
      await session.neovim.inMode("n");
    };

    beforeEach(async () => {
      await session.known();
      if (!(await lua<boolean>("return require('port').running.is_any_open()"))) {
        await session.neovim.command("Claude");
        await eventually(
          "the terminal",
          () => received() === "" && existsSync(session.path("received")),
        );
      }
      await lua("vim.cmd.stopinsert() vim.cmd.messages('clear')");
      session.write("a.txt", "one\ntwo\nthree\n");
      await lua("vim.cmd.wincmd('t') vim.cmd.edit('a.txt')");
      writeFileSync(session.path("received"), "");
    });
    afterEach(() =>
      lua(`
        for _, buf in ipairs(vim.api.nvim_list_bufs()) do
          if vim.startswith(vim.api.nvim_buf_get_name(buf), "claude-code://prompt/") then
            vim.api.nvim_buf_set_lines(buf, 0, -1, true, {})
            vim.api.nvim_buf_delete(buf, { force = true })
          end
        end`),
    );

    const type = (text: string[]) => lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, (...))", text);

    test(":wq sends it as one paste, and no draft stays", async () => {
      await open();
      expect(await lua("return { vim.bo.filetype, vim.fn.winnr('$') }")).toEqual(["markdown", 3]);
      await type(["# all", "of it"]);
      await keys(":wq<CR>");
      await eventually("the text and Enter", () => /# all\nof it.*\r/s.test(received()));
      expect(await name()).not.toContain("prompt");
      await open();
      expect(await lines()).toEqual([""]);
    });

    test("an empty one is in insert mode; after lines in visual mode it is about them", async () => {
      const mode = () => lua<string>("return vim.fn.mode()");
      await session.neovim.type(":Claude prompt<CR>");
      await eventually("insert mode", async () => (await mode()) === "i");
      await session.neovim.type("half<Esc>:q<CR>");
      await says("your prompt is kept");
      await session.neovim.type(":Claude prompt<CR>");
      await eventually("the draft", async () => (await lines())[0] === "half");
      expect(await mode()).toBe("n");
      await session.neovim.type("cc<Esc>:q<CR>");
      await eventually("the file", async () => (await name()).endsWith("a.txt"));
      await session.neovim.type("2GVj:Claude prompt<CR>Why?<Esc>");
      await eventually("the question", async () => (await lines())[0] === "Why?");
      expect(await lines()).toEqual(["Why?", "{selection}"]);
      await session.neovim.type(":wq<CR>");
      await eventually("the lines", () => received().includes("Why?\na.txt:2-3\n"));
    });

    test.each([
      ["a forced :q", ":q!<CR>"],
      ["a write, and later a quit", ":write<CR>:quit<CR>"],
    ])("%s sends nothing and keeps the draft", async (_name, typed) => {
      await open();
      await type(["half of"]);
      for (const one of typed.split(/(?<=<CR>)/)) await keys(one);
      await says("your prompt is kept");
      await open();
      expect(await lines()).toEqual(["half of"]);
      expect(received()).toBe("");
      await keys("ZZ");
      await eventually("what ZZ sends", () => received().includes("half of"));
    });

    test("a draft outlives Neovim, by a crash, too", async () => {
      await open();
      await type(["not yet"]);
      await lua("vim.api.nvim_exec_autocmds('TextChanged', { buffer = 0 })");
      const folder = drafts();
      await eventually(
        "the file",
        () => execFileSync("grep", ["-r", "not yet", folder]).length > 0,
      );
      expect(execFileSync("find", [folder, "-perm", "/077"]).toString()).toBe("");
    });

    test.each([
      ["'autowriteall' and :quit", "set autowriteall", ":quit<CR>"],
      ["'autowriteall' and another buffer", "set autowriteall nohidden", ":buffer a.txt<CR>"],
      ["'autowrite' and CTRL-^", "set autowrite nohidden", "<C-^>"],
      [
        "a plugin that saves what is left",
        "autocmd BufLeave,QuitPre * ++nested silent! write",
        ":quit<CR>",
      ],
      ["another file's name", "set hidden", ":wq! other.md<CR>"],
    ])("%s sends nothing", async (_name, setup, typed) => {
      await open();
      await type(["half of"]);
      await lua("vim.cmd.augroup('t') vim.cmd(...)", setup);
      await keys(typed);
      await lua(
        "vim.cmd('augroup END | autocmd! t') vim.cmd('set hidden noautowrite noautowriteall')",
      );
      await session.known();
      await open();
      expect(await lines()).toEqual(["half of"]);
      expect(received()).toBe("");
    });

    nightly.test(
      "a draft is whole again: a long one, after :edit!, after :tcd, in another tab page",
      async () => {
        const long = Array.from({ length: 20_000 }, (_, i) => `${i} `.padEnd(100, "x"));
        await open();
        await type(long);
        await keys(":quit<CR>");
        await open();
        expect(await lines()).toEqual(long);
        await keys(":edit!<CR>");
        expect(await lines()).toEqual(long);
        session.write("sub/x", "");
        await lua("vim.cmd.tcd('sub')");
        await type(["short"]);
        await keys(":quit<CR>");
        await lua("vim.cmd.tcd('..')");
        await open();
        expect(await lines()).toEqual(["short"]);
        await session.neovim.command("tabnew");
        await open();
        expect(await lua<number>("return vim.fn.tabpagenr()")).toBe(1);
        await session.neovim.command("tabonly");
      },
    );

    test.each([
      ["two windows", "split", ":wq<CR>"],
      ["two tab pages", "tab split", ":xit<CR>"],
      ["two windows, by a key", "vsplit", "ZZ"],
    ])("shown in %s it is sent and closed in both", async (_name, show, typed) => {
      const windows = () => lua("return { #vim.api.nvim_list_wins(), vim.fn.tabpagenr('$') }");
      const before = await windows();
      await open();
      await type(["once"]);
      await session.neovim.command(show);
      await keys(typed);
      await eventually("the text", () => received().includes("once"));
      await session.known();
      expect(received().split("once")).toHaveLength(2);
      expect(await windows()).toEqual(before);
    });

    test("shown in two windows, one of them closed, it is still written in the other", async () => {
      await open();
      await type(["half of"]);
      await session.neovim.command("split");
      await keys(":quit<CR>");
      expect(await lines()).toEqual(["half of"]);
      expect(received()).toBe("");
    });

    test("a draft that cannot be kept says so, and the one before stays", async () => {
      await open();
      await type(["before"]);
      await keys(":write<CR>");
      const folder = drafts();
      const [file = ""] = readdirSync(folder).map((one) => join(folder, one));
      mkdirSync(`${file}.new`);
      await type(["after"]);
      await keys(":write<CR>");
      expect(await messages()).toContain("the draft of your prompt could not be kept");
      expect(readFileSync(file, "utf8")).toBe("before");
      for (const quit of ["quit", "wincmd p | qall"])
        expect(await session.neovim.command(quit).catch(String)).toMatch(/E37|E162/);
      await session.neovim.command("Claude prompt");
      expect(await lines()).toEqual(["after"]);
      rmdirSync(`${file}.new`);
      await keys(":quit<CR>");
      expect(readFileSync(file, "utf8")).toBe("after");
      rmSync(file);
    });

    test("a draft of a Neovim that has ended is this one's; one of another that runs is not", async () => {
      const folder = drafts();
      const hash = await lua<string>(
        "return vim.fn.sha256(require('port').workspace.tab_folder(0)):sub(1, 16)",
      );
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${hash}-1-${process.pid}.md`), "theirs");
      writeFileSync(join(folder, `${hash}-1-4194305.md`), "of before");
      await open();
      expect(await lines()).toEqual(["of before"]);
      expect(readdirSync(folder)).toContain(`${hash}-1-${process.pid}.md`);
      rmSync(join(folder, `${hash}-1-${process.pid}.md`));
    });

    test("it leaves neither a client nor an autocommand behind, and no number of a session that is none", async () => {
      const left = () =>
        lua(
          `return { #vim.lsp.get_clients(), vim.fn.getcompletion("claude-code.prompt", "augroup") }`,
        );
      await open();
      await keys(":quit<CR>");
      await eventually("that it is gone", async () => expect(await left()).toEqual([0, []]));
      expect(await messages()).not.toContain("deprecated");
      for (const command of ["prompt", "transcript", "follow"]) {
        await session.neovim.command("messages clear");
        await session.neovim.command(`Claude ${command} 9`);
        expect(await messages()).toContain("there is no Claude session 9");
      }
    });

    test("without a Claude the text stays", async () => {
      await lua("require('port').terminal.close_all()");
      await open();
      await type(["for later"]);
      await keys(":wq<CR>");
      await says("kept as a draft");
      await open();
      expect(await lines()).toEqual(["for later"]);
    });

    test("a prompt for a session that ends meanwhile is sent to no other one", async () => {
      await open();
      await type(["for that one"]);
      await lua("require('port').terminal.close_all()");
      await session.neovim.command("wincmd t | Claude new");
      await session.neovim.until("the next one", "return require('port').running.is_any_open()");
      await lua("vim.cmd.stopinsert()");
      await session.neovim.command("Claude prompt");
      await keys(":wq<CR>");
      await says("Claude has ended; your prompt is kept as a draft");
      await open();
      expect(await lines()).toEqual(["for that one"]);
      expect(received()).not.toContain("for that one");
    });

    describe("completion", () => {
      const complete = (line: string, row = 0) =>
        lua<string[]>(
          `
            local line, row = ...
            vim.api.nvim_buf_set_lines(0, 0, -1, true, row == 0 and { line } or { "", line })
            local client = vim.lsp.get_clients({ bufnr = 0 })[1]
            local params = {
              textDocument = { uri = vim.uri_from_bufnr(0) },
              position = { line = row, character = vim.fn.strchars(line) },
            }
            local items
              local function done(_, result)
              items = vim.tbl_map(function(item)
                return item.textEdit.range.start.character .. " " .. item.textEdit.newText
              end, result.items)
            end
            if vim.fn.has("nvim-0.11") == 1 then
              client:request("textDocument/completion", params, done, 0)
            else
              client.request("textDocument/completion", params, done, 0)
            end
            vim.wait(2000, function() return items end, 1)
            return items`,
          line,
          row,
        );

      test("files after @, commands and skills after / in the first line, placeholders after {", async () => {
        session.write("src/deep/parser.ts", "");
        session.write("src/two words.ts", "");
        session.write(".env", "");
        session.write(".claude/commands/ship/release.md", "---\ndescription: 'Ship it'\n---\n");
        session.write(".claude/skills/tidy/SKILL.md", "---\nname: tidy\n---\n");
        await open();
        expect(await complete("see @pars")).toEqual(["4 @src/deep/parser.ts"]);
        expect(await complete("ü @sdp")).toEqual(["2 @src/deep/parser.ts"]);
        for (const typed of ["@two", '@"two', '@"two w']) {
          expect(await complete(typed)).toEqual(['0 @"src/two words.ts"']);
        }
        expect(await complete("@.env")).toEqual([]);
        expect(await complete("mail@pars")).toEqual([]);
        expect(await complete("/re")).toEqual(
          ["release", "rename", "resume", "review", "rewind"].map((one) => `0 /${one}`),
        );
        expect(await complete("/ti")).toEqual(["0 /tidy"]);
        expect(await complete("/ti", 1)).toEqual([]);
        expect(await complete("fix {dia")).toEqual(["4 {diagnostics}"]);
      });

      test("leaves out symbols with line ends, control or invisible characters", async () => {
        await lua(`
          local function symbol(name, file)
            local range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 1 } }
            return { name = name, kind = 12, location = { uri = "file://" .. vim.fn.getcwd() .. file, range = range } }
          end
          local symbols = { symbol("evil", "/ok.lua"), symbol("evil", "/x%0Arm"), symbol("evil", "/e%1b.lua"),
            symbol("evil", "/%e2%80%ae.lua"), symbol("e\\27[31m", "/a.lua"), { name = 1, location = 2 } }
          local function request(method, _, callback)
            local isnt = method ~= "initialize"
            callback(nil, isnt and symbols or { capabilities = { workspaceSymbolProvider = true } })
            return true, 1
          end
          local server = { request = request }
          function server.notify() return true end
          function server.is_closing() return false end
          function server.terminate() end
          vim.lsp.start({ name = "symbols", cmd = function() return server end }, { bufnr = 0 })`);
        await open();
        expect(await complete("@evil")).toEqual(["0 @ok.lua#L1"]);
        await lua("vim.lsp.stop_client(vim.lsp.get_clients({ name = 'symbols' }), true)");
        expect(await messages()).not.toContain("E5");
      });

      test.each([
        ["see @pars", "see @src/deep/parser.ts"],
        ["/ti", "/tidy"],
        ["plain words", "plain words"],
      ])("is what CTRL-X CTRL-O asks: %s", async (typed, completed) => {
        session.write("src/deep/parser.ts", "");
        session.write(".claude/skills/tidy/SKILL.md", "---\nname: tidy\n---\n");
        await open();
        // The omnifunc of Neovim 0.10 drops what does not begin as it was typed.
        const isOld = !(await lua<boolean>("return vim.fn.has('nvim-0.11') == 1"));
        const keys = isOld ? typed.replace("@pars", "@src/") : typed;
        await session.neovim.type(`i${keys}<C-x><C-o>`);
        await eventually("the menu", async () => {
          const menu = "return { vim.fn.pumvisible(), vim.api.nvim_get_current_line() }";
          const [shown, line] = await lua<[number, string]>(menu);
          return shown === 1 || line === completed;
        });
        await session.neovim.type("<C-y><Esc>");
        await eventually("the word", async () => (await lines())[0] === completed);
        expect(await messages()).not.toContain("E5");
      });
    });

    test("replaces placeholders when it is sent, and names one that stands for nothing", async () => {
      await keys("ggVj<Esc>");
      session.write(".env", "TOKEN=1\n");
      await lua(`
        vim.diagnostic.set(vim.api.nvim_create_namespace("t"), 0, {
          { lnum = 1, col = 2, message = "bad\\nthing", severity = 1 },
        })
        vim.fn.setqflist({
          { filename = "a.txt", lnum = 3, text = "see" }, { filename = ".env", lnum = 1, text = "TOKEN" },
        })`);
      // From Claude's terminal, too, the file that the user was in counts.
      await session.neovim.command("Claude focus");
      await open();
      await type(["{selection}{diagnostics}{quickfix}{other} {Selection}"]);
      await keys(":wq<CR>");
      const sent = [
        "a.txt:1-2\n```text\none\ntwo\n```",
        "```\na.txt:2:3 ERROR: bad thing\n```",
        "```\na.txt:3: see\n```{other} {Selection}",
      ];
      await eventually("the text", () => received().includes(sent.join("")));
      await lua("vim.fn.setqflist({}) vim.cmd.wincmd('t') vim.cmd.edit('.env')");
      await keys("ggV<Esc>");
      await open();
      for (const one of ["quickfix", "selection"]) {
        await type([`a {${one}} b`]);
        await keys(":wq<CR>");
        await says(`your prompt is kept, and not sent: {${one}} stands for nothing here`);
        await open();
        expect(await lines()).toEqual([`a {${one}} b`]);
      }
      expect(received()).not.toContain("a ");
    });
  },
  {
    ui: { width: 160, height: 40 },
    setup:
      '{ terminal = { command = { "/bin/sh", "-c", "stty raw -echo; echo up; exec cat > received" } } }',
  },
);
