import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { $ } from "bun";
import {
  BOTH_NEOVIMS,
  isolatedEnv,
  NEWEST,
  needs,
  nightly,
  ROOT,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { join } from "../../src/lib/platform";
import { shows } from "../terminal/workbench";

const RUNTIME = ["dist", "doc", "lua", "plugin"];

describe.each(BOTH_NEOVIMS)("loading in $name", (version) => {
  needs("symlinks")("loads by :packadd at the first command, as lazy.nvim's cmd does", async () => {
    const folder = temporaryFolder();
    const plugin = join(folder, "pack/claude/opt/claude-code.nvim");
    mkdirSync(plugin, { recursive: true });
    for (const name of RUNTIME) symlinkSync(join(ROOT, name), join(plugin, name));
    const args = ["--cmd", `set runtimepath-=${ROOT} packpath^=${folder}`];
    await using neovim = await TestNeovim.start({ version, setup: false, args });
    await neovim.lua(`
      vim.api.nvim_create_user_command("Claude", function(args)
        vim.api.nvim_del_user_command("Claude")
        vim.cmd.packadd("claude-code.nvim")
        require("claude-code").setup({ terminal = { command = { "sh", "-c", [[
          sleep 0.1; echo "port $CLAUDE_CODE_SSE_PORT"; exec cat]] } } })
        vim.cmd({ cmd = "Claude", bang = args.bang, args = args.fargs })
      end, { nargs = "*", bang = true })
      vim.cmd.Claude()`);
    const { port } = await neovim.lock();
    await shows(neovim, `port ${port}`);
  });

  test("loads nothing before it is needed, and makes no mappings of its own", async () => {
    await using neovim = await TestNeovim.start({ version, setup: false });
    const loaded = await neovim.lua<string[]>(`
      return vim.tbl_filter(function(name)
        return vim.startswith(name, "claude-code")
      end, vim.tbl_keys(package.loaded))`);
    expect(loaded).toEqual([]);
    const mapped = () =>
      neovim.lua<string[]>(`
        return vim.tbl_map(function(mapping) return mapping.lhs end,
          vim.tbl_filter(function(mapping)
            return mapping.rhs and vim.startswith(mapping.rhs, "<Plug>(claude")
          end, vim.api.nvim_get_keymap("n")))`);
    await neovim.lua(`vim.g.mapleader = " "; require("claude-code").setup({ auto_start = false })`);
    expect(await mapped()).toEqual([]);
    await neovim.lua(`require("claude-code").setup({ auto_start = false, keymaps = true })`);
    expect(await mapped()).toContain(" ac");
  });
});

describe("loading by vim.pack", () => {
  nightly.test("loads from a clone, as the documentation of vim.pack says", async () => {
    const { binary } = NEWEST;
    const home = temporaryFolder();
    const repository = join(home, "claude-code.nvim");
    mkdirSync(repository);
    for (const name of ["doc", "lua", "plugin"]) {
      cpSync(join(ROOT, name), join(repository, name), { recursive: true });
    }
    const who = ["-c", "user.name=n", "-c", "user.email=e@example.org"];
    await $`git init -q && git add . && git ${who} commit -qm all`.cwd(repository).quiet();
    mkdirSync(join(home, ".config/nvim"), { recursive: true });
    writeFileSync(
      join(home, ".config/nvim/init.lua"),
      `vim.pack.add({ "file://${repository}" }, { confirm = false })
       require("claude-code").setup({ auto_start = false })`,
    );
    const script = `lua io.write(vim.fn.exists(":Claude"), require("claude-code").status().state)`;
    const run = Bun.spawn([binary, "--headless", "-c", script, "-c", "qa!"], {
      cwd: home,
      env: isolatedEnv(home),
      stdin: "ignore",
      stderr: "ignore",
    });
    expect(await new Response(run.stdout).text()).toContain("2stopped");
  });
});
