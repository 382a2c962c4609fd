import { mkdirSync, writeFileSync } from "node:fs";
import { claims, NEOVIMS, needs } from "#test";
import { Attached } from "../attached";

/** Replaces the file just before Neovim reads it. */
const SWAP = `
  local name, make = ...
  vim.api.nvim_create_autocmd("BufReadPre", { once = true, pattern = name, callback = function()
    vim.uv.fs_rename(name, name .. ".away")
    vim.fn.system(make .. " " .. vim.fn.shellescape(name))
  end })
  return name`;

/** Reads a text in one way; returns everything that the user can see of it. */
const READ = `
  local name, bytes, is_again, is_ours = ...
  local supply, events, found = require("port").supply, {}, {}
  local function write(suffix)
    local file = assert(io.open(name, "wb"))
    file:write(vim.base64.decode(bytes) .. suffix)
    file:close()
  end
  write("")
  vim.uv.fs_chmod(name, name:find("readonly$") and 292 or 420)
  vim.o.undofile, vim.o.undodir = true, vim.fs.dirname(name)
  vim.fn.delete(vim.fn.undofile(name))
  if name:find("undone$") then vim.cmd.edit(name) vim.cmd("silent 1delete | silent write | bwipeout") end
  local buf = vim.fn.bufadd(name)
  if is_again then vim.fn.bufload(buf) write("more\\n") end
  vim.bo[buf].modifiable = not name:find("fixed$")
  vim.cmd.messages("clear")
  vim.o.fileencodings = name:find("illegal$") and "utf-8" or vim.api.nvim_get_option_info2("fileencodings", {}).default
  vim.cmd("autocmd! BufReadPost *head if getline('$') == 'more' | call append(0, 'head') | endif")
  local all = { "BufReadPre", "BufReadPost", "FileType", "FileReadPre", "BufAdd", "BufEnter" }
  local id = vim.api.nvim_create_autocmd(all, { callback = function(args)
    table.insert(events, args.event .. " " .. vim.fs.basename(args.match))
  end })
  local function load() vim.fn.bufload(buf) end
  local function edit() vim.api.nvim_buf_call(buf, function() vim.cmd("silent edit!") end) end
  local read = is_again and edit or load
  local function ours() supply.read(buf, read) end
  if not is_ours then read() elseif is_again then ours() else supply.with_events(ours) end
  vim.api.nvim_del_autocmd(id)
  -- In 0.10 documents/parsing.lua sets the file type last.
  table.sort(events)
  vim.api.nvim_buf_call(buf, function()
    found = { events, vim.fn.execute("messages"), vim.fn.getpos("'["), vim.fn.getpos("']"), vim.fn.bufname("#") }
    for _, option in ipairs({ "binary", "bomb", "endofline", "fileencoding", "fileformat", "filetype", "modified",
      "readonly", "modifiable", "tabstop", "undolevels", "buflisted" }) do
      table.insert(found, option .. "=" .. tostring(vim.bo[option]))
    end
    table.insert(found, vim.api.nvim_buf_get_lines(buf, 0, -1, false))
    vim.bo[buf].modifiable = true
    vim.cmd("silent! undo")
    table.insert(found, vim.api.nvim_buf_get_lines(buf, 0, -1, false))
  end)
  vim.cmd("bwipeout! " .. buf)
  return found`;

/** Reads a file again and opens another, while no copy can be written and a plugin fails; shows both buffers. */
const WITHOUT_ROOM = `
  local paths, next, states = { ... }, vim.fn.tempname(), {}
  local function taken(i) return vim.fs.dirname(next) .. "/" .. vim.fs.basename(next) + i end
  for i = 1, 20 do vim.fn.mkdir(taken(i)) end
  vim.api.nvim_create_autocmd("BufReadPost", { command = "throw 'no'" })
  for i, path in ipairs(paths) do
    require("port").dispatcher.call(i == 1 and "document_reload" or "document_open", { path = path, front = false })
    states[i] = { vim.fn.getbufvar(path, "&mod"), vim.fn.getbufvar(path, "&ro"), vim.fn.getbufline(path, 1, "$") }
  end
  for i = 1, 20 do vim.uv.fs_rmdir(taken(i)) end
  return states`;

