import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../support/eventually";
import { NEOVIMS, TestNeovim } from "../support/neovim";

/** What the user wrote, and what is said about it. */
const PROBLEMS: [options: string, message: string][] = [
  [`{ autostart = true }`, "autostart: unknown option; did you mean auto_start?"],
  [`{ debounce_ms = 1 }`, "debounce_ms: unknown option; did you mean selection.debounce_ms?"],
  [`{ binary = { pth = "x" } }`, "binary.pth: unknown option; did you mean binary.path?"],
  [
    `{ selection = { debounce = 1 } }`,
    "selection.debounce: unknown option; did you mean selection.debounce_ms?",
  ],
  [`{ terminal = { mode = "plan" } }`, "terminal.mode: unknown option"],
  [`{ diff = { keys = { foo = "x" } } }`, "diff.keys.foo: unknown option"],
  [`{ logs = { level = "warn" } }`, "logs: unknown option; did you mean log?"],
  [`{ zzzzzzzzzz = 1 }`, "zzzzzzzzzz: unknown option"],
  [`{ 7 }`, "1: unknown option"],
  [`{ binary = "x" }`, `binary: expected a table of options, got "x"`],
  [`{ binary = { path = 5 } }`, "binary.path: expected a string, got 5"],
  [`{ binary = { download = "prompt" } }`, `binary.download: expected a boolean, got "prompt"`],
  [
    `{ binary = { source = "system" } }`,
    "binary.source: removed; binary.path names an executable, and dist/ goes before a download and $PATH",
  ],
  [
    `{ terminal = { keys = { left = "<M-h>" } } }`,
    "terminal.keys.left: removed; :help claude-code-terminal-keys shows how to map such a key yourself",
  ],
  [
    `{ terminal = { float = { border = "single" } } }`,
    "terminal.float: removed; terminal.size is the share of a float, too, and 'winborder' its border",
  ],
  [
    `{ diff = { lsp = { enabled = false } } }`,
    "diff.lsp: removed; in a diff the language servers of the file's own buffer answer, on lines that it has",
  ],
  [
    `{ diff = { narrow_terminal = 30 } }`,
    "diff.narrow_terminal: removed; Claude's terminal keeps its size beside a diff",
  ],
  [
    `{ diff = { layout = "horizontal" } }`,
    `diff.layout: expected one of "vertical", "tab", "inline" (one side above the other: "vertical", :set diffopt+=horizontal), got "horizontal"`,
  ],
  [
    `{ selection = { max_bytes = 5 } }`,
    "selection.max_bytes: removed; 100,000 bytes of a selection are sent",
  ],
  [`{ auto_start = "no" }`, `auto_start: expected "auto" or a boolean or a function, got "no"`],
  [
    `{ selection = { debounce_ms = 0.5 } }`,
    "selection.debounce_ms: expected a whole number from 0 to 10000, got 0.5",
  ],
  [
    `{ port_range = { 20000, 10000 } }`,
    "port_range: expected two ports { lowest, highest } from 1024 to 65535, got { 20000, 10000 }",
  ],
  [
    `{ allowed_hosts = { "127.0.0.1" } }`,
    `allowed_hosts: expected a list, each item the name of a host, such as host.docker.internal (no address, no wildcard), got { "127.0.0.1" }`,
  ],
  [
    `{ allowed_hosts = { "*.docker.internal" } }`,
    `allowed_hosts: expected a list, each item the name of a host, such as host.docker.internal (no address, no wildcard), got { "*.docker.internal" }`,
  ],
  [
    `{ allowed_hosts = { "::1" } }`,
    `allowed_hosts: expected a list, each item the name of a host, such as host.docker.internal (no address, no wildcard), got { "::1" }`,
  ],
  [
    `{ allowed_hosts = { "a..b" } }`,
    `allowed_hosts: expected a list, each item the name of a host, such as host.docker.internal (no address, no wildcard), got { "a..b" }`,
  ],
  [
    `{ allowed_hosts = { "name:80" } }`,
    `allowed_hosts: expected a list, each item the name of a host, such as host.docker.internal (no address, no wildcard), got { "name:80" }`,
  ],
  [
    `{ allowed_hosts = { "" } }`,
    `allowed_hosts: expected a list, each item the name of a host, such as host.docker.internal (no address, no wildcard), got { "" }`,
  ],
  [
    `{ privacy = { patterns = { env = ".env" } } }`,
    `privacy.patterns: expected a list, each item a string, got { env = ".env" }`,
  ],
  [`"fast"`, `expected a table of options, got "fast"`],
];

