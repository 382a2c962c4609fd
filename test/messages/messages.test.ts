import { readFileSync } from "node:fs";
import { eventually, lacks, NEOVIMS, neovimStateOf, TestNeovim } from "#test";
import { IS_WINDOWS, join } from "../../src/lib/platform";

/*
 * Messages in Neovim's own message line must not ask for Enter, since Neovim answers nothing while it
 * asks. The screen shows the beginning of each; :messages and the log have the whole text.
 */

/** The options that decide how much room there is. */
const SURROUNDINGS: [name: string, width: number, options: string][] = [
  ["40 columns", 40, ""],
  ["80 columns", 80, ""],
  ["150 columns", 150, ""],
  ["a ruler in the same line", 80, "set laststatus=0 ruler"],
  ["three lines for messages", 40, "set cmdheight=3"],
  ["no line for messages", 40, "set cmdheight=0"],
  ["'shortmess' without T", 80, "set shortmess-=T"],
];

const SETUP = `{
  auto_start = false,
  terminal = { command = "claude-that-is-nowhere" },
  autostart = true,
  selection = { send = "if a file is open that I would like Claude to know of" },
}`;

/** The keys, and the whole message that follows. */
const TYPED: [keys: string, message: string][] = [
  [":Claude send words<CR>", "no Claude runs in this Neovim; :Claude starts it"],
  [
    ":Claude<CR>",
    "the Claude CLI `claude-that-is-nowhere` is not on $PATH; run `npm install -g " +
      "@anthropic-ai/claude-code`, or name it in terminal.command",
  ],
  [
    ":Claude mention .env src/long.lua nosuch<CR>",
    ".env is private: `!.env` in privacy.patterns would let Claude see it; src/long.lua is not " +
      "on disk; save it first, because Claude reads the file there; nosuch is not on disk; save it " +
      "first, because Claude reads the file there",
  ],
];
const HEIGHT = 20;
const STARTUP = "autostart: unknown option; did you mean auto_start?";

