--- Checks an archive against the size and the checksum that this version of the plugin pins.
---@param release claude-code.Release
---@param archive string
---@param original? string the path that a message names, where the archive is a copy
---@return boolean? verified
---@return string? message
return function(release, archive, original)
  local stat = vim.uv.fs_stat(archive)
  if not stat or stat.type ~= "file" then
    local text = stat and "%s is not a file" or "the archive %s does not exist"
    return nil, text:format(archive)
  end
  local sum, message = require("claude-code.install.checksum").of(archive)
  if not sum then
    return nil, message
  elseif sum == release.sha256 and stat.size == release.size then
    return true
  end
  archive = original or archive
  local other = require("claude-code.install.release").target_with(sum)
  if other then
    local text = "%s is for %s; this machine needs %s (%s)"
    return nil, text:format(archive, other, release.target, release.file)
  end
  local text = "%s is not the archive that belongs to version %s of the plugin and was not used; "
    .. "download %s again (expected %d bytes, SHA-256 %s; found %d bytes, SHA-256 %s)"
  local is, should = { stat.size, sum }, { release.size, release.sha256 }
  return nil, text:format(archive, release.version, release.url, should[1], should[2], is[1], is[2])
end
