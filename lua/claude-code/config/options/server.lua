--- Options of the server and of its executable.
local t = require("claude-code.config.options.schema")
local option = t.option

---@type claude-code.Type
local download_url = {
  expected = "an https:// URL (http:// for 127.0.0.1 alone)",
  lua = "string",
  accepts = function(value)
    local text = type(value) == "string" and value or ""
    return (text:find("^https://[^/]") or text:find("^http://127%.0%.0%.1[:/]")) ~= nil
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
  option("auto_start", t.any_of(t.one_of("auto"), t.boolean), "auto", {
    'Whether the server starts with Neovim, so that the Claude CLI can connect. "auto": unless another program runs',
    "Neovim as its editor (git, crontab, a pager, …), or the workspace would be the home folder or one above it.",
  }),
  option("port_range", port_range, { 10000, 65535 }, {
    "The server picks a random port from this range, which includes both ends.",
  }),
  option("log.level", t.one_of("debug", "info", "warn", "error", "off"), "info", {
    "The lowest severity of messages in the log (:Claude log).",
  }),
  option("binary.path", t.string, nil, {
    "The path of the executable, which replaces the search for it. `~` and `$VAR` are expanded.",
  }),
  option("binary.download", t.boolean, true, {
    "Whether a missing executable is downloaded when it is first needed. Without a UI only :Claude install",
    "downloads it.",
    refused = false,
  }),
  option("binary.mirror", download_url, nil, {
    "The address to download from instead of the project's releases: the archive is MIRROR/vVERSION/FILE there, and",
    "must match the checksum in the plugin.",
    refused = false,
  }),
}