describe.each(NEOVIMS)("setup() in $name", (version) => {
  let neovim: TestNeovim;
  beforeAll(async () => {
    neovim = await TestNeovim.start({ version, setup: false });
    await neovim.lua(`
      SAID = {}
      vim.notify = function(text) table.insert(SAID, text) end
      require("port").autostart.enable = function() end`);
  });
  afterAll(() => neovim[Symbol.asyncDispose]());

  const setup = async (options: string): Promise<string[]> => {
    await neovim.lua(`SAID = {}; require("claude-code").setup(${options})`);
    // Messages are scheduled; this one comes behind them.
    await neovim.lua(`DONE = false; vim.schedule(function() DONE = true end)`);
    await eventually("the messages", () => neovim.lua<boolean>(`return DONE`));
    return neovim.lua<string[]>(`return SAID`);
  };

  test.each(PROBLEMS)("%s is reported by name", async (options, message) => {
    const said = await setup(options);
    expect(said).toHaveLength(1);
    const [first, ...rest] = said[0]?.split("\n") ?? [];
    expect(first).toEndWith("1 option cannot be used:");
    expect(rest).toEqual([`  ${message}`, expect.stringContaining(":help claude-code-options")]);
  });

  test("all problems come in one message, and the valid rest is used", async () => {
    const said = await setup(`{ lgo = 1, selection = { send = 3, debounce_ms = 50 } }`);
    expect(said).toHaveLength(1);
    expect(said[0]).toStartWith("2 options cannot be used:");
    expect(said[0]?.split("\n")).toHaveLength(4);
    expect(await neovim.lua(`return require("port").config.get().selection`)).toEqual({
      send: "file",
      debounce_ms: 50,
    });
  });

  test("a renamed option is reported with its new name, a removed one with what to do", async () => {
    const problems = await neovim.lua<string[]>(`
      local renamed = { ["diff.old"] = "diff.layout", gone = "removed; use :Other instead" }
      local _, problems = require("port").options.resolve(
        { diff = { old = "tab" }, gone = true }, renamed)
      return problems`);
    expect(problems).toEqual([
      "diff.old: renamed to diff.layout",
      "gone: removed; use :Other instead",
    ]);
  });

  test("each default is one of an option, which accepts it", async () => {
    const wrong = await neovim.lua<string[]>(`
      local defaults = require("claude-code.config.defaults")
      local options, problems = require("port").options.resolve(defaults, {})
      return vim.deep_equal(options, defaults) and problems or { "others" }`);
    expect(wrong).toEqual([]);
  });

  test("every renamed option leads to an option, or says what to do", async () => {
    const lost = await neovim.lua<string[]>(`
      local config, known = require("port").config, {}
      for _, option in ipairs(require("claude-code.config.options")) do
        known[option.key] = true
      end
      return vim.iter(pairs(config.renamed)):filter(function(old, new)
        return known[old] or not (known[new] or new:find(" "))
      end):map(function(old) return old end):totable()`);
    expect(lost).toEqual([]);
  });

  test("whoever follows an option is called when setup() changes it, and only then", async () => {
    const calls = await neovim.lua(`
      local config, calls = require("port").config, {}
      config.setup({})
      local function follow(value) table.insert(calls, value) end
      config.on_change("selection.debounce_ms", follow)
      config.on_change("selection.debounce_ms", follow)
      config.on_change("log", follow)
      config.setup({ keymaps = false })
      config.setup({ selection = { debounce_ms = 7 } })
      config.setup({ selection = { debounce_ms = 7 }, log = { level = "warn" } })
      config.setup({ log = { level = "warn" } })
      config.setup({})
      return calls`);
    expect(calls).toEqual([7, { level: "warn" }, 300, { level: "info" }]);
  });

  test("nothing is said about what is right", async () => {
    expect(await setup("")).toEqual([]);
    expect(await setup("{}")).toEqual([]);
    const all = `{ auto_start = function() end, port_range = { 1024, 1024 },
      binary = { path = "~/x", download = false }, log = { level = "off" },
      diff = { layout = "vertical", focus = false } }`;
    expect(await setup(all)).toEqual([]);
  });

  test("every option has a default of its own type, a description, and no twin", async () => {
    const faults = await neovim.lua<string[]>(`
      local faults, seen = {}, {}
      for _, option in ipairs(require("claude-code.config.options")) do
        local fits = option.default == nil or option.type.accepts(option.default)
        if not fits or option.description == "" or seen[option.key] then
          table.insert(faults, option.key)
        end
        seen[option.key] = true
      end
      return faults`);
    expect(faults).toEqual([]);
  });

  test("loads neither the server nor the editor's half, so that it costs a start next to nothing", async () => {
    await using fresh = await TestNeovim.start({ version, setup: false });
    const loaded = await fresh.lua<string[]>(`
      require("claude-code").setup({})
      return vim.tbl_filter(function(name)
        return name:find("^claude%-code") ~= nil
      end, vim.tbl_keys(package.loaded))`);
    expect(loaded).not.toContain("claude-code.server");
    expect(loaded).not.toContain("claude-code.editor");
  });
});