const TEXTS = {
  ...{ plain: "a\nb\n", "no end": "a\nb", empty: "", newline: "\n", two: "\n\n", mac: "a\rb\r" },
  ...{ crlf: "a\r\nb\r\n", mixed: "a\r\nb\n", "crlf, no end": "a\r\nb", zero: "a\0b" },
  ...{ bom: "\xef\xbb\xbfx\n", utf16: "\xff\xfea\0\n\0", latin: "\xe9\n", utf8: "\xc3\xa9\n" },
  ...{ modeline: "# vim: ts=3 ft=python\n", "x.lua": "return 1\n", readonly: "x", illegal: "\xe9" },
  ...{ fixed: "x\n", head: "caf\xe9\n", undone: "1\n2\n", long: "line\n".repeat(12_000) },
};

describe.each(NEOVIMS)("$name", (version) => {
  const start = () => Attached.attached({ version, ui: { width: 100, height: 30 } });

  test("reads a file as Neovim does: text, options, events, undo", async () => {
    await using a = await start();
    mkdirSync(a.path("texts"));
    for (const [name, text] of Object.entries(TEXTS)) {
      for (const isAgain of [false, true]) {
        const read = (isOurs: boolean) =>
          a.nvim.lua(READ, a.path(`texts/${name}`), btoa(text), isAgain, isOurs);
        const theirs = await read(false);
        expect([name, isAgain, await read(true)]).toEqual([name, isAgain, theirs]);
      }
    }
  });

  needs("FIFOs").each(["file", "FIFO"])(
    "loses no text when a copy of a %s has no room",
    async (what) => {
      await using a = await start();
      const paths = [a.file("a.txt", Buffer.from("caf\xe9\n", "latin1")), a.file("b.txt", "b\n")];
      await a.edit(paths[0] as string);
      writeFileSync(paths[0] as string, "th\xe9\n", "latin1");
      if (what === "FIFO") for (const path of paths) await a.nvim.lua(SWAP, path, "mkfifo");
      const lines = what === "FIFO" ? [["café"], []] : [["thé"], ["b"]];
      const states = lines.map((found) => [0, what === "FIFO" ? 1 : 0, found]);
      expect(await a.nvim.lua(WITHOUT_ROOM, ...paths)).toEqual(states);
    },
  );

  needs("symlinks").each(["mkfifo", "ln -s /dev/zero", "truncate -s 3G"])(
    "does not wait for a file that %s replaces while it is read",
    async (make) => {
      claims("FIFOs and endless files keep nothing waiting");
      await using a = await start();
      const swapped = (path: string) => a.nvim.lua<string>(SWAP, path, make);
      const line = `return vim.fn.getbufline(require("port").paths.buffer(...), 1)[1]`;
      const opened = await swapped(a.file("opened.txt", "opened\n"));
      await a.call("document_open", { path: opened, front: true, select_to_eol: false });
      const seen = await swapped(a.file("seen.txt", "seen\n"));
      await a.nvim.lua('require("port").background.load(...)', seen);
      // Neovim reads this file itself, since its encoding has changed.
      const path = a.file("reloaded.txt", "before\n");
      await a.edit(path);
      writeFileSync(path, "caf\xe9\n", "latin1");
      await swapped(path);
      // The second look finds the file.
      for (const _ of [1, 2]) await a.answer("document_reload", { path });
      const lines = await Promise.all([opened, seen, path].map((one) => a.nvim.lua(line, one)));
      expect(lines).toEqual(["opened", "seen", "café"]);
    },
  );
});
