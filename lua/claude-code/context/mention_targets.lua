--- What a `:Claude mention` means: files, folders and lines.
local api, fn = vim.api, vim.fn
local path = require("claude-code.editor.documents.path")

---@class claude-code.MentionTarget
---@field path string absolute, symbolic links in its folder resolved: the CLI compares real folders
---@field line_start? integer 0-based, with line_end or not at all
---@field line_end? integer 0-based, included
---@field label? string how messages name it, where that is no file

---What users and explorers name: a path, or lines of it (1-based, `last` included; one line without it).
---@alias claude-code.MentionItem string|{ path: string, first?: integer, last?: integer }

local M = {}

local VISUAL = "^[vV\22sS\19]"

---@param args claude-code.CommandArgs
---@return integer? first 1-based; nil if no lines were chosen
---@return integer? last
local function chosen_lines(args)
  if args.range > 0 then
    return args.line1, args.line2
  elseif api.nvim_get_mode().mode:find(VISUAL) then
    -- A mapping with <Cmd> leaves visual mode on, and gives no range.
    local a, b = fn.line("v"), fn.line(".")
    return math.min(a, b), math.max(a, b)
  end
end

local function with_real_folder(name)
  local full = path.normal(name)
  local parent, base = full:match("^(.*)/([^/]+)$")
  return parent and vim.fs.joinpath(path.real(parent == "" and "/" or parent), base) or full
end

---@param name string absolute
---@return string? problem a sentence
local function problem_with(name)
  local privacy = require("claude-code.editor.privacy")
  if privacy.is_private(name) then
    return privacy.refusal(name)
  end
  local stat, short = vim.uv.fs_stat(name), fn.fnamemodify(name, ":~:.")
  if not stat then
    return short .. " is not on disk; save it first, because Claude reads the file there"
  elseif stat.type ~= "file" and stat.type ~= "directory" then
    return ("%s is not a regular file (%s)"):format(short, stat.type)
  elseif vim.tbl_contains(require("claude-code.lib.workspace").folders(), name) then
    return short .. " is the workspace itself, which Claude already knows"
  end
end

---@param item { path: string, first?: integer, last?: integer }
---@return integer? line_start 0-based
---@return integer? line_end
---@return string? problem
local function lines_of(item)
  local first, last = item.first, item.last or item.first
  if not first and not last then
    return nil
  elseif not first or first < 1 or last < first then
    local text = "%s: lines %s to %s cannot be mentioned; count them from 1, the first one first"
    return nil, nil, text:format(item.path, tostring(first), tostring(last))
  end
  return first - 1, last - 1
end

---@param items claude-code.MentionItem[]
---@return claude-code.MentionTarget[] targets in the order of the items
---@return string[] problems a sentence for each item that cannot be mentioned
function M.of_items(items)
  local targets, problems = {}, {}
  for _, item in ipairs(items) do
    item = type(item) == "table" and item or { path = item }
    local name = with_real_folder(item.path)
    local line_start, line_end, problem = lines_of(item)
    problem = problem or problem_with(name)
    if problem then
      problems[#problems + 1] = problem
    else
      targets[#targets + 1] = { path = name, line_start = line_start, line_end = line_end }
    end
  end
  return targets, problems
end

---@param paths claude-code.ExplorerPaths
---@param first? integer
---@param last? integer
---@return claude-code.MentionTarget[]
---@return string[] problems
local function from_explorer(paths, buf, first, last)
  local here = api.nvim_win_get_cursor(0)[1]
  local ok, items = pcall(paths, buf, first or here, last or here, first ~= nil)
  if not ok then
    return {}, { ("the %s list cannot be read: %s"):format(vim.bo[buf].filetype, items) }
  elseif #items == 0 then
    return {}, { "there is no file on this line; go to one that names a file" }
  end
  return M.of_items(items)
end

---@param first? integer 1-based
---@param last? integer
---@return claude-code.MentionTarget[]
---@return string[] problems
local function from_buffer(buf, first, last)
  local name = path.of_buffer(buf)
  if not name then
    return {}, { "this buffer is not a file; go to one, or name one: :Claude mention PATH" }
  end
  return M.of_items({ { path = name, first = first, last = last } })
end

---The words of the command. Vim does not split at quotes; a name may begin with one, too.
---@param args claude-code.CommandArgs
local function words(args)
  local is_quoted = vim.iter(args.fargs):any(function(word)
    return word:find("^[\"']") ~= nil and not vim.uv.fs_stat(word)
  end)
  return is_quoted and require("claude-code.terminal.shell_words").split(args.args) or args.fargs
end

---Expands `%` and the like, as Neovim does in its own commands, then wildcards, `~` and the backslashes of
---completion.
---@param word string
local function expanded(word)
  if vim.uv.fs_stat(word) then
    return { word }
  end
  local name = word:find("`", 1, true) and word or fn.expandcmd(word)
  if vim.uv.fs_stat(name) then
    return { name }
  elseif name:find("`", 1, true) then
    -- glob() would run what is between backticks.
    return { (name:gsub("\\(%p)", "%1")) }
  end
  local found = fn.glob(name, true, true)
  return #found > 0 and found or { name }
end

---What words name: files and folders; or one file, its first line and perhaps its last one, unless a number is
---a file's name.
---@param list string[]
---@return claude-code.MentionTarget[]
---@return string[] problems
local function from_words(list)
  local first, last = tonumber(list[2]), tonumber(list[3])
  local has_lines = #list == (last and 3 or 2) and first and not vim.uv.fs_stat(list[2])
  if not has_lines then
    return M.of_items(vim.iter(list):map(expanded):flatten():totable())
  end
  local items = vim.tbl_map(function(name)
    return { path = name, first = first, last = last }
  end, expanded(list[1]))
  return M.of_items(items)
end

---@param args claude-code.CommandArgs
---@return claude-code.MentionTarget[] targets in the order in which they were named
---@return string[] problems a sentence for each that cannot be mentioned
function M.of_command(args)
  if #args.fargs > 0 then
    if args.range > 0 then
      return {}, { "a range means lines of the current file; leave out the range, or the paths" }
    end
    return from_words(words(args))
  end
  local buf = api.nvim_get_current_buf()
  local first, last = chosen_lines(args)
  local paths = require("claude-code.explorers").of_buffer(buf)
  if paths then
    return from_explorer(paths, buf, first, last)
  end
  return from_buffer(buf, first, last)
end

return M
