import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BOTH_NEOVIMS, claims, eventually, NEWEST, nightly, perBlock, TestNeovim } from "#test";

describe.each(BOTH_NEOVIMS)("the executable in $name", (version) => {
  const neovim = perBlock(() => TestNeovim.start({ version, setup: "{ auto_start = false }" }));
  beforeAll(async () => {
    await neovim.lua(`
      MESSAGES = {}
      vim.notify = function(text, level) table.insert(MESSAGES, text) end`);
  });
  beforeEach(async () => {
    await neovim.lua(`MESSAGES = {}`);
  });

  /** Starts in a Neovim that was changed by `change`; the message when it has failed. */
  const failing = async (change: string, undo: string): Promise<string[]> => {
    await neovim.lua(`
      ${change}
      require("claude-code").start()`);
    const messages = await eventually("a message", async () => {
      const texts = await neovim.lua<string[]>(`return MESSAGES`);
      return texts.length > 0 && texts;
    });
    const status = await neovim.lua<{ state: string; last_error: string }>(
      `${undo} return require("claude-code").status()`,
    );
    expect(status.state).toBe("failed");
    expect(messages).toEqual([status.last_error]);
    expect(await neovim.lua(`return vim.env.CLAUDE_CODE_SSE_PORT`)).toBeNull();
    return messages;
  };

  test("is missing: names the command, and where it was looked for", async () => {
    const [message] = await failing(
      `require("port").install.ORDER = { "managed" }`,
      `require("port").install.ORDER = { "build", "managed", "system" }`,
    );
    expect(message).toContain("was not found");
    expect(message).toContain("/.local/share/claude-code.nvim/bin/claude-code-nvim");
    expect(message).toContain("bun install --production && bun run build");
  });

  test("is not an executable: names the option", async () => {
    const [message] = await failing(
      `require("port").config.get().binary.path = "/etc/passwd"`,
      `require("port").config.get().binary.path = nil`,
    );
    expect(message).toContain("binary.path is /etc/passwd, which is not an executable file");
  });

  test("has another contract: names both versions and the command, and is not retried", async () => {
    const [message] = await failing(
      `CONTRACT = require("port").contract; WAS = vim.deepcopy(CONTRACT)
       CONTRACT.number, CONTRACT.version = 99, "9.9.9"`,
      `CONTRACT.number, CONTRACT.version = WAS.number, WAS.version`,
    );
    expect(message).toMatch(/the plugin 9\.9\.9 needs contract 99, this executable 0\.1\.0 has/);
    // The loaded plugin differs from the one on disk, as after an upgrade.
    expect(message).toContain("restart Neovim, the plugin was upgraded to 0.1.0");
  });

  test("ends before it is ready: gives up, and names the log", async () => {
    const [message] = await failing(
      `IDENTITY = require("port").endpoint; ADDRESS = IDENTITY.address
       IDENTITY.address = function() return "/nonexistent/socket" end`,
      `IDENTITY.address = ADDRESS`,
    );
    const log = await neovim.lua<string>(`return require("port").log.path()`);
    const reason = "Neovim at /nonexistent/socket cannot be reached";
    expect(message).toMatch(new RegExp(`${reason}.*: the executable ended \\(exit code 5\\)`, "s"));
    expect(message).toContain(`:Claude log (${log})`);
    expect(existsSync(log)).toBe(true);
  });

  test("starts after all of that by :ClaudeCodeStart, and :Claude log shows what was", async () => {
    await neovim.command("ClaudeCodeStart");
    expect((await neovim.lock()).content.workspaceFolders).toEqual([neovim.cwd]);
    await neovim.command("Claude log");
    const text = await neovim.lua<string>(
      `return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\\n")`,
    );
    expect(text).toContain("exit code 5");
    await neovim.command("ClaudeCodeStop");
  });

  test("does not inherit what makes a Bun program run foreign code", async () => {
    claims("A project runs no code in the executable");
    const env = await neovim.lua<Record<string, string>>(`
      for _, name in ipairs({ "BUN_OPTIONS", "BUN_BE_BUN", "BUN_INSPECT", "BUN_INSPECT_PRELOAD" }) do
        vim.env[name] = "x"
      end
      return require("port").executable.environment()`);
    expect(Object.keys(env).filter((name) => name.startsWith("BUN_"))).toEqual([]);
  });

  test("is not reached by TCP", async () => {
    const address = await neovim.lua<string>(`
      vim.fn.serverstop(vim.v.servername)
      vim.fn.serverstart("127.0.0.1:0")
      return require("port").endpoint.address()`);
    expect(address).toStartWith("/");
  });
});

test.each(BOTH_NEOVIMS)("serves without $XDG_RUNTIME_DIR in $name", async (version) => {
  await using neovim = await TestNeovim.start({ version, env: { XDG_RUNTIME_DIR: "/nowhere" } });
  await neovim.until("ready", `return require("claude-code").status().state == "ready"`);
});

nightly.test("does not wait longer than three seconds for an executable that hangs", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST, setup: false });
  const path = join(neovim.cwd, "hangs");
  writeFileSync(path, "#!/bin/sh\necho one >&2\necho two >&2\nexec sleep 60\n", { mode: 0o755 });
  await neovim.lua(
    `require("port").hurry(10)
     require("claude-code").setup({ auto_start = false, binary = { path = ... } })
     require("port").server.ensure(nil, function(...) ANSWER = { ... } end)`,
    path,
  );
  const answer = await eventually(
    "an answer",
    async () => (await neovim.lua<unknown[] | null>("return ANSWER")) ?? false,
  );
  const error = expect.stringContaining("the executable has not answered for 3 s: wait, or ");
  expect(answer).toEqual([null, error]);
  expect(await neovim.lua(`return require("port").server.state`)).toBe("starting");
  const printed = `return vim.deep_equal(require("claude-code").status().stderr, { "one", "two" })`;
  await neovim.until("what it prints", printed);
  expect(await neovim.lua(`return require("claude-code").status().last_error`)).toEqual(error);
});
