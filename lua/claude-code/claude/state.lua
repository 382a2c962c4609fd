--- What a running CLI says of itself.
local M = {}

---Its file is some hundred bytes.
local MOST_BYTES = 65536

---Never waits, as for a FIFO.
local FLAGS = vim.uv.constants.O_RDONLY + (vim.uv.constants.O_NONBLOCK or 0)

---Whether the CLI asks its user something, so that Enter would be an answer. It keeps its state in
---`sessions/PID.json` (measured with 2.1.330); one that cannot be read asks nothing.
---@param pid integer
---@return boolean
function M.is_asking(pid)
  local folder = require("claude-code.claude.config_dir").path()
  local file = vim.uv.fs_open(("%s/sessions/%d.json"):format(folder, pid), FLAGS, 0)
  local text = file and vim.uv.fs_read(file, MOST_BYTES, 0)
  if file then
    vim.uv.fs_close(file)
  end
  local ok, state = pcall(vim.json.decode, text or "")
  return ok and type(state) == "table" and state.status == "waiting"
end

return M
