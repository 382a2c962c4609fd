--- Without a terminal: only the server runs, and the user starts the CLI.
---@type claude-code.TerminalProvider
return {
  open = function()
    return false,
      'terminal.provider is "none"; start `claude` yourself, in a terminal of this Neovim, or in '
        .. "this folder with /ide"
  end,
  close = function() end,
  send = function()
    return false
  end,
  is_open = function()
    return false
  end,
}
