import { describe, expect, test } from "bun:test";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { Selected } from "./selection";

/*
 * The genuine CLI (Claude Code 2.1.330) and a real Neovim, each in a real terminal: what is selected
 * there shows here, and reaches the model. What the CLI shows and sends is quoted from it.
 */
requireNamespace();
describe("the selection", () => {
  const selection = Selected.inBlock();

  test("the prompt box counts the lines, and the model reads them, prompt after prompt", async () => {
    await selection.selectFunction();
    await selection.shown(3);
    expect(await selection.received("What is this?")).toContain(selection.text);
    await selection.shown(3);
    expect(await selection.received("And what is it for?")).toContain(selection.text);
    await selection.shown(3);
  });

  test("a private file: the model receives nothing of it", async () => {
    await selection.bench.neovim.lua(
      `vim.fn.writefile({ "TOKEN=very-secret-value" }, ".env") return true`,
    );
    await selection.bench.neovim.terminal.type(":split .env");
    await selection.bench.neovim.terminal.press("Enter");
    await selection.bench.neovim.terminal.type("ggVG");
    await selection.bench.neovim.terminal.waitFor("-- VISUAL LINE --");
    // Nothing tells that nothing is sent.
    await Bun.sleep(500);
    const said = await selection.received("What do you see?");
    expect(said).not.toContain("very-secret-value");
    expect(said).not.toContain(".env");
  });

  test(":3,5Claude mention puts the lines into the prompt, and the model reads them", async () => {
    const { terminal } = selection.bench.neovim;
    await terminal.type(":3,5Claude mention");
    await terminal.press("Enter");
    await selection.bench.claude.terminal.waitFor("@main.lua#L3-5");
    selection.bench.model.script([[{ text: "Understood." }]]);
    await selection.bench.claude.terminal.type("explain this");
    await selection.bench.claude.terminal.waitFor("@main.lua#L3-5 explain this");
    await selection.bench.claude.terminal.press("Enter");
    const said = newsText(await selection.bench.model.nextRequest());
    expect(said).toContain("@main.lua#L3-5 explain this");
    expect(said).toContain("3\tfunction M.hello()");
    await selection.bench.claude.waitForIdle();
  });
});
