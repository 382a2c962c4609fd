import { writeFileSync } from "node:fs";
import { eventually, LUA_SLEEP, NEOVIMS, type NeovimOptions, TestClient, TestNeovim } from "#test";
import { join, native } from "../../src/lib/platform";

/** A field of `status()` in a script. */
const STATE = "{v:lua.require'claude-code'.status().state}";
const setUp = (options: string) => `:lua require("claude-code").setup(${options})`;

describe.each(NEOVIMS)("in $name", (version) => {
  const start = async (options: Partial<NeovimOptions> = {}) => {
    const neovim = await TestNeovim.start({ version, ...options });
    writeFileSync(join(neovim.cwd, "main.lua"), "return 1\n");
    return neovim;
  };

  test("keeps a server stopped that the user stopped, except for :Claude", async () => {
    const setup = `{ terminal = { command = ${LUA_SLEEP} } }`;
    await using neovim = await start({ setup });
    // In the last round, Claude is already running in its terminal.
    await neovim.plays(`
      <Ignore>                  ${STATE} ready
      :ClaudeCodeStop
      ${setUp(setup)}
      :Claude mention main.lua  says you stopped the server; :Claude starts it again
                                ${STATE} stopped  ${STATE.replace("state", "why")} you stopped it
      :ClaudeCodeStop
      :Claude                   ${STATE} ready
      :ClaudeCodeStop
      :Claude                   ${STATE} ready
    `);
  });

  test.each([
    ["with auto_start = false", "{ auto_start = false }"],
    ["without setup()", false],
  ] as const)(
    "starts the server by a mention %s, which waits for the CLI",
    async (_name, setup) => {
      await using neovim = await start({ setup });
      await neovim.plays(`
        :Claude mention main.lua  says main.lua waits for Claude to connect
                                  ${STATE} ready
      `);
      using client = await TestClient.open(await neovim.lock());
      const filePath = native(join(neovim.cwd, "main.lua"));
      await eventually("the mention", () =>
        expect<unknown[]>(client.notifications("at_mentioned")).toEqual([{ filePath }]),
      );
    },
  );

  test("takes a port of the new range from the next start on", async () => {
    await using neovim = await start({ setup: "{ port_range = { 20000, 29999 } }" });
    const { port: before } = await neovim.lock();
    await neovim.plays(`
      ${setUp("{ port_range = { 30000, 39999 } }")}  {v:lua.require'claude-code'.status().port} ${before}
      :ClaudeCodeStop
      :ClaudeCodeStart                               ${STATE} ready
    `);
    expect((await neovim.lock()).port).toBeWithin(30_000, 40_000);
  });

  test("removes the suggested keys with keymaps = false", async () => {
    await using neovim = await start({ setup: "{ auto_start = false, keymaps = true }" });
    await neovim.plays(`
      :nnoremap <leader>am :echo 'mine'<lt>CR>  {maparg('<leader>ac')} <Plug>(claude)
      ${setUp("{ auto_start = false }")}        {maparg('<leader>ac')}
                                                {maparg('<leader>am')} :echo 'mine'<CR>
    `);
  });
});
