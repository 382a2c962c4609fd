import { BOTH_NEOVIMS } from "#test";
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
/** Line 2 is changed, two are new after line 3. */
const NEW = "one\nTWO\nthree\nnew\nnewer\nfour\nfünf\n";

const shownFloat = (a: Attached) =>
  a.nvim.lua<string>(`
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(win).relative ~= "" then
        return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false), " ")
      end
    end
    return ""`);

const hovers = (a: Attached, keys: string, line: number) =>
  a.nvim.plays(`${keys}  float line ${line} of the file`, {
    words: { float: () => shownFloat(a) },
  });

const keysOf = (a: Attached) =>
  a.nvim.lua<string[]>(`
    return vim.tbl_filter(function(key)
      return vim.fn.maparg(key, "n", false, true).buffer == 1
    end, { "K", "gd" })`);

describe.each(BOTH_NEOVIMS)("$name", (version) => {
  async function start(prepare = "", name = "main.txt"): Promise<Attached> {
    const a = await Attached.asNew({ version, ui: UI });
    a.file("other.txt", OLD);
    await a.edit(a.file("main.txt", OLD));
    await a.attach();
    const isReady =
      "return vim.iter(vim.lsp.get_clients({ bufnr = 0 })):all(function(c) return c.initialized end)";
    await a.nvim.lua(serve("known"));
    if (prepare) await a.nvim.lua(prepare);
    await a.nvim.until("the servers", isReady);
    await a.proposeAndShow(a.path(name), NEW);
    return a;
  }

  test("asks the file's server about the file's own line with K, and closes the float with the diff", async () => {
    await using a = await start();
    await hovers(a, "6G3|K", 4);
    expect(await a.nvim.lua("return asked")).toEqual([["main.txt", 4, 2]]);
    await a.rejects(a.last);
    await a.plays(`<Ignore>  windows 1  {v:lua.vim.lsp.get_clients()->len()} 1  {v:errmsg} =`);
  });

  test("does not ask a server about a line that the proposal changes or adds, and says so", async () => {
    await using a = await start();
    for (const line of [2, 4, 5])
      await a.nvim.plays(`${line}GKgd  says language servers know main.txt without this change`);
    expect(await a.nvim.lua("return asked")).toEqual([]);
    await hovers(a, "7GK", 5);
  });

  test("counts unsaved edits of the file's buffer", async () => {
    await using a = await start("vim.fn.append(0, { 'unsaved', 'also' })");
    await hovers(a, "1GK", 3);
  });

  test("goes to places within the diff and in another file with gd, while the diff waits", async () => {
    await using a = await start("lead.line = 5");
    await a.nvim.plays(`
      1Ggd    {expand('%:t')} main.txt (proposed)   {line('.')} 7
      <C-o>   {expand('%:t')} main.txt (proposed)   {line('.')} 1
    `);
    await a.nvim.lua("lead.uri = vim.uri_from_fname(...)", a.path("other.txt"));
    await a.plays("gd  other.txt:5  diffs wait 1");
  });

  test("keeps the user's mappings, and replaces Neovim's default ones", async () => {
    await using a = await start(`
      vim.keymap.set("n", "gd", "<Cmd>let g:mine = 1<CR>")
      vim.keymap.set("n", "K", vim.lsp.buf.hover)`);
    expect(await keysOf(a)).toEqual(["K"]);
    await a.nvim.plays("gd  {g:mine} 1");
  });

  test("does not map keys without a server for the file, and says so if the buffer was deleted", async () => {
    await using a = await start("", "other.txt");
    expect(await keysOf(a)).toEqual([]);
    await a.rejects(a.last);
    await a.proposeAndShow(a.main, NEW);
    expect(await keysOf(a)).toEqual(["K", "gd"]);
    await a.nvim.lua("vim.cmd.bdelete(vim.fn.bufnr('main.txt$'))");
    await a.nvim.plays("1GK  says no language server of main.txt knows a hover");
  });
});
