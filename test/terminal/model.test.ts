import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { NEOVIMS, type TestNeovim } from "../support/neovim";
import { ECHO, LATER, openEcho, reset, said, shows, startNeovim } from "./workbench";

describe.each(NEOVIMS)(":Claude model in $name", (version) => {
  let neovim: TestNeovim;
  beforeAll(async () => {
    neovim = await startNeovim(version, "{ auto_start = false }");
  });
  afterAll(() => neovim[Symbol.asyncDispose]());
  afterEach(() => reset(neovim));

  const use = (command: string, choice: string) =>
    neovim.lua(`
      require("claude-code").setup({ terminal = { command = ${command} } })
      vim.ui.select = function(names, _, callback)
        callback(vim.list_contains(names, ${choice}) and ${choice} or nil)
      end`);

  test("starts Claude with the model and other arguments", async () => {
    await use(`{ "sh", "-c", '${LATER} echo "<$*>"; exec cat', "sh" }`, `"haiku"`);
    await neovim.command("Claude model --verbose");
    await shows(neovim, "--model haiku --verbose>");
  });

  test("a Claude that runs has it in its prompt, and nothing is submitted", async () => {
    await use(ECHO, `"opus"`);
    await openEcho(neovim);
    await neovim.command("Claude model");
    await shows(neovim, "/model opus^[[201~");
    expect(await said(neovim)).toEqual([expect.stringContaining("/model opus; submit it there")]);
  });

  test("nothing happens without a choice", async () => {
    await use(ECHO, "nil");
    await neovim.command("Claude model");
    expect(await neovim.lua("return SAID")).toEqual([]);
    expect(await neovim.lua("return vim.bo.buftype")).toBe("");
  });
});
