---@return string of version 4 (RFC 9562): random, so that no one can guess it
return function()
  local bytes = { assert(vim.uv.random(16)):byte(1, 16) }
  bytes[7] = bytes[7] % 16 + 64
  bytes[9] = bytes[9] % 64 + 128
  local hex = ("%02x"):rep(16):format(unpack(bytes))
  return ("%s-%s-%s-%s-%s"):format(
    hex:sub(1, 8),
    hex:sub(9, 12),
    hex:sub(13, 16),
    hex:sub(17, 20),
    hex:sub(21)
  )
end
