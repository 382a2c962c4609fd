--- Options of the server and of its executable.
local t = require("claude-code.config.options.schema")

---@type claude-code.Type
local download_url = {
  expected = "an https:// URL (http:// for 127.0.0.1 alone)",
  lua = "string",
  accepts = function(value)
    local is_text = type(value) == "string"
    return is_text
      and (value:match("^https://[^/]") or value:match("^http://127%.0%.0%.1[:/]")) ~= nil
  end,
}

---@type claude-code.Type
local port_range = {
  expected = "two ports { lowest, highest } from 1024 to 65535",
  lua = "{ [1]: integer, [2]: integer }",
  accepts = function(value)
    local ports = t.list_of(t.integer(1024, 65535))
    return ports.accepts(value) and #value == 2 and value[1] <= value[2]
  end,
}

---@type claude-code.Option[]
return {
  {
    key = "auto_start",
    type = t.any_of(t.one_of("auto"), t.boolean),
    default = "auto",
    description = "Whether the server starts with Neovim, so that the Claude CLI can connect. "
      .. '"auto": it starts, unless another program runs this Neovim as its editor (git, crontab, a '
      .. "pager, …) or the workspace would be the home folder or one above it.",
  },
  {
    key = "port_range",
    type = port_range,
    default = { 10000, 65535 },
    description = "The server picks a random port from this range, both ends included.",
  },
  {
    key = "log.level",
    type = t.one_of("debug", "info", "warn", "error", "off"),
    default = "info",
    description = "The least severe message that is written to the log (:Claude log).",
  },
  {
    key = "binary.path",
    type = t.string,
    description = "The path of the executable. Nothing else is searched then. `~` and `$VAR` are "
      .. "expanded.",
  },
  {
    key = "binary.download",
    type = t.boolean,
    default = true,
    refused = false,
    description = "Whether a missing executable is downloaded when it is first needed. "
      .. "Without a UI only :Claude install downloads it.",
  },
  {
    key = "binary.mirror",
    type = download_url,
    description = "The address to download from, in place of the project's releases: the archive is "
      .. "MIRROR/vVERSION/FILE there. It must match the checksum in the plugin, as any other.",
    refused = false,
  },
}
