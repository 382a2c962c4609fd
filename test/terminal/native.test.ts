import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  BOTH_NEOVIMS,
  claims,
  eventually,
  first,
  isRunning,
  NEOVIMS,
  neovimStateOf,
  outcomeOf,
  perBlock,
  TestClient,
  type TestNeovim,
} from "#test";
import { join } from "../../src/lib/platform";
import {
  configure,
  connectFrom,
  ECHO,
  LATER,
  MODES_BEGIN,
  openEcho,
  plays,
  reset,
  said,
  shows,
  startNeovim,
  terminalText,
  windows,
} from "./workbench";

describe.each(NEOVIMS)("Claude's terminal in $name", (version) => {
  const neovim = perBlock(() => startNeovim(version, `{ terminal = { command = ${ECHO} } }`));
  afterEach(async () => {
    await reset(neovim);
    await configure(neovim, `{ command = ${ECHO} }`);
  });

  const open = () => openEcho(neovim);
  const play = (script: string) => plays(neovim, script);

  const job = () =>
    neovim.lua<number>(`
      for _, channel in ipairs(vim.api.nvim_list_chans()) do
        if channel.mode == "terminal" then return vim.fn.jobpid(channel.id) end
      end
      return 0`);

  /** The user goes back to their own window, whose buffer has these lines; X sends what is selected. */
  const inFile = async (...lines: string[]) => {
    await neovim.lua(
      `vim.cmd.stopinsert()
      vim.api.nvim_set_current_win(vim.api.nvim_list_wins()[1])
      vim.api.nvim_buf_set_lines(0, 0, -1, true, { ... })
      vim.keymap.set("x", "X", "<Plug>(claude-send)")`,
      ...lines,
    );
    await neovim.inMode("n");
  };

  test("reports hooks that a project switches off, at the start and in the status line", async () => {
    const folder = join(neovim.cwd, ".claude");
    mkdirSync(folder);
    writeFileSync(join(folder, "settings.json"), '{ "disableAllHooks": true }');
    await open();
    const line = "{v:lua.require'claude-code'.statusline()}";
    using _client = await TestClient.open(await neovim.lock());
    const reason = `disableAllHooks is true in ${folder}/settings.json`;
    await play(`
      <Ignore>   ${line} /, hooks off$/
                 said Claude runs without hooks: nothing records its changes for :Claude review, or checks them: ${reason}
    `);
    rmSync(folder, { recursive: true });
    await play(`
      <Ignore>        ${line} ! hooks
      <Cmd>Claude new --bare<CR>
                      said Claude runs without hooks: nothing records its changes for :Claude review, or checks them: its CLI has --bare
    `);
  });

  test("hides, also closed by hand, and comes back: the same job, its own size, the others' sizes", async () => {
    await neovim.command("vsplit | vertical resize 70 | split | resize 5");
    const before = await windows(neovim);
    await open();
    const pid = await job();
    await neovim.command("vertical resize 50");
    for (const [hide, show] of [
      ["Claude", "Claude"],
      ["quit", "Claude focus"],
    ] as const) {
      await neovim.command(hide);
      await eventually("the old sizes", async () => expect(await windows(neovim)).toEqual(before));
      await neovim.command(show);
      expect((await windows(neovim)).find((one) => one.terminal)?.width).toBe(50);
      await neovim.inMode("t");
    }
    expect(await job()).toBe(pid);
  });

  const ONLY: [what: string, before: string, end: string, shows: string][] = [
    ["hides: the file that was there", "edit first.txt | edit second.txt", "Claude", "second.txt"],
    ["hides: an empty buffer if there was none", "enew", "Claude", "unnamed"],
    // Once deleted it is no longer an alternate file.
    ["ends: the file last used", "edit first.txt", "Claude close", "second.txt"],
  ];
  test.each(ONLY)("is the only window, and %s is shown", async (_, before, end, file) => {
    await neovim.command(`${before} | set number`);
    await open();
    await neovim.command("only");
    if (end !== "Claude") await neovim.command("badd second.txt | bwipeout first.txt");
    await play(`
      :${end}                       windows ${file}   {[&number, &winfixwidth]} [1, 0]
      :set nonumber
    `);
    expect((await job()) > 0).toBe(end === "Claude");
  });

  test("comes back in terminal mode, unless the user left it to read; focus begins it again", async () => {
    await neovim.lua(`vim.keymap.set("t", "<C-h>", "<C-\\\\><C-n><C-w>h")`);
    await open();
    // At the "0" the CLI draws the line again, and the cursor follows its end.
    await play(`
      <C-h>              mode n
      <C-w>l             mode t
      <C-q>              mode nt
      <C-w>h             mode n
      <C-w>l             mode t
      <C-q>              mode nt
      0<C-w>h            mode n
      <C-w>l             mode t
      <C-q>              mode nt
      gg<C-w>h           mode n
      <C-w>l             {&buftype} terminal
      ${MODES_BEGIN}  mode nt
      :Claude focus      mode t   {&buftype} terminal
    `);
  });

  test.each([
    [":new<CR>", ":quit<CR>"],
    [":tabnew<CR>", ":tabclose<CR>"],
    [":Claude status<CR>", "q"],
  ])("takes no keys after %s and %s", async (openAnother, close) => {
    await open();
    await play(`
      <C-q>              mode nt
      ${openAnother}     mode n
      ${close}           {&buftype} terminal
      ${MODES_BEGIN}  mode nt   {&buftype} terminal
      <C-w>h<C-w>l       mode t
    `);
  });

  test.each(["gf", "gF"])("%s opens a file that Claude names in another window", async (keys) => {
    writeFileSync(join(neovim.cwd, "named.txt"), "1\n2\n3\n");
    await open();
    await play(`
      see named.txt:3 there<CR>  terminal see named.txt:3 there
      <C-q>?named<CR>${keys}     named.txt:3   windows named.txt terminal
    `);
    await neovim.command("bwipeout");
  });

  describe("moves what the user opens in its window to another one:", () => {
    beforeEach(async () => {
      writeFileSync(join(neovim.cwd, "opened.txt"), "1\n2\n3\n");
      await neovim.command("set number errorformat^=%f:%l:%m");
      await open();
      await neovim.type("<C-q>");
    });
    afterEach(() => neovim.command("set number&"));

    test.each([
      [":edit +2 opened.txt<CR>", 2],
      [":badd opened.txt | bnext<CR>", 1],
      [":silent cexpr 'opened.txt:3:x' | only | silent cfirst<CR>", 3],
    ])("%s", async (keys, line) => {
      await play(`
        ${keys}    opened.txt:${line}   {&number} 1   windows opened.txt terminal
        :wincmd p  mode t
      `);
    });

    test("from a float", async () => {
      await neovim.command("Claude");
      await configure(neovim, `{ command = ${ECHO}, position = "float" }`);
      await play(`
        :Claude
        <C-q>:edit opened.txt<CR>  opened.txt:1   {&number} 1   windows opened.txt
        :Claude                    mode t
      `);
    });

    test("leaves to the user a window beside it that shows a file, or that Claude leaves", async () => {
      await play(`
        :leftabove vsplit opened.txt<CR>  opened.txt:1   {&number} 1
        ${MODES_BEGIN}                 windows unnamed opened.txt terminal
        :wincmd b | only                  mode t   windows terminal
        :Claude                           {&buftype}
        ${MODES_BEGIN}                 windows 1   {&buftype}
      `);
    });
  });

  test.each(["wincmd p", "Claude close", "enew"])("takes no key after %s", async (leave) => {
    await open();
    await neovim.type("<C-\\><C-n><C-w>p");
    await neovim.inMode("n");
    // Modes begin once this is done; what was scheduled runs before that. While Neovim computes, it
    // is time to ask for terminal mode again, and for what leaves.
    await neovim.lua(
      `local leave = ...
       vim.cmd('Claude focus') vim.wait(5)
       vim.defer_fn(function() vim.cmd(leave) end, 5)
       vim.uv.sleep(40) vim.wait(50)`,
      leave,
    );
    await neovim.type("l");
    expect((await neovim.mode()).mode).toBe("n");
  });

  const ends: [code: number, message: string, stays: string][] = [
    [0, "Claude has ended", "mode n   windows file.txt"],
    [3, "Claude ended with code 3", "mode nt   windows file.txt terminal"],
  ];
  test.each(ends)("ends with %d while the user types: says %s", async (code, words, stays) => {
    await neovim.command("edit file.txt | call setline(1, ['one', 'two'])");
    await configure(
      neovim,
      `{ command = { "sh", "-c", "${LATER} echo words; read line; exit ${code}" } }`,
    );
    await neovim.command("Claude");
    await neovim.inMode("t");
    await neovim.type("<CR>");
    expect(await said(neovim)).toEqual([expect.stringContaining(words)]);
    // One key after the other, as a user types.
    for (const key of "ggddxx please, and no") await neovim.type(key);
    await play(`
      <Ignore>   windows file.txt terminal   terminal words
      <Ignore>   ${stays}   {getbufline('file.txt', 1, '$')} ['one', 'two']
    `);
    // The next terminal replaces what is left.
    await configure(neovim, `{ command = ${ECHO} }`);
    await open();
    expect((await windows(neovim)).filter((one) => one.terminal)).toHaveLength(1);
  });

  test("gets text as a paste, with nothing in it that could end the paste", async () => {
    claims("Pasted text presses no keys");
    await open();
    await neovim.lua(`
      vim.api.nvim_set_current_win(vim.api.nvim_list_wins()[1])
      vim.api.nvim_buf_set_lines(0, 0, -1, true, { "one", "t\\27[201~w\\194\\155201~o\\194\\194\\155\\155!\\3", "three" })`);
    await neovim.command("2,3Claude send");
    await shows(neovim, "^[[200~t[201~w201~o! three\n^[[201~");
    await neovim.command("Claude send! why 5% of #1");
    await shows(neovim, "^[[200~why 5% of #1^[[201~^M");
  });

  describe("that begins later", () => {
    /** A program that reports a state as soon as the file exists. */
    const begins = () => join(neovim.cwd, "begins");
    const program = (state: string) =>
      `stty raw -echo; until [ -e ${begins()} ]; do sleep 0.05; done; printf "\\033]7501;state=${state}:app=claude-code\\033\\\\"; echo up; exec cat -v`;

    beforeEach(async () => {
      rmSync(begins(), { force: true });
      await neovim.lua("require('port').running.MAX_START_MS = 30000");
    });
    afterEach(() => neovim.lua("require('port').running.MAX_START_MS = 300"));

    test("gets texts and their Enter in order once it has begun", async () => {
      await configure(neovim, `{ mod = false, command = { "sh", "-c", [[${program("idle")}]] } }`);
      await neovim.command("Claude");
      for (const text of ["one", "two"]) await neovim.command(`Claude send! ${text}`);
      writeFileSync(begins(), "");
      await shows(neovim, "up^[[200~one^[[201~^M^[[200~two^[[201~^M");
    });

    test("gets no text if it first asks something, such as whether its folder is trusted", async () => {
      await configure(
        neovim,
        `{ mod = false, command = { "sh", "-c", [[${program("blocked:kind=permission")}]] } }`,
      );
      await neovim.command("Claude");
      await neovim.command("Claude send! one");
      writeFileSync(begins(), "");
      await play("<Ignore>  said answer it first, then send your text  terminal ! one");
    });
  });

  test("gets nothing while it asks something: that would be the answer", async () => {
    claims("Text for the prompt does not answer a question");
    await neovim.command("edit some.txt");
    await neovim.lua(`
      vim.api.nvim_buf_set_lines(0, 0, -1, true, { "one" })
      vim.diagnostic.set(vim.api.nvim_create_namespace("x"), 0, { { lnum = 0, col = 0, message = "wrong" } })
      vim.ui.select = function(_, _, done) done("opus") end`);
    await open();
    await neovim.type("<C-\\><C-n>");
    const pid = await neovim.lua<number>("return vim.b.terminal_job_pid");
    await neovim.command("wincmd p");
    using _claude = await connectFrom(neovim, pid);
    const state = join(neovim.home, ".claude/sessions", `${pid}.json`);
    const reports = async (status: string, shown: string) => {
      const fields = { pid, cwd: neovim.cwd, kind: "interactive", status };
      await Bun.write(state, JSON.stringify(fields));
      const row = `require("port").session_rows.get({ pid = ${pid} })`;
      await neovim.until(shown, `return ${row}.state == "${shown}"`);
    };
    const refused = async (command: string, why = "answer it first, then send") => {
      await neovim.lua("SAID = {}");
      await neovim.command(command);
      expect(await said(neovim), command).toEqual([expect.stringContaining(why)]);
    };
    const inRow = (code: string) =>
      neovim.lua(`local rows = require("port").session_rows; local n = rows.list()[1].n; ${code}`);
    await reports("waiting", "blocked");
    const sends = ["send! 1", "send 2", "model"].map((words) => `Claude ${words}`);
    for (const command of [...sends, "1Claude send!", "1Claude diagnostics"])
      await refused(command);
    await reports("idle", "idle");
    await inRow("rows.set(n, { edits = true })");
    await refused("Claude send! 3", "close that first, then send");
    // The terminal reports the question before the file does.
    await inRow(
      `rows.set(n, { edits = vim.NIL }) rows.report(n, "terminal", { state = "blocked" })`,
    );
    await refused("Claude send! 3");
    await inRow(`rows.report(n, "terminal", { state = "idle" })`);
    await neovim.command("Claude send! now");
    await shows(neovim, "^[[200~now^[[201~^M");
    await neovim.command("bwipeout! some.txt");
    // A FIFO in its place keeps no one waiting.
    Bun.spawnSync(["sh", "-c", `rm ${state} && mkfifo ${state}`]);
    await neovim.command("Claude send! at once");
    await shows(neovim, "^[[200~at once^[[201~^M");
    await Bun.file(state).delete();
  });

  test("gets Enter together with the text, also if the user opened it", async () => {
    claims("Text for the prompt does not answer a question");
    await neovim.lua(
      `vim.cmd("terminal " .. ...)`,
      `sh -c '${LATER} stty -icanon -echo -icrnl; echo up; cat -v'`,
    );
    await shows(neovim, "up");
    const pid = await neovim.lua<number>("return vim.b.terminal_job_pid");
    await neovim.command("split | enew");
    using _claude = await connectFrom(neovim, pid);
    const state = join(neovim.home, ".claude/sessions", `${pid}.json`);
    await Bun.write(state, JSON.stringify({ pid, status: "idle" }));
    await neovim.lua(
      `vim.cmd("Claude send! late")
      vim.fn.writefile({ vim.json.encode({ status = "waiting" }) }, ...)`,
      state,
    );
    await shows(neovim, "late^[[201~^M");
    await Bun.write(state, JSON.stringify({ pid, status: "idle" }));
  });

  test("gets whole lines so that what follows begins a line of its own", async () => {
    const echo = `stty -icanon -echo -icrnl; ${LATER} echo up; exec cat -v`;
    await configure(neovim, `{ command = { "sh", "-c", "${echo}" } }`);
    await open();
    await inFile("1", "2", "3");
    await neovim.command("1,2Claude send");
    await neovim.command("3Claude send");
    await neovim.type("ggVjX");
    await neovim.inMode("n");
    await neovim.command("2,3Claude send!");
    await shows(neovim, "^M");
    expect((await terminalText(neovim)).replaceAll("^[[200~", "<").split("^[[201~")).toEqual([
      ...["up\n<1\n2\n", "<3\n", "<1\n2\n", "<2\n3", "^M"],
    ]);
  });

  test.each(["native", "none"])("gets text if the user opened it (%s)", async (provider) => {
    await configure(neovim, `{ provider = "${provider}" }`);
    await neovim.command(`terminal sh -c 'stty raw -echo; ${LATER} echo own; exec cat -v'`);
    await shows(neovim, "own");
    const pid = await neovim.lua<number>("return vim.b.terminal_job_pid");
    using _claude = await connectFrom(neovim, pid);
    await neovim.command("Claude send some words");
    await neovim.command("enew");
    await neovim.lua(`vim.api.nvim_buf_set_lines(0, 0, -1, true, { "a line" })`);
    await neovim.command("1Claude send!");
    await shows(neovim, "own^[[200~some words^[[201~^[[200~a line^[[201~^M");
    expect(await said(neovim)).toEqual([expect.stringMatching(/hidden; :buffer \d+ shows it/)]);
    const status = await neovim.lua<string[]>("return require('port').status_lines()");
    const way = `${pid} receives prompts by paste: its CLI has loaded no mod`;
    expect(status).toContainEqual(expect.stringContaining(way));
  });

  test("refuses text for a CLI outside of Neovim, with the reason", async () => {
    using _claude = await connectFrom(neovim, process.pid);
    await neovim.command("Claude send some words");
    await play(`
      <Ignore>       said = text cannot be pasted outside of Neovim; use :Claude mention
      :Claude ask    said /(text cannot be pasted.*){2}/
    `);
    const status = await neovim.lua<string[]>("return require('port').status_lines()");
    const way = /process \d+ receives no prompts: .* no mod .*; :Claude mention works/;
    expect(status).toContainEqual(expect.stringMatching(way));
  });

  const PASTED = "^[[200~";
  test.each([
    ["grüße 🦊", "gg02lvj0lX", `terminal ${PASTED}M-CM-<M-CM-^_e M-pM-^_M-&M-^J| se^[[201~`],
    ["!touch here", ":1Claude send!", `terminal ${PASTED} !touch here^[[201~`],
    ["// no command", ":1Claude send!", `terminal ${PASTED}// no command^[[201~`],
    ["/etc/hosts", ":1Claude send!", `terminal ${PASTED}/etc/hosts^[[201~`],
    ["/clear", ":1Claude send!", `said would run /clear   terminal ! ${PASTED}`],
    [" /mcp:do it", ":1Claude send!", `said would run /mcp:do   terminal ! ${PASTED}`],
    ["SECRET=1", ":file .env | 1Claude send", `said .env is private   terminal ! ${PASTED}`],
  ])("%s is sent by %s as text, or refused: %s", async (line, keys, seen) => {
    await open();
    await inFile(line, "second");
    await play(`${keys}  ${seen}`);
  });

  test("mentions the lines to a CLI that runs elsewhere", async () => {
    // Not under the CLI's name: the CLI gets no mention in the first moments of its connection.
    using claude = await TestClient.open(await neovim.lock());
    const path = join(neovim.cwd, "a.txt");
    await neovim.command(`file ${path}`);
    await neovim.lua(`vim.api.nvim_buf_set_lines(0, 0, -1, true, { "1", "/clear", "3" })`);
    await neovim.command("write");
    await neovim.until("the client", `return #require("claude-code").status().clients == 1`);
    await neovim.command("2,3Claude send");
    const { params } = await claude.message(({ method }) => method === "at_mentioned");
    expect(params).toEqual({ filePath: path, lineStart: 1, lineEnd: 2 });
  });

  const commands: [typed: string, expected: string[], option?: string][] = [
    ["Claude", ["--from-options"]],
    ["Claude", ["--permission-mode", "plan", "--from-options"], `permission_mode = "plan"`],
    ["Claude --model opus 'fix it'", ["--from-options", "--model", "opus", "fix it"]],
    ["Claude --permission-mode plan", ["--from-options", "--permission-mode", "plan"]],
    ["Claude --permission-mode=plan", ["--from-options", "--permission-mode=plan"]],
    [`Claude "a \\"b\\" c" d\\ e`, ["--from-options", `a "b" c`, "d e"]],
    ["Claude --continue", ["--from-options", "--continue"]],
    ["Claude --resume 1234", ["--from-options", "--resume", "1234"]],
  ];
  test.each(commands)(":%s runs the CLI with %s", async (typed, words, option = "") => {
    const ours = "--settings=*|--plugin-dir=*) continue";
    const print = `${LATER} for word; do case $word in ${ours};; esac; printf '<%s>' "$word"; done; exec cat`;
    const command = `{ "sh", "-c", [[${print}]], "claude" }`;
    await configure(
      neovim,
      `{ command = ${command}, args = { "--from-options" }, size = 0.9, ${option} }`,
    );
    await neovim.command(typed);
    await shows(neovim, words.map((word) => `<${word}>`).join(""));
    await neovim.inMode("t");
  });

  test("refuses arguments while it runs, and restarts with !", async () => {
    await open();
    const pid = await job();
    await neovim.command("Claude --verbose");
    expect(await said(neovim)).toEqual([expect.stringContaining(":Claude! restarts it")]);
    await neovim.command("Claude review! session 1");
    await eventually("no file 1", async () => `${await said(neovim)}`.includes("nothing there"));
    expect(await job()).toBe(pid);
    await neovim.command("Claude! --verbose");
    await eventually("another job", async () => ![0, pid].includes(await job()));
    await neovim.inMode("t");
  });
});

