-- Neovim's Lua is LuaJIT; `vim` is the one global it adds.
std = "luajit"
globals = { "vim" }
max_line_length = 120
-- Unused arguments named `_` or `_name` are meant.
ignore = { "212/_.*" }