describe.each(NEOVIMS)("messages in $name", (version) => {
  const modeOf = async (neovim: TestNeovim) =>
    (await neovim.request<{ mode: string }>("nvim_get_mode", [])).mode;
  /** Throws while Neovim waits for Enter, when it would answer nothing else. */
  const expectNoPrompt = async (neovim: TestNeovim) => {
    if ((await modeOf(neovim)).startsWith("r")) throw new Error("Neovim asks for Enter");
  };
  const logged = async (neovim: TestNeovim, message: string) => {
    await eventually(`"${message}" in the log`, async () => {
      await expectNoPrompt(neovim);
      if (!log(neovim).includes(message)) throw new Error(log(neovim));
    });
  };
  /** The message, as far as it fits, on the last line that has text. */
  const shown = async (neovim: TestNeovim, message: string) => {
    const fits = (line: string) => {
      const [, head = ""] = /^(?:claude-code\.nvim: )?(.{15,})…( |$)/.exec(line) ?? [];
      return head ? message.startsWith(head) || head.startsWith(message) : line.includes(message);
    };
    await eventually(`"${message}" on screen`, async () => {
      await expectNoPrompt(neovim);
      const lines = await screen(neovim);
      if (!lines.some(fits)) throw new Error(lines.join("\n"));
    });
    const kept = await neovim.command("messages");
    const isWhole = kept.includes(`claude-code.nvim: ${message}`);
    const hasLine = await neovim.lua<boolean>("return vim.o.cmdheight > 0");
    expect(isWhole || (!hasLine && kept.split("\n").some(fits))).toBe(true);
    await expectNoPrompt(neovim);
  };
  const screen = (neovim: TestNeovim) =>
    neovim.lua<string[]>(`
      local lines = {}
      for row = 1, vim.o.lines do
        local cells = {}
        for column = 1, vim.o.columns do cells[column] = vim.fn.screenstring(row, column) end
        lines[row] = vim.trim(table.concat(cells))
      end
      return lines`);
  /** Collects the beginning of the screen's last line each time the screen is drawn. */
  const drawn = (neovim: TestNeovim): string[] => {
    const lines: string[] = [];
    let line = "";
    neovim.api.on("notification", (method: string, events: [string, ...unknown[][]][]) => {
      for (const [event, ...calls] of method === "redraw" ? events : []) {
        if (event === "flush") lines.push(line);
        for (const [, row, column, cells] of event === "grid_line" ? calls : [])
          if (row === HEIGHT - 1 && column === 0)
            line = (cells as [text: string][]).map(([text]) => text).join("");
      }
    });
    return lines;
  };
  const log = (neovim: TestNeovim) =>
    readFileSync(join(neovimStateOf(neovim.home), "claude-code.log"), "utf8");
  const start = (width: number, options: string) =>
    TestNeovim.start({
      version,
      ui: { width, height: HEIGHT },
      setup: SETUP,
      env: { PATH: "/usr/bin:/bin" },
      args: options ? ["--cmd", options] : [],
    });

  test.each(SURROUNDINGS)("does not ask for Enter with %s", async (_name, width, options) => {
    await using neovim = await start(width, options);
    await shown(neovim, `2 options cannot be used: ${STARTUP}`);
    for (const [keys, message] of TYPED) {
      await neovim.type(keys);
      await logged(neovim, message);
      await shown(neovim, message);
    }
  });

  test("draws an error in the error colour", async () => {
    await using neovim = await start(80, "");
    await logged(neovim, STARTUP);
    await shown(neovim, `2 options cannot be used: ${STARTUP}`);
    const [line, attribute, plain] = await neovim.lua<[string, number, number]>(`
      local line = ""
      for column = 1, vim.o.columns do
        line = line .. vim.fn.screenstring(vim.o.lines, column)
      end
      local attribute = vim.fn.screenattr(vim.o.lines, 1)
      return { vim.trim(line), attribute, vim.fn.screenattr(vim.o.lines, vim.o.columns) }`);
    expect(line).toBe("claude-code.nvim: 2 options cannot be used: autostart: unknown opti…");
    expect(attribute).not.toBe(plain);
    const error = await neovim.lua<number>(`
      vim.cmd("redraw | echohl ErrorMsg | echo 'error' | echohl None")
      return vim.fn.screenattr(vim.o.lines, 1)`);
    expect(attribute).toBe(error);
  });

  test.each([
    [59 + 12, "not now", "not now"],
    [60 + 12, "not now", "claude-code.nvim: not now"],
    [59 + 12, "x".repeat(60), `${"x".repeat(58)}…`],
    [80, `${"x".repeat(48)}; y`, `claude-code.nvim: ${"x".repeat(48)}…`],
    [80, `two\nlines ${"語".repeat(30)}`, `claude-code.nvim: two lines ${"語".repeat(19)}…`],
  ])(
    "shows the name before every message or before none in %d columns, and cuts the end of %s",
    async (...row) => {
      const [width, text, line] = row;
      await using neovim = await start(width, "");
      await logged(neovim, STARTUP);
      await neovim.lua(`require("port").messages.warn(...)`, text);
      await eventually("the message", async () => expect((await screen(neovim)).at(-1)).toBe(line));
    },
  );

  test("does not ask for Enter when a syntax pattern fails while a message is drawn", async () => {
    await using neovim = await start(80, "");
    await logged(neovim, STARTUP);
    // E363: a line of 20 KB needs more than 'maxmempattern' allows.
    await neovim.lua(`
      vim.o.maxmempattern = 1
      vim.api.nvim_buf_set_lines(0, 0, -1, false, { ("y"):rep(20000) })
      vim.cmd([[syntax match Hostile /\\%#=1\\(y\\|z\\)*[0-9]/]])
      require("port").messages.info("drawn all the same")`);
    await shown(neovim, "drawn all the same");
  });

  test("shows a message once if two parts of the plugin report it at the same time", async () => {
    await using neovim = await start(80, "");
    await neovim.lua("for _ = 1, 2 do require('port').messages.info('installed it') end");
    await neovim.plays("<Ignore>  says installed it  says ! /installed it.*installed it/");
    expect(log(neovim).match(/installed it/g)).toHaveLength(1);
  });

  test.each([
    ["v", "<Esc>"],
    ["gh", "<Esc>"],
    ["i", "<Esc>"],
    ["R", "<Esc>"],
    [`:terminal ${IS_WINDOWS ? "cmd" : "cat"}<CR>i`, "<C-\\><C-n><C-w>v"],
  ])("does not wait in the mode of %s, and shows the message afterwards", async (keys, end) => {
    await using neovim = await start(80, "");
    await logged(neovim, STARTUP);
    await neovim.type(keys);
    const lines = drawn(neovim);
    await neovim.lua('require("port").messages.info("not now")');
    await eventually("the message", async () =>
      expect(await neovim.command("messages")).toContain("not now"),
    );
    // In visual and select mode Neovim would keep it on screen for 3 s, and wait.
    if (!keys.startsWith(":terminal")) expect(lines.join("\n")).not.toContain("not now");
    await neovim.type(end);
    await shown(neovim, "not now");
  });

  const answers = [
    ["n", "nothing was changed"],
    ["y", "set up for new Claude sessions; :Claude unsetup undoes it"],
  ] as const;
  test.each(lacks("symlinks") ? answers.slice(0, 1) : answers)(
    "does not ask for Enter after the dialog of :Claude setup, answered with %s",
    async (key, message) => {
      await using neovim = await start(80, "");
      await neovim.type(":Claude setup<CR>");
      const isAsking = async () => (await modeOf(neovim)) === "r?";
      await eventually("the dialog", isAsking);
      await neovim.request("nvim_input", [key]);
      await eventually("the dialog's end", async () => !(await isAsking()));
      await shown(neovim, message);
    },
  );

  test.each([
    ["is a function", "notify"],
    ["is a callable table", "setmetatable({}, { __call = function(_, ...) notify(...) end })"],
    ["waits for the main loop", "vim.schedule_wrap(notify)"],
  ])("gives the whole text to a notification plugin that %s", async (_name, made) => {
    await using neovim = await start(40, "");
    await shown(neovim, `2 options cannot be used: ${STARTUP}`);
    // nvim-notify is set up like this, and mini.notify, too.
    await neovim.lua(`
      local function notify(text, level, options) GOT = { text, level, options.title } end
      vim.notify = ${made}`);
    await neovim.type(":Claude<CR>");
    const got = await eventually("the message", () => neovim.lua<unknown[]>("return GOT or false"));
    expect(got).toEqual([TYPED[1]?.[1] as string, 4, "claude-code.nvim"]);
  });
});
