import { pathToFileURL } from "node:url";
import { eventually, onEachNeovim, type Session, TestClient } from "#test";
import { native } from "../../../src/lib/platform";

/*
 * Which selection is Claude's, when it is sent, and to whom: frames as clients of a real Neovim with
 * a screen receive them. A short debounce keeps the tests fast; its length has a test of its own.
 */
const TEXT = "one two three\nfour five\nsix\n";

/** The range of the word "two" in TEXT. */
const TWO = { start: { line: 0, character: 4 }, end: { line: 0, character: 7 } };

interface SelectionChanged {
  text: string;
  filePath: string;
  fileUrl: string;
  selection: {
    start: { line: number; character: number };
    end: { line: number; character: number };
    isEmpty: boolean;
  };
}

const OPTIONS = {
  constants: ["selection.DEBOUNCE_MS = 20"],
  ui: { width: 100, height: 30 },
  client: "claude-code",
};

onEachNeovim((session) => {
  /** As the CLI is given paths. */
  const file = () => native(session.path("main.txt"));
  const frames = (client = session.client) =>
    client.notifications<SelectionChanged>("selection_changed");
  const last = () => frames().at(-1);

  /** Waits until the last frame has this text, selected in the file. */
  const expectSent = (text: string, path = file()) =>
    eventually(`"${text}" sent`, () => {
      expect(last()).toMatchObject({ text, filePath: native(path) });
    });
  /** Includes the text that was sent last, and its first line (1-based). */
  const plays = (script: string) =>
    session.neovim.plays(script, {
      words: {
        sent: () => last()?.text ?? "",
        from: () => {
          const { line, character } = last()?.selection.start ?? { line: -1, character: -1 };
          return `${line + 1}:${character + 1}`;
        },
      },
    });

  /** Waits until the debounce time has ended in Neovim, and all frames have arrived. */
  async function settled(): Promise<SelectionChanged | undefined> {
    await session.neovim.lua("vim.wait(25)");
    // Neovim answers after everything that it has sent before.
    await session.known();
    return last();
  }

  const selectTwo = async () => {
    await session.neovim.type("wve<Esc>");
    await expectSent("two");
  };

  beforeEach(async () => {
    await session.reset();
    session.write("main.txt", TEXT);
    await session.neovim.command(`edit! ${file()}`);
    await session.neovim.type("gg0");
    await expectSent("");
  });

  describe("a selection is sent", () => {
    test("with the file, its URL and 0-based ends, after the debounce time", async () => {
      const path = native(session.write("dir with ü/50% #1.txt", TEXT));
      await session.edit(path);
      await session.neovim.type("gg0wve");
      await expectSent("two", path);
      const fileUrl = pathToFileURL(path).href;
      const selection = { ...TWO, isEmpty: false };
      expect(last()).toEqual({ text: "two", filePath: path, fileUrl, selection });
    });

    test("as the cursor when nothing is selected", async () => {
      await plays("jw  sent =  from = 2:6");
      expect(last()?.selection).toMatchObject({ end: { line: 1, character: 5 }, isEmpty: true });
    });

    test("for a cursor that moved just before the user went to a terminal", async () => {
      await session.neovim.command("belowright split | terminal");
      await session.neovim.command("wincmd k");
      await settled();
      await plays("jl<C-w>j  from = 2:2");
      expect((await settled())?.selection.start).toEqual({ line: 1, character: 1 });
    });

    test("while typing", () =>
      plays(`
        Gonew     from 4:4
        <Esc>u
      `));

    test("once, however often the cursor comes back to it", async () => {
      await session.neovim.type("wve");
      await expectSent("two");
      const count = frames().length;
      // In one call, so that the cursor is back within the debounce time.
      await session.neovim.type("hloo");
      await settled();
      expect(frames()).toHaveLength(count);
    });

    test("not for every step of a movement", async () => {
      const count = frames().length;
      await session.neovim.type("llllllllllll");
      await plays("<Ignore>  from = 1:13");
      expect(frames().length - count).toBeLessThanOrEqual(2);
    });
  });

  describe("a visual selection stays Claude's", () => {
    /** How users leave visual mode, all within the debounce time. */
    const LEAVING: Record<string, string> = {
      "with <Esc>": "<Esc>",
      "by yanking": "y",
      "by a command line that is cancelled": ":<Esc>",
      "by a command": ":<C-u>let g:done = 1<CR>",
      "by writing": "<Esc>:silent write<CR>",
      "by moving into a terminal": "<C-w>j",
      "by a mapping that enters a terminal": "<Cmd>lua vim.api.nvim_set_current_win(TERMINAL)<CR>",
      "by opening a terminal": "<Cmd>botright split | terminal<CR>",
      "by opening a scratch window": "<Cmd>botright new | setlocal buftype=nofile<CR>",
      "by a help window": ":<C-u>help<CR>",
      "by a quickfix list": ":<C-u>copen<CR>",
    };

    test.each(Object.entries(LEAVING))("when it is left %s", async (_name, keys) => {
      await session.neovim.command("belowright split | terminal");
      await session.neovim.lua("TERMINAL = vim.api.nvim_get_current_win()");
      await session.neovim.command("wincmd k");
      await session.neovim.type(`gg0wve${keys}`);
      await expectSent("two");
      expect((await settled())?.text).toBe("two");
    });

    test("when it is left through other file windows", async () => {
      const other = session.write("other.txt", TEXT);
      await session.neovim.command(`belowright split ${other}`);
      await session.neovim.command("belowright split | terminal");
      await session.neovim.command("2wincmd k");
      await session.neovim.type("gg0wve<C-w>j<C-w>j");
      await expectSent("two");
      expect((await settled())?.text).toBe("two");
    });

    test("while a search is typed that shows its match elsewhere", async () => {
      await selectTwo();
      await session.neovim.type("/six");
      expect((await settled())?.text).toBe("two");
      expect(await session.client.json("getLatestSelection")).toMatchObject({ text: "two" });
      await plays("<CR>  from = 3:1");
    });

    test("until another file is entered", async () => {
      await selectTwo();
      const other = session.write("other.txt", TEXT);
      await session.edit(other);
      await expectSent("", other);
    });

    test.each([
      ["the cursor moves", "l"],
      ["its lines change", `:call setline(1, "one 2 three")<CR>`],
    ])("until %s", async (_what, keys) => {
      await selectTwo();
      await session.neovim.type(keys);
      await expectSent("");
    });

    test("but not what an operator has taken away", async () => {
      await plays("wved  from = 1:5");
      expect((await settled())?.text).toBe("");
      await session.neovim.type("u");
    });
  });

  describe("the mouse", () => {
    const mouse = (action: string, [row, column]: [row: number, column: number]) =>
      session.neovim.request("nvim_input_mouse", ["left", action, "", 0, row - 1, column - 1]);
    /** Presses at the first place and drags over the others, waiting for the cursor each time. */
    async function drag(...places: [row: number, column: number][]) {
      for (const [i, place] of places.entries()) {
        await mouse(i === 0 ? "press" : "drag", place);
        await plays(`<Ignore>  :${place.join(":")}`);
      }
      // Neovim knows only one position of the mouse, so release it before the next press.
      await session.neovim.lua(`
        RELEASED = false
        vim.on_key(function(key)
          RELEASED = RELEASED or key == vim.keycode("<LeftRelease>")
        end, vim.api.nvim_create_namespace("drag"))`);
      await mouse("release", places.at(-1) as [number, number]);
      await session.neovim.until("the release", "return RELEASED");
    }

    test("selects the text under a mouse drag", async () => {
      await drag([1, 5], [1, 8], [2, 8], [2, 9]);
      await plays("<Ignore>  sent = two three|four five  from = 1:5");
      expect((await settled())?.selection.end).toEqual({ line: 1, character: 9 });
    });

    test("clicks into a terminal split, and the selection stays", async () => {
      await session.neovim.command("botright split | terminal");
      await session.neovim.command("wincmd t");
      await drag([2, 1], [2, 4]);
      await mouse("press", [25, 10]);
      await plays("<Ignore>  {&buftype} terminal  sent = four");
      expect((await settled())?.text).toBe("four");
    });
  });

  describe("never replaced by", () => {
    const ELSEWHERE: Record<string, string> = {
      "a terminal": "terminal",
      "a terminal's own visual mode": 'terminal | call feedkeys("V")',
      "a scratch buffer": "enew | setlocal buftype=nofile | file scratch",
      "an unnamed buffer": "enew",
      help: "help | only",
      "a list of files": "Explore",
      "a URL": "edit oil:///somewhere/",
      "a private file": "edit .env",
      "our own log": "Claude log",
      "a commit message": "edit COMMIT_EDITMSG",
    };

    test.each(Object.entries(ELSEWHERE))("%s", async (_name, command) => {
      await selectTwo();
      await session.neovim.command(`set hidden | silent! ${command}`);
      await session.neovim.type("<Ignore>");
      expect(await settled()).toMatchObject({ text: "two", filePath: file() });
      expect(JSON.stringify(frames())).not.toContain(".env");
    });

    test("a diff on screen", async () => {
      await selectTwo();
      const answer = session.client.openDiff(file(), "another text\n");
      await session.neovim.until("the diff", "return vim.wo.diff and vim.bo.buftype == 'acwrite'");
      await session.neovim.type("lV");
      expect((await settled())?.text).toBe("two");
      await session.neovim.type("<Esc>");
      await session.neovim.command("Claude diff reject");
      expect((await answer)[0]).toBe("DIFF_REJECTED");
    });
  });

  describe("sent again", () => {
    beforeEach(selectTwo);

    test("after closeAllDiffTabs, to that client alone", async () => {
      using other = await TestClient.open(session.lock, "claude-code");
      await eventually("a frame for the other client", () => frames(other).length > 0);
      // The client connects in two steps, with a frame for each; this answer comes after both.
      await other.json("getLatestSelection");
      const [mine, others] = [frames().length, frames(other).length];
      await session.client.texts("closeAllDiffTabs");
      await eventually("a frame again", () => frames().length > mine);
      expect(frames()).toHaveLength(mine + 1);
      expect(last()?.text).toBe("two");
      expect(frames(other)).toHaveLength(others);
    });

    test("after ide_connected", async () => {
      const count = frames().length;
      session.client.notify("ide_connected", { pid: process.pid });
      await eventually("a frame again", () => frames().length > count);
      expect(last()?.text).toBe("two");
    });

    test("at once to a client that comes late, and by the tools, even from a terminal", async () => {
      await session.neovim.command("belowright split | terminal");
      using late = await TestClient.open(session.lock, "claude-code");
      await eventually("a frame for the late client", () => frames(late).length > 0);
      const sent = { text: "two", filePath: file() };
      expect(frames(late)[0]).toMatchObject(sent);
      for (const tool of ["getCurrentSelection", "getLatestSelection"])
        expect(await late.json(tool)).toMatchObject({ success: true, ...sent });
    });
  });

  test("takes the selection back when the file is closed", async () => {
    await selectTwo();
    await session.neovim.command("enew | bwipeout! #");
    await expectSent("", "");
    expect(last()).toMatchObject({ fileUrl: "", selection: { isEmpty: true } });
    expect(await session.client.json("getLatestSelection")).toMatchObject({ success: false });
  });

  test("sends a file again that is closed and opened, with a new client in between", async () => {
    const before = frames().length;
    // The new client asks for it within the debounce time.
    await session.neovim.lua(
      `vim.cmd("enew | bwipeout! #")
       require("port").dispatcher.call("latest_selection", { detailed = false, for_client = true })
       vim.cmd.edit(...)`,
      file(),
    );
    await eventually("both", () =>
      expect(frames().slice(before)).toMatchObject([{ filePath: "" }, { filePath: file() }]),
    );
  });

  test("sends one event and one frame for a prompt before the selection was sent", async () => {
    const debounce = (ms: number) =>
      session.neovim.lua(
        `require("port").selection.DEBOUNCE_MS = ...
         for _, send in ipairs({ "none", "file" }) do
           require("claude-code").setup({ selection = { send = send } })
         end`,
        ms,
      );
    // Nothing is sent automatically: a pending push would be a separate event.
    await debounce(60_000);
    await session.neovim.lua(`
      SENT = {}
      vim.api.nvim_create_autocmd("User", {
        pattern = "ClaudeCodeSelectionSent",
        callback = function(args) table.insert(SENT, args.data) end,
      })`);
    const { length } = frames();
    await session.neovim.type("wve");
    await session.client.call("closeAllDiffTabs");
    await expectSent("two");
    await settled();
    expect(await session.neovim.lua<unknown[]>("return SENT")).toEqual([
      { path: session.path("main.txt"), text: "two", mode: "v", ...TWO },
    ]);
    expect(frames().slice(length)).toMatchObject([{ text: "two" }]);
    await debounce(20);
  });
}, OPTIONS);

