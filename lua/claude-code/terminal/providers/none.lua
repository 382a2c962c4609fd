--- No terminal: only the server runs, and the user starts the CLI.
---@type claude-code.TerminalProvider
return {
  open = function()
    return nil,
      'terminal.provider is "none"; start `claude` yourself in a terminal of this Neovim, or elsewhere '
        .. "in this folder, with /ide"
  end,
}
