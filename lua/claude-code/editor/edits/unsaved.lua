--- Asks the user whether to save the files whose unsaved changes are in the way of an edit of Claude's.
local api = vim.api
local blocked = require("claude-code.editor.input.blocked")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")

local MOST_NAMES = 5

local M = {}

local is_asking = false
---The buffers that the user did not want to save, with their tick.
local declined = {} ---@type table<integer, integer>

---@param bufs integer[]
---@return integer[] those that have unsaved changes still
local function unsaved(bufs)
  return vim.tbl_filter(function(buf)
    return api.nvim_buf_is_loaded(buf) and vim.bo[buf].modified
  end, bufs)
end

---@param bufs integer[]
local function save(bufs)
  for _, buf in ipairs(unsaved(bufs)) do
    local _, failure =
      require("claude-code.editor.documents").save({ path = api.nvim_buf_get_name(buf) })
    if failure then
      notify.error(type(failure) == "table" and failure.message or failure --[[@as string]])
    end
  end
end

---@param bufs integer[]
---@param label string
---@return string
local function question(bufs, label)
  local names = vim.tbl_map(function(buf)
    return path.title(api.nvim_buf_get_name(buf))
  end, vim.list_slice(bufs, 1, MOST_NAMES))
  local more = #bufs > MOST_NAMES and (" and %d more"):format(#bufs - MOST_NAMES) or ""
  local text = "Unsaved changes are in the way of %s: %s%s. Save them?"
  return text:format(label, table.concat(names, ", "), more)
end

---@param bufs integer[]
---@param label string
local function ask(bufs, label)
  bufs = unsaved(bufs)
  if #bufs == 0 then
    is_asking = false
  elseif blocked.may_change() ~= "all" then
    blocked.retry(function()
      ask(bufs, label)
    end)
  else
    vim.ui.select({ "Save", "Not now" }, { prompt = question(bufs, label) }, function(_, index)
      is_asking = false
      if index == 1 then
        return save(bufs)
      end
      for _, buf in ipairs(unsaved(bufs)) do
        declined[buf] = api.nvim_buf_get_changedtick(buf)
      end
    end)
  end
end

---Asks as soon as the user does not type, once for the same unsaved changes.
---@param params { edits: { path: string }[], label: string }
---@return true
function M.ask(params)
  local bufs = {}
  for _, edit in ipairs(params.edits) do
    bufs[#bufs + 1] = path.loaded_buffer(edit.path)
  end
  local is_new = vim.iter(unsaved(bufs)):any(function(buf)
    return declined[buf] ~= api.nvim_buf_get_changedtick(buf)
  end)
  if is_new and not is_asking then
    is_asking = true
    -- The executable gets its answer first: the question may hold Neovim.
    vim.schedule(function()
      ask(bufs, params.label)
    end)
  end
  return true
end

return M
