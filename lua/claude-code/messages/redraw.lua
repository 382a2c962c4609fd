--- Draws the screen now. A syntax pattern that takes too much memory for a line (E363) would else be an
--- error of the code that draws, and a stack trace for which Neovim asks for Enter.
---@return boolean drawn
return function()
  return (pcall(vim.cmd.redraw))
end
