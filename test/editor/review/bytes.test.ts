import { World } from "#review";
import { ALL, onEachNeovim } from "#test";

const TEXT = Array.from({ length: 12 }, (_, i) => `line ${i + 1}\n`).join("");
const CHANGED = TEXT.replace("line 5", "LINE 5");
const CRLF = TEXT.replaceAll("\n", "\r\n");
const BOM = "\xef\xbb\xbf";

/** The bytes of a text, each as a character. */
const utf16le = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le").toString("latin1");
const utf16be = (text: string) =>
  Buffer.from(`\ufeff${text}`, "utf16le").swap16().toString("latin1");
const far = `${"\u4e2d".repeat(4100)}\n\u4e0a\u0a4e`;

/** A file before and after Claude's change. */
const FILES: Record<string, [before: string, after: string]> = {
  "a plain text": [TEXT, CHANGED],
  "an empty file that gets a line": ["", "now some"],
  "an empty file that gets lines": ["", "now\nsome\n"],
  "an empty file that gets a line end": ["", "\n"],
  "an emptied file": [TEXT, ""],
  "an emptied line end": ["\n", ""],
  "a line end that becomes a line": ["\n", "x"],
  "a lost last line end": [TEXT, TEXT.slice(0, -1)],
  "a new last line end": [TEXT.slice(0, -1), TEXT],
  "no last line end": [TEXT.slice(0, -1), CHANGED.slice(0, -1)],
  "no last line end, last line": ["1\n2\n3\n4\nfive", "1\n2\n3\n4\nFIVE"],
  CRLF: [CRLF, CRLF.replace("line 5", "LINE 5")],
  "CRLF that becomes LF": [CRLF, TEXT],
  "LF that becomes CRLF": [TEXT, CRLF],
  "one CRLF among LF": [TEXT.replace("2\n", "2\r\n"), CHANGED.replace("2\n", "2\r\n")],
  "one LF among CRLF": [CRLF.replace("9\r\n", "9\n"), CRLF.replace("9\r", "9").replace("l", "L")],
  "CR alone": [TEXT.replaceAll("\n", "\r"), CHANGED.replaceAll("\n", "\r")],
  "a byte order mark": [BOM + TEXT, BOM + CHANGED],
  "a lost byte order mark": [BOM + TEXT, TEXT],
  "a new byte order mark": [TEXT, BOM + TEXT],
  "Latin-1": [`${TEXT}d\xe9j\xe0 vu\n`, `${CHANGED}d\xe9j\xe0 vu\n`],
  "UTF-16, little endian": [utf16le(TEXT), utf16le(CHANGED)],
  "UTF-16, big endian": [utf16be(TEXT), utf16be(CHANGED)],
  "UTF-16 whose first bytes have no NUL": [utf16le(far), utf16le(far.replace("\u4e0a", "\u0a4e"))],
  "UTF-16 that becomes UTF-8": [utf16le(TEXT), CHANGED],
  "UTF-8 that becomes UTF-16": [TEXT, utf16be(CHANGED)],
  "a NUL far down": [`${TEXT.repeat(100)}one\0\n`, `${TEXT.repeat(100)}ONE\0\n`],
  "a NUL far down, in Latin-1": [`\xe9${TEXT.repeat(100)}1\0\n`, `\xe9${TEXT.repeat(100)}I\0\n`],
  "a binary file": ["\0\x01\x02abc\nold\n\0\xff\xfe", "\0\x01\x02abc\nNEW\n\0\xff\xfe"],
  "an image": ["\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\xff", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\xfe\n"],
};

/** The first row of a text with several rows, including its line end; not for binary content. */
const firstRow = (text: string) => {
  const [row] = text.match(/^[^\n]*\n(?=[^\n])/) ?? [];
  const isOpaque = text.startsWith("\xff\xfe") || text.slice(0, 8000).includes("\0");
  return isOpaque ? undefined : row;
};
const withLine = (text: string, line: string) =>
  text.replace(/(\r?\n)/, (end) => `${end}${line}${end}`);

/** For a file that its buffer shows. */
const WAYS = { "in its buffer": "%Claude undo", "as a whole": "Claude undo!" };

/** These work in the same way for each kind of text. */
const WHOLE = ["a plain text", "an emptied file", "CRLF that becomes LF", "a lost byte order mark"];
WHOLE.push("UTF-16, little endian", "UTF-16 that becomes UTF-8", "an image");
const kindsOf = (way: string) =>
  Object.entries(FILES).filter(([kind]) => ALL || way !== "as a whole" || WHOLE.includes(kind));

/** Neovim has only their characters. */
const OPAQUE: [kind: string, undo: string][] = [
  ["UTF-16, little endian", "Claude undo!"],
  ["a NUL far down, in Latin-1", "%Claude undo"],
  ["an image", "%Claude undo"],
];

onEachNeovim((session) => {
  let world: World;
  let tests = 0;
  let name = "";
  const lua = <T>(code: string, ...args: unknown[]) => session.neovim.lua<T>(code, ...args);

  beforeEach(async () => {
    world = new World(session.neovim.cwd, session.neovim.home);
    name = `f${++tests}`;
    await lua(`
      _G.said = {}
      vim.notify = function(text) table.insert(_G.said, text) end
      vim.fn.setqflist({}, "f")`);
  });
  afterEach(async () => {
    await session.neovim.command("silent! wall! | Claude review done");
    await idle();
    await session.reset();
    world[Symbol.dispose]();
  });

  const said = () => lua<string[]>("return _G.said");

  /** Returns once all decisions that were asked for are over. */
  const idle = () =>
    lua(`
      local is_over = false
      require("port").review_decide.enqueue(function()
        is_over = true
      end)
      assert(vim.wait(20000, function() return is_over end, 1))`);

  const run = async (command: string) => {
    await session.neovim.command(command);
    await idle();
  };

  /** A buffer's text and options, and those of a buffer that has just read the same bytes. */
  const buffers = async () => {
    world.write("fresh", world.read(name));
    return lua<{ shown?: object; fresh?: object }>(
      `
      local function text_of(name)
        local buf = vim.fn.bufnr("^" .. name .. "$")
        if buf == -1 or not vim.api.nvim_buf_is_loaded(buf) then return nil end
        local options = vim.bo[buf]
        return {
          lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false),
          modified = options.modified, endofline = options.endofline,
        }
      end
      local shown = text_of(...)
      vim.cmd("new fresh")
      local fresh = text_of("fresh")
      vim.cmd("bwipeout! fresh")
      return { shown = shown, fresh = fresh }`,
      name,
    );
  };

  const expectText = async (text: string) => {
    expect(world.read(name), (await said()).join("\n")).toBe(text);
    const { shown, fresh } = await buffers();
    expect(shown).toEqual(fresh);
  };

  /** Another program than Neovim writes the file. */
  const write = async (work: () => void) => {
    work();
    const reload = `require("claude-code.editor.documents.reload").now({ path = ... })`;
    await lua(reload, session.path(name));
  };

  const withLines = ([before, after]: [string, string]) => {
    if (firstRow(before) === undefined || firstRow(before) !== firstRow(after)) return undefined;
    const [undone, changed] = [withLine(before, "one"), withLine(after, "one")];
    const more = [withLine(undone, "two"), withLine(changed, "two")] as const;
    return { changed, undone, moreUndone: more[0], moreChanged: more[1] };
  };

  describe.each(Object.entries(WAYS))("%s", (way, undo) => {
    test.each(kindsOf(way))("%s: undone and back to the byte", async (title, texts) => {
      const [before, after] = texts;
      world.write(name, before);
      // The default of Windows: a text without a line feed is "dos".
      if (title === "CR alone") await session.neovim.command("set fileformats=dos,unix");
      await session.neovim.command(`edit ${name} | set fileformats&`);
      await write(() => world.claude({ [name]: after }));
      await run(undo);
      await expectText(before);
      await run("Claude back");
      await expectText(after);
      // The same with the user's lines.
      const lines = withLines(texts);
      if (!lines) return;
      await write(() => world.write(name, lines.changed));
      await run(undo);
      await expectText(lines.undone);
      await write(() => world.write(name, lines.moreUndone));
      await run("Claude back");
      await expectText(lines.moreChanged);
    });
  });

  test.each(OPAQUE)("refuses for %s beside unsaved changes: %s", async (kind, undo) => {
    const [before, after] = FILES[kind] as [string, string];
    world.write(name, before);
    await session.neovim.command(`edit ${name}`);
    await write(() => world.claude({ [name]: after }));
    const edit = () => session.neovim.command("call append(0, 'mine')");
    const refused = async (text: string) => {
      expect((await said()).join("\n")).toContain(`${name} has unsaved changes: write it`);
      expect(world.read(name)).toBe(text);
      expect(await lua<string[]>("return vim.fn.getbufline(..., 1)", name)).toEqual(["mine"]);
      await lua(`_G.said = {} vim.cmd("1wincmd w | buffer " .. ... .. " | edit!")`, name);
    };
    await edit();
    await run(undo);
    await refused(after);
    await run("Claude undo!");
    expect(world.read(name)).toBe(before);
    await session.neovim.command(`edit ${name}`);
    await edit();
    await run("Claude back");
    await refused(before);
    await run("Claude back");
    await expectText(after);
  });

  test("refuses an undo that would change line ends beside unsaved changes", async () => {
    world.write(name, TEXT);
    await session.neovim.command(`edit ${name}`);
    await write(() => world.claude({ [name]: CRLF }));
    await session.neovim.command("call append(0, 'mine')");
    await run("Claude undo!");
    expect((await said()).join()).toContain(`${name} differs from its buffer: write it`);
    expect(world.read(name)).toBe(CRLF);
    await session.neovim.command("edit!");
    await run("Claude undo!");
    await expectText(TEXT);
  });
});
