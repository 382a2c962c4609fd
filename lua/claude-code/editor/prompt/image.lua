--- An image on the clipboard as a file that Claude reads by its path.
local api = vim.api
local notify = require("claude-code.messages.notify")
local programs = require("claude-code.programs")

local M = {}

local TIMEOUT_MS = 5000
local MOST_BYTES = 30 * 1024 * 1024

--- Programs that print the image, or write it to %s, in the order in which they are tried.
---@type { env?: string, words: string[] }[]
local WAYS = {
  { env = "WAYLAND_DISPLAY", words = { "wl-paste", "--no-newline", "--type", "image/png" } },
  { env = "DISPLAY", words = { "xclip", "-selection", "clipboard", "-t", "image/png", "-o" } },
  { words = { "pngpaste", "%s" } },
  {
    words = {
      "powershell.exe",
      "-NoProfile",
      "-STA",
      "-Command",
      "Add-Type -AssemblyName System.Windows.Forms; "
        .. "[Windows.Forms.Clipboard]::GetImage().Save('%s')",
    },
  },
}

---@return string path of a file that nobody else reads, and that goes with Neovim
local function new_path()
  return vim.fn.tempname() .. ".png"
end

---@param path string
---@return string[]? words
local function command(path)
  for _, way in ipairs(WAYS) do
    local program = programs.on_path(way.words[1])
    if program and (not way.env or (vim.env[way.env] or "") ~= "") then
      local words = vim.tbl_map(function(word)
        return (word:gsub("%%s", (path:gsub("%%", "%%%%"))))
      end, way.words)
      words[1] = program
      return words
    end
  end
end

---@param path string
local function put(path)
  local name = api.nvim_buf_get_name(0)
  local is_prompt = vim.startswith(name, require("claude-code.editor.prompt").NAME)
    or vim.fs.basename(name):match("^claude%-prompt%-") ~= nil
  if is_prompt then
    api.nvim_put({ path .. " " }, "c", true, true)
  else
    require("claude-code.context.send").text(path .. " ", false)
  end
end

--- What the program printed goes into the file, unless it has written that itself.
---@param path string
---@param image string
local function save(path, image)
  if image ~= "" and #image <= MOST_BYTES then
    local fd = vim.uv.fs_open(path, "wx", tonumber("600", 8))
    if fd then
      vim.uv.fs_write(fd, image)
      vim.uv.fs_close(fd)
    end
  end
  local stat = vim.uv.fs_stat(path)
  return stat ~= nil and stat.size > 0
end

--- Puts the image's path into the prompt.
function M.paste()
  local path = new_path()
  local words = command(path)
  if not words then
    return notify.warn(
      "nothing reads images from the clipboard: install wl-paste, xclip or pngpaste"
    )
  end
  local function done(result)
    if result.code ~= 0 or not save(path, result.stdout or "") then
      return notify.warn("there is no image on the clipboard")
    end
    put(path)
  end
  vim.system(words, { timeout = TIMEOUT_MS }, vim.schedule_wrap(done))
end

return M
