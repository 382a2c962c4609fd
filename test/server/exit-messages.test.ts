import { mkdirSync, writeFileSync } from "node:fs";
import {
  BOTH_NEOVIMS,
  claims,
  eventually,
  NEWEST,
  needs,
  nightly,
  perBlock,
  ROOT,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { join, native } from "../../src/lib/platform";

describe.each(BOTH_NEOVIMS)("the executable in $name", (version) => {
  const neovim = perBlock(() => TestNeovim.start({ version, setup: "{ auto_start = false }" }));
  beforeAll(() => neovim.lua("vim.notify = function(text) table.insert(MESSAGES, text) end"));

  /** Each with a change of Neovim, how to undo it, and what the message says. */
  const failures: [why: string, change: string, undo: string, says: (string | RegExp)[]][] = [
    [
      "is missing",
      `require("port").install.ORDER = { "managed" }`,
      `require("port").install.ORDER = { "build", "managed", "system" }`,
      [
        "was not found",
        /claude-code.nvim\/bin\/claude-code-nvim/,
        // scripts/wine tries what a release has.
        /bun install --production && bun run build|run :Claude install/,
      ],
    ],
    [
      "is not an executable",
      `require("port").config.get().binary.path = "${join(ROOT, "README.md")}"`,
      `require("port").config.get().binary.path = nil`,
      [/README\.md, which is not an executable file|does not run: .*README\.md: EFTYPE/],
    ],
    [
      // The loaded plugin differs from the one on disk, as after an upgrade.
      "has another contract",
      `CONTRACT = require("port").contract; WAS = vim.deepcopy(CONTRACT)
       CONTRACT.number, CONTRACT.version = 99, "9.9.9"`,
      `CONTRACT.number, CONTRACT.version = WAS.number, WAS.version`,
      [
        "the plugin 9.9.9 needs contract 99, this executable 0.1.0 has",
        "restart Neovim, the plugin was upgraded to 0.1.0",
      ],
    ],
    [
      "ends before it is ready",
      `IDENTITY = require("port").endpoint; ADDRESS = IDENTITY.address
       IDENTITY.address = function() return "/nonexistent/socket" end`,
      `IDENTITY.address = ADDRESS`,
      [
        /Neovim at \/nonexistent\/socket cannot be reached.*: the executable ended \(exit code 5\)/s,
        /:Claude log \((\/|C:\\)/,
      ],
    ],
  ];
  test.each(failures)("says once what helps when it %s", async (_why, change, undo, says) => {
    await neovim.lua(`MESSAGES = {} ${change} require("claude-code").start()`);
    await neovim.until("a message", "return #MESSAGES > 0");
    const status = await neovim.lua<{ state: string; last_error: string }>(
      `${undo} return require("claude-code").status()`,
    );
    expect(status.state).toBe("failed");
    expect(await neovim.lua<string[]>("return MESSAGES")).toEqual([status.last_error]);
    for (const part of says) expect(status.last_error).toMatch(part);
    expect(await neovim.lua(`return vim.env.CLAUDE_CODE_SSE_PORT`)).toBeNull();
  });

  test("starts after all of that with :ClaudeCodeStart, and :Claude log shows what happened", async () => {
    await neovim.command("ClaudeCodeStart");
    expect((await neovim.lock()).content.workspaceFolders).toEqual([native(neovim.cwd)]);
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

  test("cannot be reached by TCP", async () => {
    const address = await neovim.lua<string>(`
      vim.fn.serverstop(vim.v.servername)
      vim.fn.serverstart("127.0.0.1:0")
      return require("port").endpoint.address()`);
    expect(address).toMatch(/^(\/|\\\\\.\\pipe\\)/);
  });
});

test.each(BOTH_NEOVIMS)("serves without XDG_RUNTIME_DIR in $name", async (version) => {
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

needs("sockets in folders")("says that the path of a socket would be too long", () => {
  const folder = join(temporaryFolder(), "x".repeat(110));
  mkdirSync(folder);
  const code = 'lua io.write(select(2, require("claude-code.server.endpoint").address()))';
  const args = ["--clean", "--headless", "--cmd", `set rtp^=${ROOT}`, "-c", code, "-c", "qa!"];
  const env = { ...process.env, TMPDIR: folder, XDG_RUNTIME_DIR: folder, NVIM: undefined };
  const { stdout } = Bun.spawnSync([NEWEST.binary, ...args], { env });
  expect(stdout.toString()).toMatch(/^the path \/.*x{110}.* is too long for a socket$/);
});
