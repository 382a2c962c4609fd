import { appendFileSync, readFileSync, statSync } from "node:fs";
import { World } from "#review";
import { eventually, nightly, onEachNeovim, oneLine, titledPlays } from "#test";
import { journalPath } from "../../../src/review/journal/append";
import { noteIncomplete } from "../../../src/review/journal/folder";
import { compareInTurns, requestComparison } from "../../../src/review/record/comparison-request";
import { Recorder } from "../../../src/review/record/recorder";

const TEN = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join("");

/** The user sees Claude's changes and decides about them. */
onEachNeovim((session) => {
  let world: World;
  let tests = 0;
  /** Each test has a folder and a Claude session of its own. */
  const at = (name: string) => `t${tests}/${name}`;
  const claude = (files: Record<string, string | undefined>, call: object = {}) => {
    const placed = Object.entries(files).map(([name, text]) => [at(name), text]);
    return world.claude(Object.fromEntries(placed), { session: `S${tests}`, ...call });
  };
  const write = (name: string, text: string) => world.write(at(name), text);
  const edited = (name: string, before: string, after?: string) => {
    write(name, before);
    claude({ [name]: after });
  };
  /** Its fifth line. */
  const five = TEN.replace("line 5\n", "five\n");
  const read = (name: string) => world.read(at(name));
  const nvim = () => session.neovim;
  /** `@name` is the path of a file. With the drawing: the rows that have a sign, and old lines. */
  const plays = (script: string) =>
    nvim().plays(
      script.replaceAll(/(?<!\^)@([\w./]+)/g, (_, name) => at(name)),
      {
        folder: world.path(at("")),
        words: {
          signs: async () => (await marks()).signs.join(" "),
          old: async () => (await marks()).lines.map(([, text]) => text).join("\n"),
        },
      },
    );
  /** Tests, each of which plays a script. */
  const played = (begin: () => unknown) => (all: string) =>
    test.each(titledPlays(all))("%s", async (_, script) => {
      await begin();
      await plays(script);
    });
  const lua = <T>(code: string, ...args: unknown[]) => nvim().lua<T>(code, ...args);

  // An executable that has read the journal of earlier tests does not read it again.
  beforeAll(() => {
    world = new World(nvim().cwd, nvim().home);
  });
  afterAll(() => world[Symbol.dispose]());

  beforeEach(async () => {
    tests += 1;
    await lua(`
      vim.cmd.messages("clear")
      -- From 0.11 on Neovim waits this long for keys after gr.
      vim.o.timeoutlen = 100
      vim.fn.setqflist({}, "f")`);
  });
  afterEach(async () => {
    await lua(`
      pcall(vim.cmd, "silent! wall")
      pcall(vim.cmd, "silent! Claude review close")
      vim.cmd.messages("clear")
      pcall(vim.cmd, "silent! Claude review done")
      _G.is_done = false
      require("claude-code.server.channel").request("review/last", {}, function() _G.is_done = true end)`);
    // Otherwise it would keep what the next test records, and its message would mix with those of that test.
    await eventually("its message", async () =>
      /nothing left to review|changes are kept/.test((await said()).join()),
    );
    await nvim().until("the answer", "return _G.is_done");
    await eventually("the end", async () => (await world.list()).files.length === 0);
    await counts(0);
    await session.reset();
  });

  const said = async () => {
    const messages = await lua<string>("return vim.fn.execute('messages')");
    return [...messages.matchAll(/^claude-code\.nvim: (.*)$/gm)].map(([, text]) => text as string);
  };
  const counts = (count: number) =>
    eventually("Neovim's count", async () =>
      expect(await lua(`return require("claude-code.editor.review").count()`)).toBe(count),
    );
  /** The drawing: the rows that have a sign (from 1), and old lines, each with its margin. */
  const marks = async () => {
    const found = await lua<{ row: number; signs: number; lines: [string, string][] }[]>(`
      local space = vim.api.nvim_create_namespace("claude-code.review")
      local all = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })
      return vim.tbl_map(function(mark)
        local lines = vim.tbl_map(function(line)
          local texts = vim.tbl_map(function(chunk) return chunk[1] end, vim.list_slice(line, 2))
          return { line[1][1], (table.concat(texts):gsub(" +$", "")) }
        end, mark[4].virt_lines or {})
        local signs = mark[4].sign_text and mark[4].end_row - mark[2] + 1 or 0
        return { row = mark[2] + 1, signs = signs, lines = lines }
      end, all)`);
    const signs = found.flatMap(({ row, signs }) =>
      Array.from({ length: signs }, (_, i) => row + i),
    );
    return { signs, lines: found.flatMap((mark) => [...mark.lines]) };
  };
  /** Returns once Neovim would have reported what there is to review. */
  const endTurn = () =>
    lua(`
      local timer = require("claude-code.lib.timer")
      local once, waits = timer.once, 0
      timer.once = function(_, callback)
        waits = waits + 1
        return once(1, function()
          callback()
          waits = waits - 1
        end)
      end
      require("claude-code.lib.events").emit("ActivityChanged", { activity = "idle" })
      timer.once = once
      assert(waits > 0, "nothing waits for the end of the turn")
      assert(vim.wait(20000, function() return waits == 0 end, 1))`);

  /** Two hunks in a, one in b; c is new, d deleted. */
  async function changed(): Promise<void> {
    for (const name of ["a", "b", "d"]) write(name, TEN);
    const prompt = world.prompt(`S${tests}`, "rename\n  the lines");
    const text = TEN.replace("line 2\n", "LINE 2\n").replace("line 8\n", "LINE 8\nand more\n");
    claude({ a: text }, { prompt });
    claude({ b: TEN.replace("line 5\n", ""), c: "new\n", d: undefined }, { prompt, tool: "Bash" });
    world.stop(`S${tests}`);
  }

  describe("the list", () => {
    const lists = "{getwininfo()->filter('v:val.quickfix')->len()}";
    const heights = "{nvim_list_wins()->map('nvim_win_get_height(v:val)')}";

    played(changed)(`
        # has an entry with its origin for each hunk and each created or deleted file
        :Claude review!   list a:2 a:8 b:4 c:1 d:1   {&buftype} quickfix   {getqflist()[4].module} @d
                          texts /^\\+1 -1 LINE 2 turn 1 ‹rename the lines› Edit\\|\\+2 -1 LINE 8 turn 1 Edit\\|/
                          texts /\\|\\+0 -1 line 5 turn 1 Bash\\|new file turn 1 Bash\\|deleted turn 1 Bash$/

        # shows the prompt at the next entry once the one that showed it is decided
        :Claude review!   list 5
        ggVjga            list b:4 c:1 d:1   texts +0 -1 line 5 turn 1 ‹rename the lines› Bash

        # takes files and a turn, and keeps the user's own list behind it
        :call setqflist([#{filename: "x", lnum: 3, text: "mine"}])
        :Claude review! turn @b @c   list b:4 c:1
        :colder                                      texts = mine
        :cnewer                                      list 2

        # keeps its cursor at its entry when a hunk is decided in another tab page, and closes from there
        :Claude review!                     list 5   {&buftype} quickfix
        :3
        :tabnew | edit @a | 2
        :Claude keep                        list 4
        :tabclose                           quickfix:2   list a:8 b:4 c:1 d:1   ${lists} 1
        :tabnew | Claude review close       ${lists} 0   {tabpagenr('$')} 2
        :tabclose

        # continues without its list if the user closes that or its tab page; :copen shows it again
        :edit @a | Claude review   list 5           ${lists} 1
        :tabnew | Claude review    list 5           ${lists} 1
        :tabclose                  ${lists} 0       bar ga keep
        :copen                     ${lists} 1       {&buftype} quickfix
        :1
        ga                         list 4
        :quit                      ${lists} 0       bar ga keep
        :copen | Claude review close   ${lists} 0

        # takes at most a quarter of a low screen, and gives it back
        :set lines=16 columns=80 | edit @a   ${heights} [14]
        :Claude review                               ${heights} /, 4]$/
        :Claude review close                         ${heights} [14]
        :Claude review                               ${heights} /, 4]$/
        :Claude review done                          ${heights} [14]
        :set lines=24 | only
    `);

    test("says that a private file changed, and why it cannot be undone", async () => {
      const withheld = { withheld: "private" } as const;
      const file = { path: at(".env"), before: withheld, after: withheld };
      write(".env", "SECRET=1\n");
      const call = { session: `S${tests}`, tool: "Bash", source: "bash" } as const;
      world.record({ type: "change", ...call, files: [file] });
      const reason = "it is private: its text was not stored";
      await plays(`
        :Claude review!   texts = changed, cannot be undone here (${reason}) Bash   {&buftype} quickfix
        gr                says ${reason}
        ga                says is left to review
      `);
    });

    test("only counts files that review.ignore names, in its title", async () => {
      await changed();
      claude({ "x.lock": "1\n", "gen/y": "2\n" });
      const ignore = `require("claude-code").setup({ review = { ignore = ... } })`;
      await lua(ignore, ["*.lock", "gen/**"]);
      await counts(5);
      await plays(`
        :Claude review!               list 5   {&buftype} quickfix
                                      {getqflist({'title': 0}).title} Claude's changes, and 2 ignored files (review.ignore)
        :Claude review! @gen  list y:1
        :Claude keep!                 says is left to review
      `);
      await lua(ignore, ["*"]);
      await plays(
        ":Claude review!  says that you have not reviewed, but 5 ignored files (review.ignore)",
      );
      await lua(ignore, []);
    });

    test("says that Claude works while a command runs and nothing has changed", async () => {
      const session = `S${tests}`;
      const prompt = world.prompt(session);
      world.record({ type: "begin", session, prompt, tool: "Bash", use: "runs" });
      const works = async () => {
        await nvim().command("Claude review!");
        return (await said()).at(-1)?.includes("it still works") ?? false;
      };
      await eventually("that it works", works);
      world.stop(session);
      await eventually("the end", async () => !(await works()));
    });

    test("names the setting that turns hooks off", async () => {
      world.write(".claude/settings.json", '{ "disableAllHooks": true }');
      await plays(":Claude review!  says because its hooks are off: disableAllHooks is true in");
      world.write(".claude/settings.json", "{}");
    });

    test("says that there is nothing, names what is missing, and does not map keys", async () => {
      const nothing = "says Claude changed nothing";
      const free = "{maparg('ga', 'n')} = ";
      await plays(`
        :Claude review!        ${nothing} that you have not reviewed        ${free}
        :Claude review! turn   ${nothing} there that you have not reviewed  ${free}
        :Claude review done    says there is nothing left to review         ${free}
        :Claude review! trun   says no file or session is named trun   ${free}
      `);
      await changed();
      write("own", "mine\n");
      await plays(`:Claude review! @own  ${nothing} there that you have not reviewed`);
    });

    test("closes in its tab page when the last hunk is decided in another", async () => {
      write("a", TEN);
      claude({ a: five });
      await plays(`
        :Claude review!                 list 1   {&buftype} quickfix
        :tabnew | edit @a | 5   {maparg('ga', 'n', 0, 1)->empty()} 0   bar ga keep
        ga                              says none of Claude's changes is left to review
                                        ${lists} 0   {&winbar} =   {tabpagenr('$')} 2
        :tabclose                       windows 1
      `);
    });

    test("gives the file half of the rows that it shares with Claude's terminal, until the list closes", async () => {
      await changed();
      await lua(`require("claude-code").setup({ terminal = { command = "cat" } })`);
      await plays(":set lines=24 columns=80 | edit @a | Claude");
      for (const end of ["Claude review close", "cclose"]) {
        await plays(`
          <Ignore>                      ${heights} [9, 12]
          :wincmd t | Claude review     ${heights} [8, 7, 5]
          :${end}                       ${heights} [9, 12]
          :Claude toggle
          :Claude toggle | stopinsert
        `);
      }
      await lua(`require("port").terminal.close_all()`);
    });
  });

  describe("in a file", () => {
    played(changed)(`
        # goes to the first hunk; ga keeps it, gr removes a new file, and both move on
        :Claude review   a:2   bar hunk 1/2   bar file 1/4   list 5
        ]c               a:8   entry 2
        ]f[f             a:8   entry 2
        [c               a:2   entry 1
        ga               a:8   list 4
        ga               b:4   list b:4 c:1 d:1   disk a LINE 8|and more|
        ]f               c:1
        gr               d:1   disk c absent   {&buftype} nofile

        # opens an entry beside a terminal's window
        :edit @b | vsplit | terminal cat   windows terminal b
        :Claude review                             a:2   windows terminal a quickfix

        # says that ga finds no change in a line, and moves on
        :Claude review   a:2     list 5
        5GVga            a:8:1   says @a has nothing to review in these lines
        5Gga             a:8:1   says no change by Claude is waiting for review here   disk a LINE 2
        ga               list 4

        # moves to what gB reopens, from another file and in the list
        :Claude review    a:2     list 5
        gA                b:4
        gB                a:2:1   list 5
        gAgAga            list 1
        2gB               b:4     list 3
        :Claude review!   {&buftype} quickfix
        Gga               list 2
        gggB              quickfix:3:1

        # brings the old lines back by gr, writes the clean buffer, and follows u
        :Claude review                a:2      list 5
        gr                            a:8      list 4   disk a = ${oneLine(TEN.replace("line 8\n", "LINE 8\nand more\n"))}   {&modified} 0
        :silent undo                  list 5   lines line 1|LINE 2|   {&modified} 1
        :silent redo                  list 4
        :silent undo | silent write   list 5   disk a LINE 2|

        # leaves a buffer with unsaved changes unwritten after an undo, and says so
        :edit @a | call append('$', 'mine')
        :Claude review   a:2   list 5
        gr               lines /^line 1\\|line 2\\|.*mine$/   disk a LINE 2|   {&modified} 1   says unsaved changes
    `);

    test("counts hunks of the file, and refuses a count for whole files", async () => {
      const text = TEN.replace("line 2\n", "2\n")
        .replace("line 5\n", "5\n")
        .replace("line 8\n", "");
      const undone = text.replace("\n5\n", "\nline 5\n").replace("line 9", "line 8\nline 9");
      edited("a", TEN, text);
      edited("b", TEN, five);
      // Its hunks are known before they are drawn.
      await plays(`
        :Claude review   a:2    list 4
        2gA              says a count is about the changes of one file
        2]c              a:7:1
        ]c2[c2gr         list 2   disk a = ${oneLine(undone)}
        9ga              list 1
      `);
    });

    test("says that u took Claude's change out of the buffer, and at the end that it waits", async () => {
      for (const name of ["a", "b", "c"]) write(name, TEN);
      await lua("require('claude-code.editor.documents').load(...)", world.path(at("c")));
      await plays(":edit @b");
      claude({ a: five, b: five, c: five });
      const reload = "require('claude-code.editor.documents.reload').now({ path = ... })";
      for (const name of ["b", "c"]) await lua(reload, world.path(at(name)));
      const waits =
        "says what is left to review (1 change) is undone in unsaved buffers only; :wa undoes it on disk";
      // c was not open when Claude wrote.
      await plays(`
        :Claude review        a:5      list 3
        gr                    b:*      list 2
        u                     list 1   says u took what Claude wrote to @b out of its buffer; <C-r> brings it back
        <C-r>                 list 2
        u                     list 1
        :edit @c      c:*
        u                     {getline(5)} five
        :5 | Claude undo      ${waits}
        :Claude review        ${waits}
        :Claude review done   ${waits}
      `);
      await counts(1);
    });

    test("brings a file back to the review once u is written", async () => {
      for (const name of ["a", "b"]) write(name, TEN);
      claude({ a: five, b: five });
      await plays(`
        :Claude review                   a:5   list 2
        gr                               b:5   list 1
        :edit @a | silent undo   lines line 4|five|
        :silent write                    list 2
      `);
    });

    test("lists a running command's changes of a file without those that the user saves then", async () => {
      const session = `S${tests}`;
      const news = (field: string) =>
        lua<unknown>(`return require("claude-code.editor.review").summary().${field}`);
      edited("a", TEN, `${TEN}claude\n`);
      await world.keep([{ path: world.path(at("a")) }]);
      await plays(":edit @a");
      const prompt = world.prompt(session);
      world.record({ type: "begin", session, prompt, tool: "Bash", use: "u" });
      await eventually("the news", async () => (await news("runs")) === true);
      write("a", `${TEN}claude\n`.replace("line 2\n", "TWO\n"));
      await plays(`
        :silent edit! | call append(8, 'mine') | silent write
        :Claude review!   list a:2   texts +1 -1
      `);
      world.stop(session);
      await eventually("the end", async () => (await news("runs")) === false);
    });

    test("keeps the user's edits inside a hunk, and does not show those beside it", async () => {
      edited("a", TEN, TEN.replace("line 5\n", "five\nmore\n"));
      await plays(`
        :edit @a | call append(5, 'mine') | call setline(1, 'top') | silent write
        :Claude review   a:5   texts [with your edits]
        gr               disk a /^top.*line 5.*mine/
      `);
    });

    test("shows a conflict with its texts; gr there undoes it and keeps the user's line", async () => {
      edited("a", TEN, TEN.replace("line 5\n", "five\nand more\n"));
      const texts = [
        "Now| five| and mine|As Claude wrote it| five| and more|Undone, with your lines| line 5| and mine||",
        "Nothing was undone here: you have edited these lines.|gr undoes it and keeps your lines, q leaves it.",
      ].join("");
      // The texts are not folded even if the user folds by indent.
      await plays(`
        :setglobal foldmethod=indent foldlevel=0 shiftwidth=2
        :edit @a | call setline(6, 'and mine') | silent write
        :Claude review   a:5   texts [your edits conflict]
      `);
      // The user's line does not count as Claude's on either side.
      await plays(`
        <Ignore>   old = line 5
        gr   lines = ${texts}   {foldclosed(2)} -1
        :setglobal foldmethod& foldlevel& shiftwidth&
        q    a:5   disk a five|and mine|
        gr   lines Now|
        gr   disk a line 5|and mine|line 6|
      `);
      await eventually("nothing left", async () => (await world.list()).files.length === 0);
    });

    test("breaks an old line where the window wraps", async () => {
      const long = "0123456789".repeat(30);
      edited("a", TEN.replace("line 5", long), TEN.replace("line 5", `${long}+`));
      await plays(`
        :set columns=80
        :Claude review                             list 1   old /^(\\d{78}\\|){3}\\d{66}$/
        :setlocal nowrap | call append('$', 'x')   old = ${long}
      `);
      await nvim().command("setlocal wrap<");
    });

    test("decides on disk about a file whose buffer has unsaved edits of the same line", async () => {
      write("a", TEN);
      await plays(":edit @a | call setline(5, 'mine')");
      claude({ a: five });
      await plays(`
        <Ignore>         says which conflict with what was written to it
        :Claude review   list 1   texts [not in your buffer, which has unsaved edits]   bar not in this buffer
      `);
      // Neovim reports a write that its question (W12) ended, and one of a copy, as any other.
      await nvim().type(":w<CR>");
      // Neovim 0.10 drops keys that were typed together with the answer.
      await eventually("its question", () => nvim().asks());
      await nvim().type("n");
      await eventually("no question", async () => !(await nvim().asks()));
      await plays(`
        :w @copy<CR>gr   says decide in the quickfix window
        :copen                   quickfix:*
        gr                       disk a = ${oneLine(TEN)}
                                 {getbufline('@a', 5)} ['mine']
        :silent! cclose | edit! @a
      `);
    });

    test("undoes an edit that was merged beside unsaved ones", async () => {
      write("a", TEN);
      await plays(":edit @a | call setline(1, 'mine')");
      claude({ a: five });
      await plays(`
        <Ignore>         lines line 4|five|
        :Claude review   a:5   list 1
        gr               lines = ${oneLine(TEN).slice(0, -1).replace("line 1|", "mine|")}   {&modified} 1
        :write<CR>       disk a = ${oneLine(TEN).replace("line 1|", "mine|")}
      `);
    });

    test("keeps line ends that .editorconfig changes until the user writes the file", async () => {
      const text = TEN.replaceAll("\n", "\r\n");
      write(".editorconfig", "root = true\n[*]\nend_of_line = lf\n");
      edited("a", text, text.replace("line 5", "five").replace("line 8", "eight"));
      await plays(`
        :Claude review   a:5      list 2   texts ! conflict   {&fileformat} unix
        gr               list 1   lines line 4|line 5|
      `);
      expect(read("a")).toBe(text.replace("line 8", "eight"));
      write(".editorconfig", "");
    });
  });

  test("names the command that takes Claude's changes out of git's index", async () => {
    const files = [{ path: world.path(at("a")), staged: true }];
    await lua('require("claude-code.editor.review.outcome").run(...)', { files });
    expect(await said()).toEqual([
      `git's index still holds Claude's changes of ${at("a")}: git restore --staged takes them out`,
    ]);
  });

  played(changed)(`
      # draws deleted lines and signs until the review ends
      :edit @a        signs = 2 8 9   old =
                              {['hunks', 'added', 'removed']->map('b:claude_code_review[v:val]')} [2, 3, 2]
      :Claude review          old = line 2|line 8   signs = 2 8 9
      :Claude review close    old =   bar =   {maparg('ga', 'n')} =

      # maps the keys again after :bdelete, by ]f and from the list
      :Claude review  a:2  list 5
      ]f             b:*
      :bdelete @a    b:*
      [f             a:*   {maparg('gr', 'n', 0, 1)->get('buffer')} 1
      ]f             b:*
      :bdelete @a    b:*
      <C-w>b1G<CR>   a:*   {maparg('gr', 'n', 0, 1)->get('buffer')} 1
      gr             disk a ! LINE 2|

      # runs gr at once despite longer mappings, and removes the buffer's until the review ends
      :edit @a | set timeoutlen=60000
      :nnoremap grx ix<Esc>
      :nnoremap <buffer> gry iy<Esc>
      :nnoremap <buffer> gr ir<Esc>
      :Claude review         a:2   list 5
      gr                     disk a ! LINE 2|
      :Claude review close   {maparg('gry', 'n')} iy<Esc>   {maparg('gr', 'n')} ir<Esc>
      :nunmap grx

      # repeats gr and ga with a dot and their count, in the list too, but not in another buffer
      :Claude review  a:2  list 5
      gr  list 4  disk a ! LINE 2|
      .  list 3
      <C-w>b2ga  list 1
      :tabnew | setlocal buftype=nofile | call setline(1, 'mine')
      .           lines = mine
      :tabclose   list 1

      # says where a line comes from, even if it is kept, or not Claude's
      :edit @a | 1
      :Claude why         says Claude changed nothing in this line
      :8 | Claude keep    says =   {v:lua.require('claude-code.editor.review').count()} 4
      :Claude why         lines /^Edit, \\d{4}-/   lines prompt rename|   lines /session S\\d+, turn 1/
      q                   a:8
      :Claude review!     list 4   {&buftype} quickfix
      :2 | Claude why     lines /^Bash, /
      q                   quickfix:2
  `);

  test("follows the options for signs, keys and the message", async () => {
    const option = (code: string) =>
      lua(`local review = require("claude-code.config").get().review ${code}`);
    await option(`review.signs, review.message = "never", false`);
    await option(`BEFORE = vim.deepcopy(review.keys)
      review.keys.keep, review.keys.undo = { "gk", "gz" }, false`);
    await changed();
    await plays(":edit @a");
    await endTurn();
    await plays(`
      :Claude review!                list 5   {maparg('gz', 'n', 0, 1)->get('buffer')} 1
                                     {maparg('gr', 'n', 0, 1)->get('buffer')} 0
      gz                             list 4   says =
      :Claude review close | cclose  {exists('b:claude_code_review')} 0   says =
    `);
    await plays("<Ignore>  signs =  old =");
    await option(`review.signs, review.message, review.keys = "always", true, BEFORE`);
  });

  test("shows old lines above the first line", async () => {
    edited("a", TEN, TEN.replace("line 1\nline 2\n", "one\n"));
    await plays(`
      :Claude review   list 1   {winsaveview().topfill} 2
      <C-e><C-e>jj[c   {winsaveview().topfill} 2
    `);
  });

  test("scrolls to a change far to the right", async () => {
    const far = (word: string) => `${"x".repeat(300)} ${word}\n`;
    const text = (word: string) => `${far(word)}${TEN}${far(word)}`;
    for (const name of ["a", "b"]) write(name, text("old"));
    claude({ a: text("new"), b: text("new") });
    const end = "winsaveview().leftcol + winwidth(0) - getwininfo(win_getid())[0].textoff";
    const isSeen = `{winsaveview().leftcol < 300 && ${end} > 304} 1`;
    await plays(`
      :set nowrap
      :Claude review   a:1    ${isSeen}   list 4
      ]c               a:12   ${isSeen}
      ]c               b:1    ${isSeen}
      ]c               b:12   ${isSeen}
      :set wrap
    `);
  });

  test("draws old lines in the column of the text, also after signs have moved it", async () => {
    edited("a", TEN, five);
    await plays(":set number | Claude review  list 1  old line 5");
    await eventually("the margin", async () => {
      const [[margin = ""] = []] = (await marks()).lines;
      const text = "return vim.fn.getwininfo(vim.fn.win_getid())[1].textoff";
      return margin !== "" && Bun.stringWidth(margin) === (await lua<number>(text));
    });
    await nvim().command("set nonumber");
  });

  describe("the bar", () => {
    test("does not appear in the quickfix window, and leaves all windows with the review", async () => {
      await changed();
      await plays(`
        :Claude review                  bar hunk 1/2
        :cclose | copen                 bar =
        :wincmd p | split               list 5
        ]f                              bars /b
        :Claude review close | cclose   list 5
        :edit @a                bars = |
      `);
    });

    test("says, like the list, that only line ends, the last newline or a byte order mark changed", async () => {
      const [lf, crlf, mark] = ["1\n2\n", "1\r\n2\r\n", "\u00ef\u00bb\u00bf"];
      for (const [words, before, after] of [
        ["last newline added", "a\nb", "a\nb\n"],
        ["last newline removed", lf, "1\n2"],
        ["line ends: LF to CRLF", lf, crlf],
        ["line ends: CRLF to LF", crlf, lf],
        ["byte order mark added", lf, mark + lf],
        ["byte order mark removed", mark + lf, lf],
      ] as const) {
        edited("a", before, after);
        await plays(`
          :Claude review   texts [${words}]   bar ${words}
          gr               says is left to review
        `);
        expect(read("a")).toBe(before);
      }
      edited("a", lf, "1\r\ntwo\r\n");
      await plays(":Claude review  list 1  texts ! [");
    });

    test("shows as many keys as fit, and the end of a long path", async () => {
      edited("a", TEN, five);
      const left = "bar = @a hunk 1/1";
      const resize = (width: number) => `:vertical resize ${width} | doautocmd WinResized`;
      await plays(`
        :Claude review   list 1   bar hunk 1/1
        :vsplit
        ${resize(78)}   ${left} +1 −1 g? ]c next ]f file gC comment gr undo ga keep
        ${resize(60)}   ${left} +1 −1 g? ]c ]f gC gr undo ga keep
        ${resize(46)}   ${left} +1 −1 g? gr undo ga keep
        ${resize(36)}   ${left} +1 −1 g? gr ga
        ${resize(30)}   ${left} g? gr ga
        :only
      `);
    });
  });

  test("restores the window's own bar, also one that was set in the meantime", async () => {
    await changed();
    await plays(`
      :setglobal winbar=global | edit @a | setlocal winbar=mine
      :Claude review         bar hunk 1/2
      :setlocal winbar=other   bar hunk 1/2
      :Claude review close   {[&winbar, &l:winbar]} ['other', 'other']
      :cclose
    `);
    await nvim().command("setglobal winbar= | setlocal winbar=");
  });

  describe("in the quickfix window", () => {
    test("keeps the cursor at its entry when others are added", async () => {
      for (const name of ["a", "b", "c"]) write(name, TEN);
      claude({ b: five, c: five });
      await plays(`
        :Claude review!   list 2   {&buftype} quickfix
        G                 :2
      `);
      claude({ a: five });
      await plays(`
        <Ignore>   list a:5 b:5 c:5   :3:1
        gr         disk c = ${oneLine(TEN)}
      `);
    });

    test("closes after the last decision, and puts the cursor into the user's file", async () => {
      edited("d", TEN, undefined);
      await plays(`
        :edit @mine | botright 8new | terminal
        :wincmd p
        :Claude review!   list 1      {&buftype} quickfix
        ga                mine:*      {getqflist({'winid': 0}).winid} 0
        :only
      `);
    });

    played(changed)(`
        # decides about an entry, or all of a range
        :Claude review!   list 5   {&buftype} quickfix
        ggga              list 4
        ggVjgr            list 2   disk b = ${oneLine(TEN)}   disk a = ${oneLine(TEN.replace("line 2", "LINE 2"))}

        # opens the fold that holds the next entry
        :edit @mine | set foldmethod=expr foldlevel=0 foldexpr=v:lnum%5==1?'>1':1
        :Claude review!   list 5   {&buftype} quickfix   {win_execute(win_getid(1), 'echon foldclosed(2)')} -1   {win_execute(win_getid(1), 'echon foldclosed(8)')} 6
        ]c                {win_execute(win_getid(1), 'echon foldclosed(8)')} -1
        :set foldmethod& foldlevel& foldexpr&
    `);

    test("shows the next entry beside it with ]c and ]f, and comments on its lines with gC", async () => {
      await changed();
      const beside = "bufname(winbufnr(1))->fnamemodify(':t') .. ':' .. line('.', win_getid(1))";
      await lua(`vim.ui.input = function(_, done) done("because") end`);
      await plays(`
        :Claude review!   list 5   {&buftype} quickfix
        GgC               says show the deleted file to comment on its lines
        gg                quickfix:1
        ]c                quickfix:2:1   {${beside}} a:8
        ]f                quickfix:3:1   {${beside}} b:4
        [f                quickfix:2:1   {${beside}} a:8
        [c                quickfix:1:1   {${beside}} a:2
        [c                quickfix:5:1   {${beside}} d:1
        ]c                quickfix:1:1   {${beside}} a:2
        ]f]f]f            quickfix:5:1   {${beside}} d:1   {getbufline(winbufnr(1), 1)} ['line 1']
                          {getbufvar(winbufnr(1), '&modifiable')} 0
        2gggCGgC          says 2 comments wait
      `);
      const places = await lua(`return vim.tbl_map(function(comment)
        return { vim.fs.basename(comment.path), comment.rows, comment.lines }
      end, require("claude-code.editor.review.comments.store").waiting())`);
      expect(places).toEqual([
        ["a", [8, 2], ["LINE 8", "and more"]],
        ["d", [1, 1], ["line 1"]],
      ]);
    });

    test("decides in a list that :Cfilter has filtered, and in the whole list before it", async () => {
      for (const name of ["a", "b", "c"]) write(name, TEN);
      const two = five.replace("line 9\n", "nine\n");
      claude({ a: two, b: two, c: two });
      await plays(`
        :Claude review!   list 6   {&buftype} quickfix
        :packadd cfilter
        :Cfilter /nine/   list 3   {maparg('ga', 'n', 0, 1).buffer} 1
        gg2gr             list 1   disk a = ${oneLine(five)}   disk b = ${oneLine(five)}   disk c = ${oneLine(two)}
                          {getqflist({'title': 0}).title} /:Cfilter/
        :colder           list 4
        :cnewer           list 1
        ga                list 3
        ggVGga            says is left to review
      `);
    });

    test("lists a changed mode beside the hunks, and undoes only that", async () => {
      edited("a", TEN, five);
      world.claudeChmod(at("a"), 0o644, 0o755, `S${tests}`);
      const mode = () => statSync(world.path(at("a"))).mode & 0o777;
      await plays(`
        :Claude review   texts = mode 755, was 644 Bash|+1 -1 five Edit   bar mode 755, was 644
        :copen | cfirst | wincmd j   {maparg('ga', 'n', 0, 1).buffer} 1
        gggr             list 1   disk a five|
      `);
      expect(mode()).toBe(0o644);
      await plays(":Claude back  list 2");
      expect(mode()).toBe(0o755);
      await plays("ggga  list 1");
      expect(mode()).toBe(0o755);
    });

    test("shows each entry in the same window with <CR>, even after a deleted file's entry", async () => {
      for (const name of ["d", "e"]) write(name, TEN);
      claude({ d: undefined, e: undefined, f: "new\n" }, { tool: "Bash" });
      const same = "{nvim_tabpage_list_wins(0) == g:before} 1";
      await plays(`
        :Claude review!   list 3   {maparg('ga', 'n', 0, 1)->empty()} 0
        :copen | 2 | let g:before = nvim_tabpage_list_wins(0)
        <CR>         e:*   ${same}   {&buftype} nofile
        :copen | 1
        <CR>         d:*   ${same}   {&buftype} nofile
        :copen | 3
        <CR>         f:*   ${same}   {&buftype} =
        :copen | 1
        <CR>         d:*   ${same}   {&buftype} nofile
      `);
    });

    test("shows a deleted file as it was, and brings it back", async () => {
      write("d", TEN);
      await plays(":edit @d");
      claude({ d: undefined }, { tool: "Bash" });
      await plays(`
        :Claude review!   list 1    {&buftype} quickfix
        :wincmd k         bar deleted   {exists('b:claude_code_review')} 0   old =
        gr                disk d = ${oneLine(TEN)}
      `);
    });

    test("draws the edits of a renamed file, and undoes the rename", async () => {
      write("d", TEN);
      claude({ d: undefined, e: TEN }, { tool: "Bash", from: { [at("e")]: at("d") } });
      const renamed = `texts /^renamed from @d/`;
      await plays(`
        :Claude review   list 1   ${renamed}   bar renamed from   signs =   old =
                         lines = ${oneLine(TEN).slice(0, -1)}
      `);
      claude({ e: TEN.replace("line 4\n", "four\n") });
      await plays(`
        :silent edit!   signs = 4   old = line 4   ${renamed}
        gr              disk d = ${oneLine(TEN)}   disk e absent
        :Claude back    disk d absent   says took back what was undone in @e
      `);
    });

    test("shows the size of a binary file, not its bytes, and decides about it", async () => {
      write("old.png", "\0one");
      const bytes = `\0${"\x01".repeat(2_999)}`;
      claude({ "new.png": bytes, "old.png": "\0two" });
      await plays(`
        :Claude review   texts /^new file, binary file, 3.0 kB .*\\|binary file, 4 bytes/   lines = binary file, 3.0 kB
        ga               list 1   bar old.png   lines = binary file, 4 bytes
        gr               says is left to review   disk old.png = \0one
      `);
      write("gone.png", bytes);
      claude({ "gone.png": undefined });
      await plays(":Claude review  texts /^deleted, binary file/  lines = binary file");
    });
  });

  test("restores the user's mappings, also one that is set when a language server attaches", async () => {
    const own = (key: string) =>
      lua(`vim.keymap.set("n", ..., "<Cmd>let g:own = 1<CR>", { buffer = true })`, key);
    const mapping = (key: string, part: string) =>
      `{maparg('${key}', 'n', 0, 1)->get('${part}', '')}`;
    await changed();
    await plays(":edit @a");
    await own("ga");
    await plays(`:Claude review  ${mapping("ga", "desc")} /keeps/`);
    await own("gr");
    await plays(`
      :lua vim.api.nvim_exec_autocmds("LspAttach", { buffer = 0, data = { client_id = 0 } })
                             ${mapping("gr", "desc")} /undoes/
      :Claude review close   ${mapping("ga", "rhs")} /let g:own/   ${mapping("gr", "rhs")} /let g:own/
    `);
  });

  test("leaves the keys of a diff when a review ends beside it", async () => {
    edited("a", TEN, five);
    await plays(":Claude review  list 1");
    await nvim().command("new");
    await lua(`
      local key = { keys = "q", desc = "reject", run = function() end }
      require("claude-code.editor.changes.keys").map({ 0 }, "diff", { key })`);
    await plays(`
      :split | Claude review close   {maparg('q', 'n', 0, 1)->get('buffer')} 1
      :only
    `);
  });

  test("shows invisible characters of a prompt, a tool or a name as codes", async () => {
    const name = "a\u202ecod.txt";
    claude({ [name]: "x\n" }, { prompt: world.prompt(`S${tests}`, "do\0it"), tool: "a\u001bb" });
    world.stop(`S${tests}`);
    await plays(`
      :Claude review   texts ‹do^@it›   list a<202e>cod.txt:1
      :Claude why      lines /^a\\^\\[b, .*prompt +do\\^@it/
      q
    `);
  });

  test("names the session of each change, and chooses one", async () => {
    await lua(
      `ROWS = require("port").session_rows
      ROWS.add({ n = 1, id = "of-another" })
      ROWS.add({ n = 2, id = ..., name = "docs" })`,
      `S${tests}`,
    );
    await claude({ a: TEN.replace("line 8", "eight") });
    await claude({ b: "" }, { session: "of-another" });
    await claude({ c: "made before\n" }, { session: "0123456789-gone" });
    const list = ["Claude 2 (docs)", "Claude 1", "01234567"].join(".*");
    await plays(`
      :Claude review!                   list a:1 b:1 c:1   texts /${list.replaceAll(/[()]/g, "\\$&")}/
                                        texts new empty file
      :wincmd p | edit @a
      :8 | Claude why                   lines session Claude 2 (docs)
      q                                 a:8
      :Claude review! session           list a:1
      :Claude review! session 1         list b:1
      :Claude review! turn docs         list a:1
                                        {getqflist({'title': 0}).title} Claude's changes of its last turn: Claude 2 (docs)
    `);
    await lua("for n = 1, 2 do ROWS.remove(n) end");
  });

  test("says once that lines of the journal could not be read", async () => {
    await changed();
    appendFileSync(journalPath(world.folder), "damaged\n");
    await plays(`
      :Claude review         list 5   says 1 line of the journal could not be read
      :Claude review close
      :Claude review         list 5   says ! could not be read
    `);
  });

  test("shows on the status line that a change could not be recorded, until the rest is kept", async () => {
    const status = "{v:lua.require('claude-code').statusline()}";
    await changed();
    await plays(`<Ignore>  ${status} /, 5 to review$/`);
    noteIncomplete(world.folder);
    await plays(`
      <Ignore>              ${status} /, 5 to review, review incomplete$/
      :Claude review!       says could not be recorded
      :Claude review done   ${status} ! review   says is left to review
    `);
    // No message claims that nothing changed if nothing could be recorded.
    noteIncomplete(world.folder);
    await plays(`
      :Claude review!       says /could not be recorded, or its record was removed .20[0-9: -]+.: see the disk/
                            says ! changed nothing
      :Claude review done   says nothing left to review   says ! changed nothing
    `);
  });

  test("lists a command's change of an open file outside of git", async () => {
    write("open", "1\n2\n3\n");
    await plays(":edit @open");
    const recorder = new Recorder(world.root);
    const session = `S${tests}`;
    const call = { session, prompt: "p", tool: "Bash", use: `u${tests}`, command: "x" };
    const compare = () => {
      requestComparison(world.folder);
      compareInTurns(world.root);
    };
    recorder.prompt(call.session, call.prompt, "go");
    compare();
    const isRecorded = () => readFileSync(journalPath(world.folder), "utf8").includes(at("open"));
    await eventually("its text", isRecorded);
    recorder.begin(call);
    write("open", "1\nII\n3\n");
    recorder.failed(call);
    compare();
    await counts(1);
    await plays(":Claude review!  list open:2");
    recorder.stop(call.session, call.prompt, false);
    await plays(":1Claude undo!  disk open = 1|2|3|");
  });

  test("says once that a turn ended with changes", async () => {
    const reported = `return require("claude-code.editor.review").summary() ~= nil`;
    await nvim().until("the executable's first report", reported);
    await changed();
    await counts(5);
    await endTurn();
    await plays("<Ignore>  says 5 changes in 4 files to review: :Claude review");
    await endTurn();
    expect((await said()).join().match(/to review/g)).toHaveLength(1);
  });

  describe("a turn", () => {
    const first = TEN.replace("line 2\n", "two\n");
    const second = first.replace("line 5\n", "five\n");
    const third = second.replace("line 9\n", "");
    const turn = (text: string, files: Record<string, string | undefined>) => {
      claude(files, { prompt: world.prompt(`S${tests}`, text) });
      world.stop(`S${tests}`);
    };
    beforeEach(() => {
      for (const name of ["a", "b"]) write(name, TEN);
      turn("rename two", { a: first });
      turn("and five, too", { a: second, b: second });
      turn("drop nine", { a: third, c: "new\n" });
    });

    const title = "{getqflist({'title': 0}).title}";
    /** Names the session, because it runs outside of Neovim. */
    const outside = () => ` of session S${tests}`;

    test("reviews a turn, by its number or the last one, and names it", async () => {
      await plays(`
      :Claude review! turn 2:and-five,-too   list a:5 b:2 b:5    ${title} Claude's changes of turn 2 ‹and five, too›
      :Claude review! turn        list a:8 c:1        ${title} Claude's changes of turn 3 ‹drop nine›
      :Claude review! turn 1 @b   says Claude changed nothing there
      :Claude review turn 2       a:5   bar turn 2 ‹and five, too›
      :Claude review! turn 4      says this session has no turn 4: it has turns 1 to 3
      :Claude undo turn 0         says this session has no turn 0
      :Claude undo turn two       says a turn has a number, or is \`last\`, but not two
      <Ignore>                    {getcompletion("Claude undo turn ", "cmdline")} ['last', '3:drop-nine', '2:and-five,-too', '1:rename-two']
    `);
    });

    test("undoes and keeps a turn as one decision, which :Claude back takes back", async () => {
      await plays(`
      :edit @a
      :Claude undo turn 2   disk b /^line 1\\|line 2\\|/   lines two|line 3|line 4|line 5|   says undid turn 2 ‹and five, too›
      :Claude back          disk b two   lines two|line 3|line 4|five|   says took back what was undone in 2 files
      ggOmine<Esc>          lines = mine|line 1|two|line 3|line 4|five|line 6|line 7|line 8|line 10
      :Claude undo turn     lines = mine|line 1|two|line 3|line 4|five|line 6|line 7|line 8|line 9|line 10   disk a = ${oneLine(third)}   disk c absent
      :Claude back          lines = mine|line 1|two|line 3|line 4|five|line 6|line 7|line 8|line 10   disk c new|
      :edit!                disk a = ${oneLine(third)}
      :Claude keep turn     says kept turn 3 ‹drop nine›
      :Claude review!       list a:2 a:5 b:2 b:5
      :Claude keep turn     says nothing of turn 3 ‹drop nine›${outside()} is left
    `);
      expect(read("a")).toBe(third);
    });

    test("is one of the current session, if a later one runs outside of Neovim", async () => {
      await lua(`require("port").session_rows.add({ n = 1, id = ... })`, `S${tests}`);
      claude({ b: "" }, { session: "outside", prompt: world.prompt("outside", "empty it") });
      world.stop("outside");
      await plays(`
        :Claude undo turn   disk a = ${oneLine(second)}   disk b = ${oneLine("")}   says undid turn 3 ‹drop nine›;
      `);
      await lua(`require("port").session_rows.remove(1)`);
    });

    test("opens a review of what later edits leave of an undone turn", async () => {
      write("a", third.replace("five", "FIVE of mine"));
      turn("rename two again", { b: second.replace("two", "deux") });
      await plays(`
        :Claude undo turn 2   a:5   list a:5 b:2   disk b deux|line 3|line 4|line 5|   bar your edits conflict
        gr                    lines Nothing was undone here
        gr                    disk a line 5|FIVE of mine|line 6   b:2   list b:2   bar later edits conflict
      `);
    });

    test("restores the files as before a turn, and the user's lines, says so first, and asks about conflicts", async () => {
      const answers = (number: number) =>
        `lua vim.ui.select = function(all, about, done)
          vim.g.asked = about.prompt .. " " .. table.concat(all, "; ") done(nil, ${number}) end`.replaceAll(
          /\n */g,
          " ",
        );
      await world.keep([{ path: world.path(at("b")) }]);
      write("a", `mine\n${third.replace("five", "FIVE of mine")}`);
      world.write(at("c"), undefined);
      await plays(`
        :${answers(2)}
        :edit @a | Claude restore 2   {g:asked} Restore 2 files as before turn 2 ‹and five, too›${outside()} (+4 −2)? 1 hunk with your edits will be asked about. 1 file that you removed or moved will not come back. Restore the files; Change nothing
        :${answers(1)}
        :Claude restore 2   disk a mine|line 1|two|line 3|line 4|FIVE of mine|line 6|line 7|line 8|line 9   disk b = ${oneLine(TEN)}   disk c absent
                            says restored the files as before turn 2 ‹and five, too›
                            a:6   bar your edits conflict   ${title} Claude's changes since turn 2 ‹and five, too›
        :Claude back        disk a mine|line 1|two|line 3|line 4|FIVE of mine|line 6|line 7|line 8|line 10   disk b two|line 3|line 4|five|
      `);
      const prompt = world.prompt(`S${tests}`, "and more");
      await plays(":Claude restore 1   says Claude works: stop its turn with Esc");
      world.record({ type: "stop", session: `S${tests}`, prompt });
      await plays(
        `:Claude restore 4   says nothing of what Claude changed since turn 4 ‹and more›${outside()} is left`,
      );
    });

    test("asks again if Claude has gone on while the question was open", async () => {
      await plays(`
        :lua vim.ui.select = function(all, about, done) vim.g.asked = about.prompt ANSWER = function() done(all[1], 1) end end
        :Claude restore 3   {g:asked} /^Restore 2 files as before turn 3/
      `);
      turn("one more", { b: `${second}more\n` });
      await plays(`
        :lua ANSWER()       {g:asked} /^Restore 3 files as before turn 3/   says nothing is decided yet   disk a = ${oneLine(third)}
        :lua ANSWER()       disk a = ${oneLine(second)}   disk b = ${oneLine(second)}   disk c absent
      `);
    });

    test("reviews the turn of a hunk or a row alone with gT, and then everything again", async () => {
      await plays(`
      :edit @a | Claude review   a:2   list a:2 a:5 a:8 b:2 b:5 c:1   bar turn 1
      ]c                         a:5   bar turn 2
      gT                         a:5   list a:5 b:2 b:5   ${title} Claude's changes of turn 2 ‹and five, too›
      gT                         a:5   list a:2 a:5 a:8 b:2 b:5 c:1
      :copen | 6                 {line('.')} 6
      gT                         quickfix:2   list a:8 c:1
      gT                         quickfix:6   list a:2 a:5 a:8 b:2 b:5 c:1
    `);
    });
  });

  // These tests come last, because their records stay in the journal of later tests.
  describe("a long list", () => {
    nightly.test("has one entry for most files of 2,100 hunks", async () => {
      const text = Array.from({ length: 30 }, (_, i) => `line ${i}\n`);
      const changed = text.map((line, i) => (i % 4 === 3 ? line.toUpperCase() : line)).join("");
      const names = Array.from({ length: 300 }, (_, i) => `f${String(i).padStart(3, "0")}`);
      for (const name of names) write(name, text.join(""));
      claude(Object.fromEntries(names.map((name) => [name, changed])));
      const last = "{getqflist()[-1].text}";
      await plays(`
        :Claude review!   list ${71 * 7 + 229}   ${last} /^changed, 7 hunks/
        :clast            f299:4   bar hunk 1/7
        ]c                :8:1
        ga                ${last} /6 hunks/
      `);
    });

    nightly.test("says that two of 2,002 files have no room", async () => {
      const names = Array.from({ length: 2_001 }, (_, i) => `many/f${i}`);
      claude(Object.fromEntries(names.map((name) => [name, "new\n"])), { tool: "Bash" });
      claude({ "z/edited": "new\n" });
      const title = "{getqflist({'title': 0}).title}";
      // A tool made the last one, so it is listed before those that a command made.
      await plays(`
          :Claude review!              list 2000   {getqflist()[-1].bufnr->bufname()} @z/edited
                                       ${title} Claude's changes (and 2 more files once these are decided, or name a folder)
                                       says only 2000 of 2002 files are listed: decide about some of them, or name a folder (:Claude review src/)
          :Claude review! @z   list 1   ${title} Claude's changes
        `);
    });
  });
});
