import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, NEOVIMS, type NeovimOptions, TestClient, TestNeovim } from "#test";

interface Status {
  state: string;
  why?: string;
  port?: number;
}

const status = (neovim: TestNeovim) => neovim.lua<Status>(`return require("claude-code").status()`);

const inState = (neovim: TestNeovim, wanted: string) =>
  eventually(`the state ${wanted}`, async () => {
    const found = await status(neovim);
    return found.state === wanted && found;
  });

/** Takes the options, and lets happen what that schedules. */
async function setUp(neovim: TestNeovim, options: string): Promise<void> {
  await neovim.lua(`require("claude-code").setup(${options})`);
  await neovim.lua(`DONE = false vim.schedule(function() DONE = true end)`);
  await neovim.until("what was scheduled", "return DONE");
}

describe.each(NEOVIMS)("in $name", (version) => {
  const start = async (options: Partial<NeovimOptions> = {}) => {
    const neovim = await TestNeovim.start({ version, ...options });
    writeFileSync(join(neovim.cwd, "main.lua"), "return 1\n");
    await neovim.lua("MESSAGES = {} vim.notify = function(text) table.insert(MESSAGES, text) end");
    return neovim;
  };
  const notified = (neovim: TestNeovim, wanted: string) =>
    neovim.until(`"${wanted}"`, "return table.concat(MESSAGES):find(..., 1, true) ~= nil", wanted);

  test("keeps a server stopped that the user stopped, but for :Claude", async () => {
    const setup = `{ terminal = { command = { "sh", "-c", "sleep 60" } } }`;
    await using neovim = await start({ setup });
    await inState(neovim, "ready");
    await neovim.command("ClaudeCodeStop");
    await setUp(neovim, setup);
    await neovim.command("Claude mention main.lua");
    await notified(neovim, "you stopped the server; :Claude starts it again");
    const { state, why } = await status(neovim);
    expect([state, why]).toEqual(["stopped", "you stopped it"]);
    // Also where Claude runs in its terminal already.
    for (let again = 0; again < 2; again++) {
      await neovim.command("ClaudeCodeStop");
      await neovim.command("Claude");
      await inState(neovim, "ready");
    }
  });

  test.each([
    ["with auto_start = false", "{ auto_start = false }"],
    ["without setup()", false],
  ] as const)(
    "starts the server by a mention %s, which waits for the CLI",
    async (_name, setup) => {
      await using neovim = await start({ setup });
      await neovim.command("Claude mention main.lua");
      await notified(neovim, "main.lua waits for Claude to connect");
      await inState(neovim, "ready");
      using client = await TestClient.open(await neovim.lock());
      const filePath = join(neovim.cwd, "main.lua");
      await eventually("the mention", () =>
        expect<unknown[]>(client.notifications("at_mentioned")).toEqual([{ filePath }]),
      );
    },
  );

  test("takes a port of the new range from the next start on", async () => {
    await using neovim = await start({ setup: "{ port_range = { 20000, 29999 } }" });
    const before = await inState(neovim, "ready");
    await setUp(neovim, "{ port_range = { 30000, 39999 } }");
    expect((await status(neovim)).port).toBe(before.port as number);
    await neovim.command("ClaudeCodeStop");
    await neovim.command("ClaudeCodeStart");
    const { port } = await inState(neovim, "ready");
    expect(port).toBeGreaterThanOrEqual(30_000);
    expect(port).toBeLessThanOrEqual(39_999);
  });

  test("removes the suggested keys with keymaps = false", async () => {
    await using neovim = await start({ setup: "{ auto_start = false, keymaps = true }" });
    const key = (name: string) => neovim.lua<string>(`return vim.fn.maparg(..., "n")`, name);
    expect(await key("<leader>ac")).toBe("<Plug>(claude)");
    await neovim.command("nnoremap <leader>am :echo 'mine'<CR>");
    await setUp(neovim, "{ auto_start = false }");
    expect(await key("<leader>ac")).toBe("");
    expect(await key("<leader>am")).toBe(":echo 'mine'<CR>");
  });
});
