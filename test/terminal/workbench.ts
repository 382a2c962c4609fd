import { eventually, type NeovimVersion, TestClient, TestNeovim } from "#test";

export const SCREEN = { width: 120, height: 30 };

/**
 * Neovim 0.10 may lose what a terminal's program prints at once (seen without any plugin). A newer
 * one that `startNeovim` has started says so by a variable.
 */
export const LATER = `\${AT_ONCE:-sleep 0.1};`;

/** A program that reports nothing, unlike Claude, gets text soon. */
export const AT_ONCE = ["running.MAX_START_MS = 300"];

/** A program that shows every byte it gets, as `^[` and the like, and ends on request. */
export const ECHO = `{ "sh", "-c", "stty raw -echo; ${LATER} echo up; exec cat -v" }`;

/** Neovim with a UI, whose SAID collects the plugin's messages. */
export async function startNeovim(version: NeovimVersion, setup: string): Promise<TestNeovim> {
  const env: Record<string, string> = version.name.endsWith("0.10") ? {} : { AT_ONCE: ":" };
  const neovim = await TestNeovim.start({ version, ui: SCREEN, setup, env, constants: AT_ONCE });
  await neovim.lua(`
    SAID = {}
    vim.notify = function(text) table.insert(SAID, text) end`);
  return neovim;
}

/** Ends what a test left running, and goes back to one window with one empty buffer. */
export async function reset(neovim: TestNeovim): Promise<void> {
  await neovim.lua(`
    require("port").terminal.close_all()
    vim.cmd("silent! tabonly! | silent! only! | enew! | %bwipeout!")
    SAID = {}`);
  await neovim.inMode("n");
}

export async function resize(neovim: TestNeovim, width: number, height: number): Promise<void> {
  await neovim.request("nvim_ui_try_resize", [width, height]);
  await neovim.until(
    "the screen",
    "local width, height = ...; return vim.o.columns == width and vim.o.lines == height",
    width,
    height,
  );
}

/** Sets options in addition to the earlier ones; `lua` is the inside of a table. */
export async function configure(neovim: TestNeovim, terminal: string): Promise<void> {
  await neovim.lua(`require("claude-code").setup({ terminal = ${terminal} })`);
}

export async function said(neovim: TestNeovim): Promise<string[]> {
  return eventually("a message", async () => {
    const texts = await neovim.lua<string[]>("return SAID");
    return texts.length > 0 && texts;
  });
}

/** The text of the only terminal, also of one that the user opened, without blanks at its end. */
export async function terminalText(neovim: TestNeovim): Promise<string> {
  return neovim.lua(`
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      if vim.bo[buf].buftype == "terminal" then
        return vim.trim(table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\\n"))
      end
    end
    return ""`);
}

/** Waits until the terminal shows `text`, wherever its lines break. */
export async function shows(neovim: TestNeovim, text: string): Promise<void> {
  await eventually(`"${text}" in the terminal`, async () => {
    const shown = await terminalText(neovim);
    if (!withoutBlanks(shown).includes(withoutBlanks(text)))
      throw new Error(`it shows ${JSON.stringify(shown)}`);
  });
}

/** A row of a played script after which modes that were asked for have begun. */
export const MODES_BEGIN = ":lua vim.wait(50)";

/** Plays a script whose words are also `terminal`, what it shows, and `said`, all messages since SAID was emptied. */
export const plays = (
  neovim: TestNeovim,
  script: string,
  words: Record<string, () => Promise<string>> = {},
): Promise<void> =>
  neovim.plays(script, {
    words: {
      ...words,
      terminal: () => terminalText(neovim),
      said: async () => (await neovim.lua<string[]>("return SAID")).join("|"),
    },
  });

const withoutBlanks = (text: string) => text.replaceAll(/\s+/g, "");

/** Starts the program of `ECHO` by :Claude, and waits until it listens and has the keyboard. */
export async function openEcho(neovim: TestNeovim): Promise<void> {
  await neovim.command("Claude");
  await shows(neovim, "up");
  await neovim.inMode("t");
}

/** The connection of a CLI that runs as this process. */
export async function connectFrom(neovim: TestNeovim, pid: number): Promise<TestClient> {
  const client = await TestClient.open(await neovim.lock(), "claude-code");
  client.notify("ide_connected", { pid });
  await neovim.until(
    "the client",
    `local pid = ...
      return vim.iter(require("port").server.clients):any(function(one) return one.pid == pid end)`,
    pid,
  );
  return client;
}

/** Windows of the tab page by what they show, with their sizes. */
export async function windows(
  neovim: TestNeovim,
): Promise<{ terminal: boolean; width: number; height: number; column: number; row: number }[]> {
  return neovim.lua(`
    return vim.tbl_map(function(win)
      local buf = vim.api.nvim_win_get_buf(win)
      local row, column = unpack(vim.api.nvim_win_get_position(win))
      return {
        terminal = vim.bo[buf].buftype == "terminal",
        width = vim.api.nvim_win_get_width(win), height = vim.api.nvim_win_get_height(win),
        row = row, column = column,
      }
    end, vim.api.nvim_tabpage_list_wins(0))`);
}
