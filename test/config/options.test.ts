import { NEOVIMS, perBlock, rows, TestNeovim } from "#test";

const PROBLEMS = rows(`
  { autostart = true } | autostart: unknown option; did you mean auto_start?
  { only_new = true } | only_new: unknown option; did you mean diagnostics.only_new?
  { binary = { pth = "x" } } | binary.pth: unknown option; did you mean binary.path?
  { diff = { keys = { foo = "x" } } } | diff.keys.foo: unknown option
  { diff = { keys = { acept = "x" } } } | diff.keys.acept: unknown option; did you mean diff.keys.accept?
  { terminal = { keys = "x" } } | terminal.keys: expected a table of options, got "x"
  { review = { keys = { keep = 5 } } } | review.keys.keep: expected a key, a list of keys, or false, got 5
  { zzzzzzzzzz = 1 } | zzzzzzzzzz: unknown option
  { 7 } | 1: unknown option
  { binary = { path = 5 } } | binary.path: expected a string, got 5
  { binary = { download = "prompt" } } | binary.download: expected a boolean, got "prompt"
  { diff = { layout = "horizontal" } } | diff.layout: expected one of "vertical", "tab", "inline" (one side above the other: "vertical", :set diffopt+=horizontal), got "horizontal"
  { auto_start = "no" } | auto_start: expected "auto" or a boolean, got "no"
  { diagnostics = { retries = 0.5 } } | diagnostics.retries: expected a whole number from 1 to 7, got 0.5
  { port_range = { 20000, 10000 } } | port_range: expected two ports { lowest, highest } from 1024 to 65535, got { 20000, 10000 }
  { privacy = { patterns = { env = ".env" } } } | privacy.patterns: expected a list, each item a string, got { env = ".env" }
  "fast" | expected a table of options, got "fast"
  5 | expected a table of options, got 5`);

describe.each(NEOVIMS)("setup() in $name", (version) => {
  const neovim = perBlock(() => TestNeovim.start({ version, setup: false }));
  beforeAll(async () => {
    await neovim.lua(`
      SAID = {}
      vim.notify = function(text) table.insert(SAID, text) end
      require("port").autostart.enable = function() end`);
  });

  const setup = async (options: string): Promise<string[]> => {
    await neovim.lua(`SAID = {}; require("claude-code").setup(${options})`);
    // Messages are scheduled; this one comes after them.
    await neovim.lua(`DONE = false; vim.schedule(function() DONE = true end)`);
    await neovim.until("the messages", `return DONE`);
    return neovim.lua<string[]>(`return SAID`);
  };

  test.each(PROBLEMS)("reports %s by its name", async (options, message) => {
    const said = await setup(options);
    expect(said).toHaveLength(1);
    const [first, ...rest] = said[0]?.split("\n") ?? [];
    expect(first).toEndWith("1 option cannot be used:");
    expect(rest).toEqual([`  ${message}`, expect.stringContaining(":help claude-code-options")]);
  });

  test.each(["5", "setmetatable({}, { __index = error })"])(
    "reads nothing from %s",
    async (options) => {
      await setup(options);
      expect(await neovim.lua(`return require("port").config.given("diff.layout")`)).toBeNull();
    },
  );

  test("reports all problems in one message, and uses the valid rest", async () => {
    const said = await setup(`{ lgo = 1, notify = { on = { "done" }, by = 3 } }`);
    expect(said).toHaveLength(1);
    expect(said[0]).toStartWith("2 options cannot be used:");
    expect(said[0]?.split("\n")).toHaveLength(4);
    expect(await neovim.lua(`return require("port").config.get().notify`)).toEqual({
      by: "auto",
      on: ["done"],
    });
  });

  test("has at most 60 options, each with a default of its type and a description, and none twice", async () => {
    const [faults, count] = await neovim.lua<[string[], number]>(`
      local faults, seen = {}, {}
      for _, option in ipairs(require("port").config.options()) do
        local defaults = vim.tbl_map(function(field) return field[2] end, option.fields or {})
        local fit = option.default ~= nil and { option.default } or defaults
        local is_wrong = not vim.iter(fit):all(function(value) return option.type.accepts(value) end)
        if is_wrong or option.description == "" or seen[option.key] then
          table.insert(faults, option.key)
        end
        seen[option.key] = true
      end
      return { faults, #require("port").config.options() }`);
    expect(faults).toEqual([]);
    expect(count).toBeLessThanOrEqual(60);
  });

  test("replaces the default keys with the user's, and keeps the others", async () => {
    expect(await setup(`{ diff = { keys = { accept = { "ga" }, merge = false } } }`)).toEqual([]);
    expect(await neovim.lua(`return require("port").config.get().diff.keys`)).toMatchObject({
      accept: ["ga"],
      merge: false,
      reject: ["q", "ZQ"],
    });
  });

  test("loads neither the server nor the editor's half", async () => {
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
