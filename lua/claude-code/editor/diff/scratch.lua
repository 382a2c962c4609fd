--- The scratch buffers of a proposal: one for the file on disk, one for the proposed text.
local api = vim.api

---In bytes of a line; what is further to the right has no colours by 'syntax'. Neovim looks for patterns in
---all that is left of it, in each line on screen: in 3,000 bytes, as by default, for up to 700 ms.
local COLOURED_PART = 200

---Of a buffer Neovim itself looks at as many first lines, and the last one, to find its filetype; of
---a text it would look at all.
local DETECTED_LINES = 100
---Of each.
local DETECTED_BYTES = 1000

---What an edit of the proposal needs from the file's own buffer, as no ftplugin runs.
local EDITING_OPTIONS = {
  "comments",
  "commentstring",
  "expandtab",
  "iskeyword",
  "shiftwidth",
  "softtabstop",
  "tabstop",
  "textwidth",
}

local M = {}

---@param name string
---@param lines string[]
---@param file string the path whose text this is, by which it is private or not
---@return integer buf
function M.create(name, lines, file)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].modifiable = true
  M.fill(buf, lines)
  vim.bo[buf].undofile = false
  vim.bo[buf].synmaxcol = COLOURED_PART
  vim.bo[buf].bufhidden = "hide"
  pcall(api.nvim_buf_set_name, buf, name)
  vim.b[buf].claude_code_file = file
  return buf
end

---Replaces the whole text; undo does not go behind it.
---@param buf integer
---@param lines string[]
function M.fill(buf, lines)
  local modifiable = vim.bo[buf].modifiable
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = modifiable
  vim.bo[buf].undolevels = vim.go.undolevels
  vim.bo[buf].modified = false
end

---The next edit can be undone by itself.
---@param buf integer
function M.close_undo_block(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

---By a buffer: 0.10 does not look at the option `contents` for all file types, such as TypeScript.
---@param path string
---@param lines string[]
---@return string filetype "" if unknown
function M.filetype_of(path, lines)
  local contents = vim.list_slice(lines, 1, DETECTED_LINES)
  contents[#contents + 1] = #lines > DETECTED_LINES and lines[#lines] or nil
  contents = vim.tbl_map(function(line)
    return line:sub(1, DETECTED_BYTES)
  end, contents)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, false, contents)
  -- Neovim's patterns take 30 ms on a path of 4,096 bytes.
  local name = #path > 512 and vim.fs.basename(path) or path
  local ok, filetype = pcall(vim.filetype.match, { buf = buf, filename = name })
  api.nvim_buf_delete(buf, { force = true })
  return ok and filetype or ""
end

---@param buf integer
---@param like integer the file's own buffer
function M.copy_editing_options(buf, like)
  for _, option in ipairs(EDITING_OPTIONS) do
    vim.bo[buf][option] = vim.bo[like][option]
  end
end

return M
