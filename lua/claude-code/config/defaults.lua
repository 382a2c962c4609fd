--- What setup() needs at every start, so that it loads no option that the user does not give. Made from
--- options/ by `bun run docs`; do not edit.
-- luacheck: no max line length
-- stylua: ignore
return {
  auto_start = "auto",
  binary = {
    download = true
  },
  diagnostics = {
    after_edit = "auto",
    block = true,
    busy_deadline_ms = 30000,
    deadline_ms = 2000,
    ignore_files = {},
    ignore_sources = {},
    only_new = false,
    retries = 1,
    severity = "warning"
  },
  diff = {
    focus = true,
    keys = {
      accept = { "<CR>", "ZZ" },
      accept_hunk = "ga",
      drop_hunk = "gr",
      merge = "gm",
      next_diff = "]f",
      next_hunk = "]c",
      previous_diff = "[f",
      previous_hunk = "[c",
      reject = { "q", "ZQ" },
      reject_with_reason = "Q"
    },
    layout = "vertical",
    quiet_ms = 400
  },
  execute_code = {
    enabled = false,
    languages = {
      python = { "python3", "-" }
    }
  },
  keymaps = false,
  language_tools = {
    code_action = true,
    rename = true
  },
  log = {
    level = "info"
  },
  mcp = {
    auto_install = false,
    in_terminal = true
  },
  mention = {
    wait_seconds = 60
  },
  notify = {
    by = "auto",
    on = { "blocked", "error" }
  },
  permissions = {
    answer = false
  },
  port_range = { 10000, 65535 },
  privacy = {
    defaults = true,
    patterns = {}
  },
  review = {
    keys = {
      comment = "gC",
      keep = "ga",
      next_file = "]f",
      next_hunk = "]c",
      previous_file = "[f",
      previous_hunk = "[c",
      undo = "gr"
    },
    message = true,
    signs = "always",
    undo_while_working = "queue"
  },
  selection = {
    debounce_ms = 300,
    enabled = true
  },
  send = {
    focus = false,
    submit = true
  },
  terminal = {
    args = {},
    command = "claude",
    env = {},
    keep = false,
    keys = {
      leave = false,
      toggle = false
    },
    permission_mode = "default",
    position = "auto",
    provider = "native",
    winbar = true
  }
}
