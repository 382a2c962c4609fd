import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { eventually, neovimStateOf, nightly, onEachNeovim } from "#test";
import { join } from "../../src/lib/platform";

/* A prompt in a buffer. The program in Claude's terminal records what it receives. */
onEachNeovim(
  (session) => {
    const lua = <T>(code: string, ...args: unknown[]) => session.neovim.lua<T>(code, ...args);
    const lines = () => lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, true)");
    const messages = () => lua<string>("return vim.fn.execute('messages')");
    const drafts = () => join(neovimStateOf(session.neovim.home), "claude-code/drafts");
    const received = () => {
      const path = session.path("received");
      return existsSync(path) ? readFileSync(path, "utf8") : "";
    };
    /** Includes the text that Claude received. */
    const plays = (script: string) =>
      session.neovim.plays(script, { words: { sent: () => received().replaceAll("\r", "<CR>") } });

    /** Opens the prompt, and replaces its lines. */
    const open = async (text?: string[]) => {
      await session.neovim.command("Claude prompt");
      // Insert mode begins a moment later, except in a draft.
      if (!(await lines()).join("").trim()) await session.neovim.inMode("i");
      await plays("<C-\\><C-n>  mode n  {bufname()} /^claude-code:..prompt/");
      if (text) await lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, (...))", text);
    };

    beforeEach(async () => {
      await session.known();
      if (!(await lua<boolean>("return require('port').running.is_any_open()"))) {
        await session.neovim.command("Claude");
        const begins = () => received() === "" && existsSync(session.path("received"));
        await eventually("the terminal", begins);
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

    test("sends one paste with :wq, and leaves no draft", async () => {
      await open(["# all", "of it"]);
      await plays(`
        <Ignore>         {&filetype} markdown   windows 3
        :wq<CR>          sent /# all\\|of it.*<CR>/   a.txt:*
        :Claude prompt   lines =
      `);
    });

    test("begins in insert mode, and quotes the selected lines", () =>
      plays(`
        :Claude prompt<CR>                   mode i
        half<Esc>:q<CR>                      says your prompt is kept
        :Claude prompt<CR>                   line half   mode n
        cc<Esc>:q<CR>                        a.txt:*
        2GVj:Claude prompt<CR>Why?<Esc>      lines = Why?|{selection}
        :wq<CR>                              sent Why?|a.txt:2-3|
      `));

    test.each(["q!", "write | quit"])(":%s sends nothing and keeps the draft", async (command) => {
      await open(["half of"]);
      await plays(`
        :${command}<CR>      says your prompt is kept   sent =
        :Claude prompt<CR>   line half of
        ZZ                   sent half of
      `);
    });

    test("keeps a draft across a crash of Neovim", async () => {
      await open(["not yet"]);
      await lua("vim.api.nvim_exec_autocmds('TextChanged', { buffer = 0 })");
      const folder = drafts();
      const written = () => execFileSync("grep", ["-r", "not yet", folder]).length > 0;
      await eventually("the file", written);
      expect(execFileSync("find", [folder, "-perm", "/077"]).toString()).toBe("");
    });

    test.each([
      ["set autowriteall", ":quit<CR>"],
      ["set autowriteall nohidden", ":buffer a.txt<CR>"],
      ["set autowrite nohidden", "<C-^>"],
      ["autocmd BufLeave,QuitPre * ++nested silent! write", ":quit<CR>"],
      ["set hidden", ":wq! other.md<CR>"],
    ])("sends nothing after :%s by %s", async (setup, typed) => {
      await open(["half of"]);
      await lua("vim.cmd.augroup('t') vim.cmd(...)", setup);
      await plays(typed);
      await session.neovim.command("augroup END | autocmd! t");
      await session.neovim.command("set hidden noautowrite noautowriteall");
      await session.known();
      await plays(":Claude prompt  lines = half of  sent =");
    });

    nightly.test("restores a long draft, and one in another folder or tab page", async () => {
      const long = Array.from({ length: 20_000 }, (_, i) => `${i} `.padEnd(100, "x"));
      await open(long);
      await plays(`
          :quit<CR>        a.txt:*
          :Claude prompt   {line('$')} 20000
          :edit!           {line('$')} 20000
        `);
      expect(await lines()).toEqual(long);
      session.write("sub/x", "");
      await session.neovim.command("tcd sub");
      await lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'short' })");
      await plays(`
          :quit | tcd ..
          :Claude prompt            lines = short
          :tabnew | Claude prompt   lines = short   {tabpagenr()} 1
          :tabonly
        `);
    });

    test.each([
      ["split", ":wq<CR>"],
      ["tab split", ":xit<CR>"],
      ["vsplit", "ZZ"],
    ])("is sent after :%s by %s, and closed in both windows", async (show, typed) => {
      const before = await lua<number>("return #vim.api.nvim_list_wins()");
      await open(["once"]);
      await plays(`
        :${show}
        ${typed}   sent once   {nvim_list_wins()->len()} ${before}   {tabpagenr('$')} 1
      `);
      await session.known();
      expect(received().split("once")).toHaveLength(2);
    });

    test("continues in the other of two windows", async () => {
      await open(["half of"]);
      await plays(`
        :split
        :quit<CR>   lines = half of   sent =
      `);
    });

    test("reports a draft that cannot be kept, and keeps the previous one", async () => {
      await open(["before"]);
      await session.neovim.command("write");
      const [file = ""] = readdirSync(drafts()).map((one) => join(drafts(), one));
      mkdirSync(`${file}.new`);
      await plays("ccafter<Esc>:write<CR>  says the draft of your prompt could not be kept");
      expect(readFileSync(file, "utf8")).toBe("before");
      for (const quit of ["quit", "wincmd p | qall"])
        expect(await session.neovim.command(quit).catch(String)).toMatch(/E37|E162/);
      await plays(":Claude prompt  lines = after");
      rmSync(`${file}.new`, { recursive: true });
      await plays(":quit<CR>  a.txt:*");
      expect(readFileSync(file, "utf8")).toBe("after");
      rmSync(file);
    });

    test("takes over a draft of a Neovim that has ended, and of no other", async () => {
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

    test("leaves neither a client nor an autocommand behind, and knows each session's number", async () => {
      await open();
      await plays(`
        :quit<CR>              {v:lua.vim.lsp.get_clients()} []   {getcompletion('claude-code.prompt', 'augroup')} []
                               says ! deprecated
        :Claude prompt 9       says there is no Claude session 9
        :Claude transcript 9   says there is no Claude session 9
        :Claude follow 9       says there is no Claude session 9
      `);
    });

    test("shows earlier prompts of this Neovim and of the project's conversations", async () => {
      const folder = await lua<string>("return (vim.uv.cwd():gsub('[^%w]', '-'))");
      const project = join(session.neovim.home, ".claude/projects", folder);
      mkdirSync(project, { recursive: true });
      const entry = (content: string) =>
        JSON.stringify({
          ...{ type: "user", cwd: session.neovim.cwd, uuid: content },
          message: { role: "user", content },
        });
      const entries = ["the first", "<command-name>/clear</command-name>", "two\nlines"].map(entry);
      const file = "6898139a-daf4-4a15-834b-4255243cf4ac.jsonl";
      writeFileSync(join(project, file), `${entries.join("\n")}\n`);
      await open(["of today"]);
      await plays(`
        :wq<CR>              sent of today
        :Claude prompt<CR>   mode i
        mine<C-p>            lines = of today
      `);
      for (let i = 0; i < 20; i++) await session.neovim.type("<C-p>");
      await plays(`
        <Ignore>             lines = the first
        <C-n>                lines = two|lines
      `);
      for (let i = 0; i < 20; i++) await session.neovim.type("<C-n>");
      await plays(`
        <C-n>                lines = mine
        <Esc>:lua vim.ui.select = function(all, _, done) done(all[#all]) end<CR>
        :Claude prompt!<CR>  lines = mine|the first
      `);
    });

    test("keeps the text without a Claude", async () => {
      await lua("require('port').terminal.close_all()");
      await open(["for later"]);
      await plays(`
        :wq<CR>          says kept as a draft
        :Claude prompt   lines = for later
      `);
    });

    test("sends a prompt only to its own session", async () => {
      await open(["for that one"]);
      await lua("require('port').terminal.close_all()");
      await plays(`
        :wincmd t | Claude new        {v:lua.require'port'.running.is_any_open()} v:true
        :stopinsert | Claude prompt   lines = for that one
        :wq<CR>                       says Claude has ended; your prompt is kept as a draft
        :Claude prompt                lines = for that one   sent ! for that one
      `);
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
            vim.lsp.buf_request(0, "textDocument/completion", params, done)
            vim.wait(2000, function() return items end, 1)
            return items`,
          line,
          row,
        );

      test("offers files after @, commands and skills after / in the first line, placeholders after {", async () => {
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
          local server = require("port").language_server({ workspaceSymbolProvider = true }, {
            request = function(_, _, done) done(nil, symbols) end,
          })
          vim.lsp.start({ name = "symbols", cmd = server }, { bufnr = 0 })`);
        await open();
        expect(await complete("@evil")).toEqual(["0 @ok.lua#L1"]);
        await lua("vim.lsp.stop_client(vim.lsp.get_clients({ name = 'symbols' }), true)");
        expect(await messages()).not.toContain("E5");
      });

      test.each([
        ["see @pars", "see @src/deep/parser.ts"],
        ["/ti", "/tidy"],
        ["plain words", "plain words"],
      ])("completes by CTRL-X CTRL-O: %s", async (typed, completed) => {
        session.write("src/deep/parser.ts", "");
        session.write(".claude/skills/tidy/SKILL.md", "---\nname: tidy\n---\n");
        await open();
        // The omnifunc of Neovim 0.10 drops items that do not begin with the typed text.
        const isOld = !(await lua<boolean>("return vim.fn.has('nvim-0.11') == 1"));
        const keys = isOld ? typed.replace("@pars", "@src/") : typed;
        await plays(`
          i${keys}<C-x><C-o>   {pumvisible() || getline('.') ==# '${completed}'} 1
          <C-y><Esc>           line = ${completed}   says ! E5
        `);
      });
    });

    test("replaces placeholders when it is sent, and names an empty one", async () => {
      await plays("ggVj<Esc>  mode n");
      session.write(".env", "TOKEN=1\n");
      await lua(`
        vim.diagnostic.set(vim.api.nvim_create_namespace("t"), 0, {
          { lnum = 1, col = 2, message = "bad\\nthing", severity = 1 },
        })
        vim.fn.setqflist({
          { filename = "a.txt", lnum = 3, text = "see" }, { filename = ".env", lnum = 1, text = "TOKEN" },
        })`);
      // The user's last file also counts in Claude's terminal.
      await session.neovim.command("Claude focus");
      await open();
      await lua("vim.fn.setline(1, '{selection}{diagnostics}{quickfix}{other} {Selection}')");
      await plays(":wq<CR>");
      const sent = [
        "a.txt:1-2\n```text\none\ntwo\n```",
        "```\na.txt:2:3 ERROR: bad thing\n```",
        "```\na.txt:3: see\n```{other} {Selection}",
      ];
      await eventually("the text", () => received().includes(sent.join("")));
      await lua("vim.fn.setqflist({}) vim.cmd.wincmd('t') vim.cmd.edit('.env')");
      await plays("ggV<Esc>");
      for (const one of ["quickfix", "selection"]) {
        await open([`a {${one}} b`]);
        await plays(`
          :wq<CR>          says your prompt is kept, and not sent: {${one}} has no value here
          :Claude prompt   lines = a {${one}} b   sent ! a {
        `);
      }
    });
  },
  {
    ui: { width: 160, height: 40 },
    constants: ["running.MAX_START_MS = 300"],
    setup:
      '{ terminal = { command = { "/bin/sh", "-c", "stty raw -echo; echo up; exec cat > received" } } }',
  },
);