/** The autocommands, as `:autocmd` lists them. */
const watched = (session: Session, event: string) =>
  session.neovim.lua<number>(
    `return #vim.tbl_filter(function(command)
       return (command.group_name or ""):find("^claude%-code") ~= nil
     end, vim.api.nvim_get_autocmds({ event = ... }))`,
    event,
  );

onEachNeovim((session) => {
  afterEach(() => session.client.close());

  test("watches no movements without a client, and keeps the selection for one", async () => {
    const { neovim } = session;
    await eventually("it is watched", async () => (await watched(session, "CursorMoved")) > 0);
    session.client.close();
    await eventually("no longer", async () => (await watched(session, "CursorMoved")) === 0);
    expect(await watched(session, "CursorMovedI")).toBe(0);
    expect(await watched(session, "ModeChanged")).toBeGreaterThan(0);

    const path = session.write("main.txt", TEXT);
    await neovim.command(`edit ${path}`);
    await neovim.plays("gg0wve<Esc>  :1:7  mode n");
    /** The first frame that a new client gets. */
    const firstFrame = async (client: TestClient) => {
      await eventually("a frame", () => client.notifications("selection_changed").length > 0);
      return client.notifications("selection_changed")[0];
    };
    using client = await TestClient.open(session.lock, "claude-code");
    expect(await firstFrame(client)).toMatchObject({ text: "two" });

    client.close();
    await eventually("gone", async () => (await watched(session, "CursorMoved")) === 0);
    await neovim.plays("j  :2:7  mode n");
    using next = await TestClient.open(session.lock, "claude-code");
    const moved = { text: "", selection: { start: { line: 1 } } };
    expect(await firstFrame(next)).toMatchObject(moved);
  });

  test("sends a selection after 300 ms without a change", async () => {
    using client = await TestClient.open(session.lock, "claude-code");
    await session.neovim.type("gg0");
    const sent = () => client.notifications<SelectionChanged>("selection_changed");
    const place = (line: number, character: number) =>
      eventually("the place", () =>
        expect(sent().at(-1)?.selection.start).toEqual({ line, character }),
      );
    await place(0, 0);
    const typed = performance.now();
    await session.neovim.type("l");
    await place(0, 1);
    expect(performance.now() - typed).toBeGreaterThan(295);
  });
});

