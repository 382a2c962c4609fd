import { describe, expect, test } from "bun:test";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { claims } from "../../support/claims";
import { NEOVIMS } from "../../support/neovim";
import { Attached } from "../attached";

/** In the moment when Neovim is about to read the file, something else takes its place. */
const SWAP = `
  local name, other = ...
  vim.api.nvim_create_autocmd("BufReadPre", { once = true, callback = function()
    vim.uv.fs_rename(name, name .. ".away")
    vim.uv.fs_rename(other, name)
  end })`;

/** Each text is read by Neovim alone, and then by us, for the first time and again; only what differs comes back. */
const COMPARE = `
  local texts, folder = ...
  local supply = require("port").supply
  vim.o.undofile, vim.o.undodir = true, folder
  local events = {}
  local all = { "BufReadPre", "BufReadPost", "FileType", "Syntax", "FileReadPre", "BufAdd", "BufEnter", "BufModifiedSet" }
  vim.api.nvim_create_autocmd(all, { callback = function(args)
    table.insert(events, args.event .. " " .. vim.fs.basename(args.match))
  end })
  local function write(name, base64, suffix)
    local file = assert(io.open(name, "wb"))
    file:write(vim.base64.decode(base64) .. suffix)
    file:close()
  end
  local function seen(buf)
    return vim.api.nvim_buf_call(buf, function()
      local found = { messages = vim.fn.execute("messages"), events = vim.list_slice(events), alternate = vim.fn.bufname("#") }
      for _, name in ipairs({ "binary", "bomb", "endofline", "fileencoding", "fileformat", "filetype", "modified",
        "readonly", "tabstop", "undolevels", "buflisted" }) do
        found[name] = vim.bo[buf][name]
      end
      found.rows = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
      found.marks = { vim.fn.getpos("'["), vim.fn.getpos("']") }
      found.bufs = #vim.api.nvim_list_bufs()
      vim.cmd("silent! undo")
      found.undone = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
      return found
    end)
  end
  local differ = {}
  for what, base64 in pairs(texts) do
    for _, again in ipairs({ false, true }) do
      local found = {}
      for _, is_ours in ipairs({ false, true }) do
        local name = folder .. "/" .. what
        write(name, base64, "")
        vim.uv.fs_chmod(name, what == "readonly" and 292 or 420)
        if what == "undone" then
          vim.cmd.edit(name)
          vim.cmd("silent 1delete | silent write | bwipeout")
        end
        local buf = vim.fn.bufadd(name)
        if again then
          vim.fn.bufload(buf)
          write(name, base64, "more\\n")
        end
        vim.cmd.messages("clear")
        events = {}
        local function read()
          if again then
            vim.api.nvim_buf_call(buf, function() vim.cmd("silent edit!") end)
          else
            vim.fn.bufload(buf)
          end
        end
        if not is_ours then
          read()
        elseif again then
          supply.read(buf, read)
        else
          supply.with_events(function() supply.read(buf, read) end)
        end
        table.insert(found, seen(buf))
        vim.cmd("bwipeout! " .. buf)
        vim.uv.fs_unlink(name)
        vim.uv.fs_unlink(vim.fn.undofile(name))
      end
      for key, value in pairs(found[1]) do
        if not vim.deep_equal(value, found[2][key]) then
          table.insert(differ, { what, again, key, value, found[2][key] })
        end
      end
    end
  end
  return differ`;

const TEXTS = {
  ...{ plain: "a\nb\n", "no end": "a\nb", empty: "", newline: "\n", two: "\n\n", mac: "a\rb\r" },
  ...{ crlf: "a\r\nb\r\n", mixed: "a\r\nb\n", "crlf, no end": "a\r\nb", nul: "a\0b\n" },
  ...{ bom: "\xef\xbb\xbfx\n", utf16: "\xff\xfea\0\n\0", latin: "caf\xe9\n", utf8: "\xc3\xa9\n" },
  ...{ modeline: "x\n# vim: ts=3 ft=python\n", "x.lua": "return 1\n", readonly: "x\n" },
  ...{ undone: "1\n2\n", long: "line\n".repeat(12_000) },
};

describe.each(NEOVIMS)("$name", (version) => {
  const start = () => Attached.attached({ version, ui: { width: 100, height: 30 } });

  test("a file is read as Neovim reads it: text, options, events, undo", async () => {
    await using a = await start();
    const texts = Object.entries(TEXTS).map(([name, text]) => [name, btoa(text)]);
    mkdirSync(a.path("texts"));
    const differ = await a.nvim.lua(COMPARE, Object.fromEntries(texts), a.path("texts"));
    expect(differ).toEqual([]);
  });

  test.each(["FIFO", "link to /dev/zero", "3 GB"])(
    "a %s that takes a file's place while it is read keeps nothing waiting",
    async (what) => {
      claims("FIFOs and endless files keep nothing waiting");
      await using a = await start();
      const put = (path: string) => {
        if (what === "3 GB") {
          writeFileSync(path, "");
          truncateSync(path, 3 * 2 ** 30);
        } else Bun.spawnSync(what === "FIFO" ? ["mkfifo", path] : ["ln", "-s", "/dev/zero", path]);
      };
      const swap = async (path: string) => {
        put(`${path}.other`);
        await a.nvim.lua(SWAP, path, `${path}.other`);
      };
      const text = async (path: string) =>
        a.nvim.lua(
          `local buf = require("port").paths.buffer(...)
           return vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1]`,
          path,
        );
      const opened = a.file("opened.txt", "opened\n");
      await swap(opened);
      await a.call("document_open", { path: opened, front: true, select_to_eol: false });
      expect(await text(opened)).toBe("opened");
      const seen = a.file("seen.txt", "seen\n");
      await swap(seen);
      await a.nvim.lua('require("port").background.load(...)', seen);
      expect(await text(seen)).toBe("seen");
      // Neovim reads this one again by itself: it is in another encoding now.
      const reloaded = a.file("reloaded.txt", "before\n");
      await a.edit(reloaded);
      writeFileSync(reloaded, "caf\xe9\n", "latin1");
      await swap(reloaded);
      await a.call("document_reload", { path: reloaded });
      expect(await text(reloaded)).toBe("café");
      // The next look finds it there.
      await a.answer("document_reload", { path: reloaded });
      expect(await text(reloaded)).toBe("café");
      expect(await a.nvim.request("nvim_get_mode", [])).toMatchObject({ blocking: false });
    },
  );
});
