--- The review for other plugins that compare texts: what stands in a file without Claude's changes that
--- you have not reviewed.
local api = vim.api
local buffers = require("claude-code.editor.review.buffer")
local client = require("claude-code.editor.review.client")
local path = require("claude-code.editor.documents.path")
local text = require("claude-code.editor.review.buffer_bytes")

local M = {}

local follower ---@type fun(ref: string)?

---@param callback fun(ref: string)
local function request_ref(callback)
  client.request("ref", {}, function(value, problem)
    if value then
      callback(value.ref)
    else
      local notify = require("claude-code.messages.notify")
      notify.warn("git plugins cannot compare with the review: " .. problem, "review.ref")
    end
  end)
end

local function follow()
  if follower then
    request_ref(follower)
  end
end

---Makes a git ref whose files are those of the work tree's commit without Claude's changes that wait
---for a review.
---@param callback? fun(ref: string) gets its name; without one nobody follows any more
---@param opts? { follow?: boolean } follow: the ref is made, and `callback` called, again with each
--- change; one callback follows at a time
function M.base_ref(callback, opts)
  if not callback or opts and opts.follow then
    follower = callback
    client.on_summary(follow)
  end
  if callback then
    request_ref(callback)
  end
end

---@param buf integer
---@param callback fun(base: string?) lines, each with "\n"; nil: nothing waits for a review
local function request_base(buf, callback)
  local name = path.of_buffer(buf)
  if not name then
    return callback(nil)
  end
  local unsaved = vim.bo[buf].modified and text.of(buf) or nil
  client.request("base", { path = path.real(name), text = unsaved }, function(value)
    if not api.nvim_buf_is_loaded(buf) then
      return
    elseif not value then
      callback(nil)
    else
      local rows = vim.split(value.text, "\n", { plain = true })
      if rows[#rows] == "" and #rows > 1 then
        rows[#rows] = nil
      end
      callback(table.concat(text.reader(buf)(rows, 1), "\n") .. "\n")
    end
  end)
end

---Something was recorded or decided: mini.diff takes this source, or the next one, where it must.
local function update()
  local mini = require("mini.diff")
  for _, shown in ipairs(buffers.all()) do
    local source, buf = shown.source, shown.buf
    if source then
      request_base(buf, function(base)
        if shown.source ~= source then
          return -- attached again, or not any more
        elseif base and source.compares then
          mini.set_ref_text(buf, base)
        elseif base or source.compares then
          mini.disable(buf)
          mini.enable(buf)
        end
      end)
    end
  end
end

---@param buf integer
local function attach(buf)
  local shown = buffers.attach(buf)
  local source = { compares = false }
  shown.source = source
  request_base(buf, function(base)
    source.compares = base ~= nil
    local mini = require("mini.diff")
    if shown.source ~= source then
      return
    elseif base then
      mini.set_ref_text(buf, base)
    else
      mini.fail_attach(buf)
    end
  end)
end

---@param buf integer
local function detach(buf)
  local shown = buffers.get(buf)
  if shown then
    shown.source = nil
  end
end

---@param buf integer
---@param hunks { buf_start: integer, buf_count: integer }[] all of a region
local function keep(buf, hunks)
  local first, last = math.huge, 1
  for _, hunk in ipairs(hunks) do
    first = math.min(first, math.max(hunk.buf_start, 1))
    last = math.max(last, hunk.buf_start + math.max(hunk.buf_count, 1) - 1)
  end
  local name = path.real(path.of_buffer(buf) --[[@as string]])
  local file = { path = name, text = text.of(buf), range = { first, last } }
  client.request("keep", { files = { file } }, function(value, problem)
    problem = problem or value.files[1] and value.files[1].problem
    if problem then
      require("claude-code.messages.notify").warn(problem, "review")
    end
    update()
  end)
end

---A source for mini.diff, to stand before its other ones: in files with changes of Claude's that wait
---for a review it compares with the text without them. Applying hunks (`gh`) keeps them, resetting
---(`gH`) undoes them in the buffer.
---@return table source see |MiniDiff-source-specification|
function M.minidiff_source()
  client.on_summary(update)
  return {
    name = "claude-code",
    attach = attach,
    detach = detach,
    apply_hunks = keep,
  }
end

return M
