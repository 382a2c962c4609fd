import { BOTH_NEOVIMS, eventually, type NeovimVersion } from "#test";
import { Attached } from "../attached";

const UI = { width: 200, height: 40 };

/**
 * A language server inside Neovim, for the file of the current buffer: it answers with the line that it was
 * asked about, and leads to the line and the file that `lead` says.
 */
const serve = (name: string, more = "") => `
  asked, lead = {}, { line = 0 }
  local function answer(method, params)
    table.insert(asked, { vim.fs.basename(vim.uri_to_fname(params.textDocument.uri)), params.position.line + 1,
      params.position.character })
    if method == "textDocument/hover" then
      return { contents = ("line %d of the file"):format(params.position.line + 1) }
    end
    local at = { line = lead.line - 1, character = 0 }
    local place = { uri = lead.uri or params.textDocument.uri, range = { start = at, ["end"] = at } }
    return { place }
  end
  local server = require("port").language_server({ ${more} hoverProvider = true, definitionProvider = true }, {
    request = vim.schedule_wrap(function(method, params, done)
      if method == "shutdown" then done(nil, nil) else done(nil, answer(method, params)) end
    end),
  })
  vim.lsp.start({ name = "${name}", root_dir = vim.fn.getcwd(), cmd = server }, { bufnr = 0 })`;

const OLD = "one\ntwo\nthree\nfour\nfünf\n";
/** Line 2 is changed, two are new behind line 3. */
const NEW = "one\nTWO\nthree\nnew\nnewer\nfour\nfünf\n";

async function start(version: NeovimVersion): Promise<Attached> {
  const a = await Attached.asNew({ version, ui: UI });
  a.file("main.txt", OLD);
  a.file("other.txt", OLD);
  await a.edit(a.main);
  await a.attach();
  await a.nvim.lua(serve("known"));
  await a.nvim.until(
    "the server",
    "return (vim.lsp.get_clients({ bufnr = 0 })[1] or {}).initialized == true",
  );
  return a;
}

const shownFloat = (a: Attached) =>
  a.nvim.lua<string>(`
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(win).relative ~= "" then
        return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false), " ")
      end
    end
    return ""`);

const hovers = (a: Attached, text: string) =>
  eventually("the hover", async () => expect(await shownFloat(a)).toBe(text));

async function show(a: Attached, path = a.main): Promise<number> {
  return a.proposeAndShow(path, NEW);
}

const place = (a: Attached) =>
  a.nvim.lua<[string, number]>(
    "return { vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':t'), vim.fn.line('.') }",
  );

const keysOf = (a: Attached) =>
  a.nvim.lua<string[]>(`
    return vim.tbl_filter(function(key)
      return vim.fn.maparg(key, "n", false, true).buffer == 1
    end, { "K", "gd" })`);

describe.each(BOTH_NEOVIMS)("$name", (version) => {
  test("K asks the file's server about the line that the file has; the float goes with the diff", async () => {
    await using a = await start(version);
    const id = await show(a);
    await a.nvim.type("6G3|K");
    await hovers(a, "line 4 of the file");
    expect(await a.nvim.lua("return asked")).toEqual([["main.txt", 4, 2]]);
    await a.rejects(id);
    expect(await a.nvim.lua<number>("return #vim.api.nvim_list_wins()")).toBe(1);
    expect(await a.nvim.lua("return #vim.lsp.get_clients()")).toBe(1);
    expect(await a.nvim.lua("return vim.v.errmsg")).toBe("");
  });

  test("K asks each server in its own columns, on 0.10 in those of the first", async () => {
    await using a = await start(version);
    await a.nvim.lua(serve("bytes", 'positionEncoding = "utf-8",'));
    await a.nvim.until("both", "return vim.lsp.get_clients({ bufnr = 0 })[2].initialized == true");
    await show(a);
    await a.nvim.type("7G3|K");
    await a.nvim.until("two questions", "return #asked == 2");
    const columns = await a.nvim.lua<number[]>("return { asked[1][3], asked[2][3] }");
    expect(columns.sort()).toEqual(version.name.includes("0.10") ? [2, 2] : [2, 3]);
  });

  test("a line that the proposal changes or adds: a message says so, nobody is asked", async () => {
    await using a = await start(version);
    await show(a);
    for (const line of [2, 4, 5]) await a.nvim.type(`${line}GKgd`);
    expect(await a.messages()).toContain("language servers know main.txt without this change");
    expect(await a.nvim.lua("return asked")).toEqual([]);
    await a.nvim.type("7GK");
    await hovers(a, "line 5 of the file");
  });

  test("unsaved edits of the file's buffer count: the line is the one that the buffer has", async () => {
    await using a = await start(version);
    await a.nvim.command("call append(0, ['unsaved', 'also'])");
    await show(a);
    await a.nvim.type("1GK");
    await hovers(a, "line 3 of the file");
  });

  test("gd: what is in the file is in the diff; another file opens, and the diff waits", async () => {
    await using a = await start(version);
    await show(a);
    await a.nvim.lua("lead.line = 5");
    await a.nvim.type("1Ggd");
    await eventually("line 7", async () =>
      expect(await place(a)).toEqual(["main.txt (proposed)", 7]),
    );
    await a.nvim.type("<C-o>");
    expect(await place(a)).toEqual(["main.txt (proposed)", 1]);
    await a.nvim.lua("lead.uri = vim.uri_from_fname(...)", a.path("other.txt"));
    await a.nvim.type("gd");
    await eventually("the other file", async () =>
      expect(await place(a)).toEqual(["other.txt", 5]),
    );
    await a.waits();
  });

  test("keys that the user has mapped stay theirs, those of Neovim's own kind become ours", async () => {
    await using a = await start(version);
    await a.nvim.lua(`
      vim.keymap.set("n", "gd", "<Cmd>let g:mine = 1<CR>")
      vim.keymap.set("n", "K", vim.lsp.buf.hover)`);
    await show(a);
    expect(await keysOf(a)).toEqual(["K"]);
    await a.nvim.type("gd");
    expect(await a.nvim.lua("return vim.g.mine")).toBe(1);
  });

  test("without a server of the file no key is mapped; of a buffer that went a message says so", async () => {
    await using a = await start(version);
    const other = a.path("other.txt");
    const id = await show(a, other);
    expect(await keysOf(a)).toEqual([]);
    await a.rejects(id);
    await show(a);
    expect(await keysOf(a)).toEqual(["K", "gd"]);
    await a.nvim.lua("vim.cmd.bdelete(vim.fn.bufnr('main.txt$'))");
    await a.nvim.type("1GK");
    expect(await a.messages()).toContain("no language server of main.txt knows a hover");
  });
});
