--- Text for the screen, with codes in the place of what nobody would see: control characters, NUL too, and those
--- that turn the direction of text.
---@param text string
---@return string
return function(text)
  -- With a NUL it would be a Blob to a function of Vim's.
  return (vim.fn.strtrans((text:gsub("%z", "\n"))))
end
