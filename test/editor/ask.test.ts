import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { eventually, onEachNeovim } from "#test";

/* A question about lines. The program in Claude's terminal writes down what it receives. */
onEachNeovim(
  (session) => {
    const lua = <T>(code: string, ...args: unknown[]) => session.neovim.lua<T>(code, ...args);
    const received = () => {
      const path = session.path("received");
      return existsSync(path) ? readFileSync(path, "utf8") : "";
    };
    /** The float's place on the screen, its texts on the border, and its lines. */
    const float = () =>
      lua<string>(`
        for _, win in ipairs(vim.api.nvim_list_wins()) do
          local config = vim.api.nvim_win_get_config(win)
          if config.relative ~= "" then
            local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, true)
            local last = config.row + config.height + 2
            return ("%d-%d%s%s%s"):format(config.row + 1, last, config.title[1][1], config.footer[1][1],
              table.concat(lines, "|"))
          end
        end
        return "no"`);
    const marked = () =>
      lua<number>(`
        local namespace = vim.api.nvim_get_namespaces()["claude-code.ask"]
        return #vim.api.nvim_buf_get_extmarks(vim.fn.bufnr("a.txt"), namespace, 0, -1, {})`);
    const plays = (script: string) =>
      session.neovim.plays(script, {
        words: {
          sent: () => received().replaceAll("\r", "<CR>"),
          float,
          marked: async () => String(await marked()),
        },
      });

    beforeEach(async () => {
      await session.known();
      if (!(await lua<boolean>("return require('port').running.is_any_open()"))) {
        await session.neovim.command("Claude");
        const begins = () => received() === "" && existsSync(session.path("received"));
        await eventually("the terminal", begins);
      }
      const rows = Array.from({ length: 100 }, (_, i) => `${i + 1}\n`);
      session.write("a.txt", rows.join(""));
      await lua(
        "vim.cmd('stopinsert | execute \"fclose!\" | messages clear | wincmd t | edit! a.txt | only!')",
      );
      writeFileSync(session.path("received"), "");
    });

    test("sends the question with the lines as they are in the buffer", async () => {
      const sent = "Why?|more||a.txt:2-3|```text|two|3|```";
      await plays(`
        2Gcctwo<Esc>                 {&modified} 1
        2GVj:Claude ask<CR>Why?      mode i   float = 4-6 Ask Claude about a.txt:2-3 <CR> asks <C-s> asks aside <Esc> closes Why?
                                     marked = 1
        <C-j>more                    float /^4-7 /
        <CR>                         sent ${sent}   sent <CR>   a.txt:2   mode n   float = no   marked = 0
      `);
    });

    test("is about the cursor's line by the mapping, and its <CR> works in Normal mode, too", () =>
      plays(`
        :nmap X <lt>Plug>(claude-ask)<CR>
        5GX                     float a.txt:5 <CR>   mode i
        five?<Esc><CR>          sent a.txt:5|   float = no
      `));

    test.each(["q", "<Esc>", ":q<CR>", "<C-w>c"])(
      "closes by %s, and keeps the question",
      async (key) => {
        await plays(`
        50Gzt                       {winsaveview().topline} 50
        VM:Claude ask<CR>why<Esc>   float why   mode n   {bufname()} claude-code://ask/a.txt:50-65
        ${key}                      float = no   marked = 0   sent =   {winsaveview().topline} 50   says question kept
        1G:Claude ask<CR>now<C-p>   float why   mode i
        <C-n>                       float now
        <C-u><Esc>${key}            float = no   says ! kept
      `);
      },
    );

    test("sends no empty question", () =>
      plays(`
        gg:Claude ask<CR><CR>   mode i   float a.txt:1   sent =   says write your question first
        <Esc>o<Esc><CR>       float a.txt:1   sent =
      `));

    test("sends the question of the command at once, or returns to an open one", () =>
      plays(`
        :2,3Claude ask a | b?        sent a | b?||a.txt:2-3|   float = no   mode n
        :Claude ask                  mode i   float a.txt:1
        one<Esc>:Claude ask two<CR>   says your question is not sent   float one
      `));

    test("stays beside the lines: above them at the end of the screen, below them otherwise", () =>
      plays(`
        60Gzb:Claude ask<CR><Esc>     float /^29-31 /
        qggVGk:Claude ask<CR><Esc>    float /a.txt:1-99/
        q50GztVM:Claude ask<CR>x      float /a.txt:50-/   screen /50 .51 .*64 .65 .╭/
        <Esc>q50Gzt70G:50,81Claude ask<CR>x       screen /80 .81 .╭/
        <Esc>q1G:90,91Claude ask<CR>x<C-j>y<C-j>z   float /^28-32 .*x.y.z/
      `));

    test("refuses lines of a private file", async () => {
      session.write(".env", "TOKEN=1\n");
      await plays(":edit .env | Claude ask  says .env is private   float = no");
    });

    test("keeps the question while Claude asks something, and returns to it", async () => {
      // A prompt delays what comes after it, but a draft does not.
      await plays(":Claude send draft  sent draft");
      writeFileSync(session.path("received"), "");
      await lua(
        `require("port").session_rows.report(1, "terminal", { state = "blocked" })
        vim.cmd("Claude ask")`,
      );
      await session.neovim.inMode("i");
      await plays(`
        why?<CR>                 says answer it first   float why?   sent =
        <Esc><C-w>t:Claude ask<CR>   line why?
      `);
      await lua(`require("port").session_rows.report(1, "terminal", { state = "idle" })`);
      await plays("<CR>  sent why?|");
    });

    test("replaces placeholders, and runs no line in a shell", () =>
      plays(`
        :Claude ask<CR>!ls {quickfix}<CR>   says {quickfix} stands for nothing here   sent =   float !ls
        <Esc>0WD<CR>                        sent / !ls/   sent ! {
      `));

    test("needs the mod for a question aside", () =>
      plays(`
        :Claude ask<CR>why?<C-s>   says asking aside needs the mod   float why?   sent =   mode i
        <CR>                       sent why?|
        :Claude ask! and?<CR>      says :Claude ask asks openly   float <CR> asks aside <Esc> closes and?   mode n
      `));

    test("names the session that it asks, and needs one", async () => {
      await plays(`
        :Claude new                     {v:lua.require'port'.running.current()} 2
        :stopinsert | wincmd t
        :Claude ask     float Ask Claude 2 about
      `);
      await lua("vim.cmd.stopinsert() require('port').terminal.close_all()");
      await plays(`
        <Esc>:quit<CR>
        :Claude ask    says no Claude runs in this Neovim   float = no
      `);
    });
  },
  {
    ui: { width: 100, height: 34 },
    setup:
      '{ terminal = { command = { "/bin/sh", "-c", "stty raw -echo; echo up; exec cat > received" } } }',
  },
);
