import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newsText, toolResults } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS } from "../support/toolchain";
import { edit, read } from "../support/turns";
import { FirstLight, MODIFIED, REJECTED, UPDATED } from "./first-light";

/* Further edits that the genuine CLI (Claude Code 2.1.330) proposes to a real Neovim. */
const CREATED = "File created successfully at:";

requireNamespace();
describe.each(NEOVIMS)("$name", (version) => {
  const light = FirstLight.inBlock(version);

  test("rejected with a reason, by a CLI elsewhere: its prompt mentions the reason, Enter sends it", async () => {
    const { neovim, claude, model } = light.bench;
    const text = await light.onDisk();
    await light.propose('"zero"', '"rejected"');
    await neovim.terminal.type(":Claude diff reject names come from the table");
    await neovim.terminal.press("Enter");
    await claude.terminal.waitFor("@ide:rejection:reason");
    model.script([[{ text: "Understood." }]]);
    await claude.terminal.press("Enter");
    const news = newsText(await model.nextRequest());
    expect(news).toContain(REJECTED);
    expect(news).toContain(`I rejected your edit of ${light.main}: names come from the table`);
    await claude.waitForIdle();
    await light.expectWritten(text);
  });

  test("a new file in a folder that does not exist", async () => {
    const file = join(light.bench.project, "deep/er/new.lua");
    const content = 'return "grüße 🦊"\n';
    const write = { tool: "Write", input: { file_path: file, content } };
    light.model.script([[write], [{ text: "Done." }]]);
    await light.bench.claude.prompt("Write a new file");
    await light.shown(content, 1);
    expect(existsSync(join(light.bench.project, "deep"))).toBe(false);
    await light.press("Enter");
    expect(newsText(await light.received(CREATED))).not.toContain(MODIFIED);
    expect(await light.onDisk(file)).toBe(content);
  });

  test("two edits in one turn come one after the other", async () => {
    const text = await light.onDisk();
    const first = text.replace('"zero"', '"one"');
    const second = first.replace("local M = {}", "local M = { 1 }");
    const edits = [
      ...edit(light.main, '"zero"', '"one"'),
      ...edit(light.main, "local M = {}", "local M = { 1 }"),
    ];
    light.model.script([read(light.main), edits, [{ text: "Done." }]]);
    await light.bench.claude.prompt("Change both");
    for (const proposal of [first, second]) {
      await light.shown(proposal);
      await light.press("Enter");
    }
    const results = toolResults(await light.received("updated successfully"));
    expect(results).toHaveLength(2);
    for (const result of results) expect(result).toContain(UPDATED);
    await light.expectWritten(second);
  });

  test("saved while its diff waited: accepting takes a second time, and the CLI reads it again", async () => {
    const saved = (await light.onDisk()).replace("-- line 80", "-- saved by hand");
    await light.propose('"one"', '"two"');
    await writeFile(light.main, saved);
    await light.bench.neovim.terminal.waitFor("was written since");
    await light.press("Enter");
    await light.bench.neovim.terminal.waitFor("then accept again");
    await light.press("Enter");
    await light.received("File content has changed since it was last read");
    await light.bench.claude.waitForIdle();
    await light.expectWritten(saved);
  });
});
