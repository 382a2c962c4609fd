--- One window in the file's place with the proposal; what it deletes shows as virtual lines.
local api = vim.api
local inline_marks = require("claude-code.editor.diff.inline_marks")
local windows = require("claude-code.editor.windows")

---What we change in the window.
local OPTIONS = { "conceallevel", "foldenable", "signcolumn", "winbar" }

---@class claude-code.Inline : claude-code.Layout
---@field private proposal claude-code.Proposal
---@field private place claude-code.DiffPlace
---@field private marks claude-code.InlineMarks
---@field private borrowed? claude-code.BorrowedWindow what `win` showed; nil if the window is ours
---@field private spare? integer takes the place of `win`, which the user closes just now
---@field private was_inside? boolean the user was in `win` when it closed
---@field private group? integer autocommands, until the layout closes: `:wq` accepts first, quits then
local Inline = {}
Inline.__index = Inline

local M = {}

---@param proposal claude-code.Proposal
---@param place claude-code.DiffPlace
---@return claude-code.Inline
function M.new(proposal, place)
  local marks = inline_marks.new(proposal)
  return setmetatable({ proposal = proposal, place = place, marks = marks, windows = {} }, Inline)
end

function Inline:open()
  self.win, self.borrowed = self.place:take(self.proposal.new_buf --[[@as integer]])
  self.windows = { self.win }
  vim.wo[self.win][0].winfixbuf = false
  vim.wo[self.win][0].foldenable = false
  -- A link's address, for one, is part of what is written.
  vim.wo[self.win][0].conceallevel = 0
  -- Always there, so that all begins in the same column, with or without signs.
  vim.wo[self.win][0].signcolumn = "yes:1"
  -- Here already: it takes a row of those in which the hunk has to fit.
  vim.wo[self.win][0].winbar = " "
  api.nvim_win_set_cursor(self.win, { self.marks:first_line(), 0 })
  self.marks:show(self.win)
  self:reveal(self.proposal:hunks().list[1])
  self:watch()
end

function Inline.even_out() end

function Inline:refresh()
  self.marks:show(self.win)
end

---@param hunk? claude-code.Hunk
function Inline:reveal(hunk)
  self.marks:reveal(self.win, hunk)
end

---@return boolean
function Inline:is_intact()
  return self.win ~= nil
    and api.nvim_win_is_valid(self.win)
    and api.nvim_win_get_buf(self.win) == self.proposal.new_buf
end

---The user's own window must not go with the diff (nor Neovim, if it is the last): before it closes,
---another one takes its place.
---@private
function Inline:open_spare()
  if not self.borrowed or self.spare or not windows.reload(self.borrowed) then
    return
  end
  self.was_inside = api.nvim_get_current_win() == self.win
  pcall(windows.noautocmd, function()
    local height = math.max(1, math.floor(api.nvim_win_get_height(self.win) / 2))
    local split = { win = self.win, split = "below", height = height }
    self.spare = api.nvim_open_win(self.borrowed.buf, false, split)
  end)
end

---@private
function Inline:close_spare()
  if self.spare and api.nvim_win_is_valid(self.spare) then
    windows.close(self.spare)
  end
  self.spare = nil
end

---@private
function Inline:watch()
  self.group = api.nvim_create_augroup("claude-code.diff.inline", { clear = true })
  api.nvim_create_autocmd("QuitPre", {
    group = self.group,
    buffer = self.proposal.new_buf,
    callback = function()
      self:open_spare()
      -- The :quit may have failed.
      vim.schedule(function()
        if self.group and self.spare and self:is_intact() then
          pcall(windows.noautocmd, function()
            self:close_spare()
          end)
        end
      end)
    end,
  })
  api.nvim_create_autocmd("WinClosed", {
    group = self.group,
    pattern = tostring(self.win),
    callback = function()
      -- With `:only` in another window it goes with the others.
      if api.nvim_get_current_win() == self.win or windows.is_last(self.win) then
        self:open_spare()
      end
    end,
  })
end

---@return integer? gone
---@return integer? instead
function Inline:close()
  local borrowed = self.borrowed
  local gone, instead ---@type integer?, integer?
  if self.group then
    pcall(api.nvim_del_augroup_by_id, self.group)
    self.group = nil
  end
  local is_open = self.win ~= nil and api.nvim_win_is_valid(self.win)
  if is_open then
    self:close_spare()
  end
  if self:is_intact() then
    if borrowed then
      windows.give_back(borrowed, self.win)
    else
      windows.close(self.win)
    end
  elseif is_open then
    windows.release(self.win, borrowed, OPTIONS)
  elseif borrowed and self.spare and api.nvim_win_is_valid(self.spare) then
    windows.give_back(borrowed, self.spare)
    if self.was_inside then
      api.nvim_set_current_win(self.spare)
    end
    gone, instead = self.win, self.spare
  end
  windows.restore_bufhidden(borrowed)
  return gone, instead
end

return M