onEachNeovim(
  (session) => {
    test('with selection.send = "none" nothing is sent and nothing is watched', async () => {
      await session.neovim.command(`edit ${session.write("main.txt", TEXT)}`);
      await session.neovim.type("gg0wve<Esc>");
      await session.client.request("ping");
      expect(session.client.notifications("selection_changed")).toEqual([]);
      expect(await watched(session, "ModeChanged")).toBe(0);
      for (const tool of ["getCurrentSelection", "getLatestSelection"]) {
        expect(await session.client.json(tool)).toEqual({
          success: false,
          message: "Neovim does not share its selection (option selection.send)",
        });
      }
      await session.neovim.type("gg0wve");
      expect(await session.client.request("editor/selection")).toEqual({ active: false });
      await session.neovim.type("<Esc>");
    });
  },
  { setup: '{ selection = { send = "none" } }' },
);

onEachNeovim(
  (session) => {
    test('with selection.send = "selection" no file is named unless lines are selected', async () => {
      await session.neovim.command(`edit ${session.write("main.txt", TEXT)}`);
      const sent = () => session.client.notifications<SelectionChanged>("selection_changed");
      const words = { sent: () => sent().at(-1)?.text ?? "" };
      const mark = "{v:lua.require'claude-code'.statusline()}";
      await session.neovim.plays(
        `
          Vj       sent /^one/   ${mark} /, ⧉ 2 lines$/
          <Esc>G   sent =        ${mark} ! ⧉
        `,
        { words },
      );
      const paths = sent().map(({ filePath }) => filePath);
      expect(paths).toEqual([...paths.slice(1).fill(native(session.path("main.txt"))), ""]);
      expect(await session.client.json("getCurrentSelection")).toMatchObject({ success: false });
    });
  },
  { ...OPTIONS, setup: '{ selection = { send = "selection" } }' },
);
