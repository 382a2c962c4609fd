--- Messages by a notification plugin's `vim.notify`, as each of those plugins understands them.
local M = {}

---Shown in the title by most, so not again in the text.
local NAME = "claude-code.nvim"

---What was shown last of each topic, for the next message to replace.
---@type table<string, { text: string, record: any }>
local last = {}

---@return "nvim-notify"|"noice"|"snacks"|"mini.notify"|"other"
local function plugin()
  if type(vim.notify) == "table" then
    return vim.notify == package.loaded.notify and "nvim-notify" or "other"
  end
  local info = debug.getinfo(vim.notify, "Su")
  if info.isvararg and rawget(_G, "MiniNotify") then
    -- MiniNotify.make_notify() returns what vim.schedule_wrap() made.
    return "mini.notify"
  end
  return info.source:match("[/\\](noice)[/\\]")
    or info.source:match("[/\\](snacks)[/\\]")
    or "other"
end

---@return boolean
function M.is_mini()
  return plugin() == "mini.notify"
end

---These cut a line that is too long for their window; a remedy stands at the end.
---@param text string
---@return string
local function wrap(text)
  local width = math.max(30, math.floor(vim.o.columns * 0.4) - 4)
  local lines, line = {}, ""
  for word in text:gmatch("%S+") do
    if line ~= "" and vim.fn.strdisplaywidth(line .. " " .. word) > width then
      lines[#lines + 1], line = line, word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

---mini.notify has no replacing by its vim.notify.
---@param text string
local function remove_from_mini(text)
  local mini = rawget(_G, "MiniNotify")
  for id, shown in pairs(mini.get_all()) do
    if shown.msg == text and not shown.ts_remove then
      mini.remove(id)
    end
  end
end

---@param name string of a plugin
---@param topic? string
---@return table options
local function options_of(name, topic)
  local options = { title = NAME }
  if topic then
    options.id = "claude-code." .. topic -- snacks.notifier's
    local before = last[topic]
    if before and (name == "nvim-notify" or name == "noice") then
      options.replace = before.record
    end
    if name == "nvim-notify" then
      -- It refuses to replace what is gone. noice.nvim knows, by a handler of its own.
      options.on_close = function()
        last[topic] = nil
      end
    end
  end
  return options
end

---@param text string
---@param level integer vim.log.levels
---@param topic? string a message of the same topic is replaced, if the plugin can do that
function M.show(text, level, topic)
  local name = plugin()
  if name == "mini.notify" then
    text = NAME .. ": " .. text
    if topic and last[topic] then
      remove_from_mini(last[topic].text)
    end
  elseif name ~= "other" then
    text = wrap(text)
  end
  local record = vim.notify(text, level, options_of(name, topic))
  if topic then
    last[topic] = { text = text, record = type(record) == "table" and record or nil }
  end
end

return M