test.each(BOTH_NEOVIMS)("$name hands over what comes in pieces as one paste", async (version) => {
  const wantsMarks = ECHO.replace("echo up", String.raw`printf '\\033[?2004h'; echo up`);
  await using neovim = await startNeovim(version, `{ terminal = { command = ${wantsMarks} } }`);
  await openEcho(neovim);
  await neovim.lua(`
    for phase, piece in ipairs({ "one\\ntw", "o", "\\nthree" }) do
      vim.api.nvim_paste(piece, false, phase)
    end`);
  await shows(neovim, "^[[200~one two three^[[201~");
});

describe.each(BOTH_NEOVIMS)("$name ends", (version) => {
  const start = async () => {
    const neovim = await startNeovim(version, `{ terminal = { command = ${ECHO} } }`);
    await neovim.command("edit a.txt");
    await openEcho(neovim);
    return neovim;
  };
  const runs = (neovim: TestNeovim) =>
    neovim.lua<boolean>(`return require("port").running.is_any_open()`);
  /** Types keys that may end Neovim, which then gives no answer. */
  const type = (neovim: TestNeovim, keys: string) =>
    neovim.request("nvim_input", [keys]).catch(() => {});
  const ends = (neovim: TestNeovim) =>
    eventually("the end of Neovim", () => neovim.process.exitCode === 0);

  test("with :qa though Claude runs, and Claude ends with it", async () => {
    await using neovim = await start();
    const pid = await neovim.lua<number>("return vim.fn.jobpid(vim.bo.channel)");
    type(neovim, "<C-q>:qa<CR>");
    await ends(neovim);
    await eventually("the end of Claude", () => !isRunning(pid));
  });

  test.each(
    first(3, [
      ["<Cmd>qa<CR>", "E162", "Claude is working"],
      ["<Cmd>wqa<CR>", "E948", "Claude needs input"],
      ["ZQ", "", "Claude is working"],
      ["ZZ", "E162", "Claude needs input"],
      ["<Cmd>qa!<CR>", "", "Claude is working"],
    ]),
  )("to %s Neovim says %s while %s", async (keys, refusal, reason) => {
    await using neovim = await start();
    await neovim.lua(`vim.keymap.set("n", "<F2>", ...)`, keys);
    await neovim.lua(
      `require("port").session_rows.report({ n = 1 }, "hook", { state = ... })`,
      reason.includes("working") ? "working" : "blocked",
    );
    await neovim.command("Claude");
    await neovim.inMode("n");
    const before = await windows(neovim);
    // A mapping's <Cmd> is not a command line; ZZ is a command of its own.
    type(neovim, keys.startsWith("Z") ? keys : "<F2>");
    if (refusal === "") return ends(neovim);
    await eventually("its refusal", async () => {
      await neovim.type("<CR>");
      const messages = await neovim.lua<string>(
        "return vim.fn.execute('messages') .. table.concat(SAID)",
      );
      expect(messages).toContain(refusal);
      expect(messages).toContain(reason);
    });
    expect(await windows(neovim)).toEqual(before);
    expect(await neovim.lua("return vim.fn.expand('%:t')")).toBe("a.txt");
    expect(await runs(neovim)).toBe(true);
    // No part of it is left.
    expect(await neovim.command("ls!")).not.toContain(reason);
  });

  test.each(["qa", "wqa", "xa"])("not with :%s beside an unsaved file", async (command) => {
    await using neovim = await start();
    await neovim.type("<C-q>:wincmd p<CR>");
    await neovim.inMode("n");
    await neovim.command("silent edit no-such-folder/b.txt");
    await neovim.type("iunsaved<Esc>");
    expect(await outcomeOf(neovim.command(command))).toThrow();
    expect(await runs(neovim)).toBe(true);
  });

  test("with :qa in a prompt that was changed: it stays a draft", async () => {
    await using neovim = await start();
    await neovim.command("Claude prompt");
    await neovim.inMode("i");
    type(neovim, "half of<Esc>:qa<CR>");
    await ends(neovim);
    const folder = join(neovimStateOf(neovim.home), "claude-code/drafts");
    const drafts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    expect(drafts).toEqual(["half of"]);
  });
});
