import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { claims, NEOVIMS, nightly } from "#test";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { read } from "../support/turns";
import { eventually } from "./eventually";
import { FirstLight, MODIFIED, REJECTED, UPDATED } from "./first-light";
import { lockFiles } from "./lock-file";

requireNamespace();
describe.each(NEOVIMS)("$name", (version) => {
  const light = new FirstLight(version);

  test("connects by the lock file", async () => {
    claims("Only you can read the token");
    const { lock, model, claude, neovim, project, home } = light;
    expect(lock.content).toMatchObject({
      pid: await neovim.pid(),
      ideName: "Neovim",
      transport: "ws",
      workspaceFolders: [project],
    });
    expect(lock.content.authToken).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}$/);
    expect([lock.mode, lock.folderMode]).toEqual([0o600, 0o700]);
    expect(await lockFiles(home)).toHaveLength(1);

    // Its connection comes before the tools that it asks for.
    await claude.terminal.waitFor("⧉ In");
    model.script([[{ text: "Hello, human." }]]);
    await claude.prompt("Hello");
    const request = await model.nextRequest();
    expect(JSON.stringify(request)).toContain("mcp__ide__getDiagnostics");
    await claude.terminal.waitFor("Hello, human.");
  });

  test("writes what is accepted with <CR>, and updates the buffer", async () => {
    const proposal = await light.propose('"zero"', '"one"');
    expect(await light.onDisk("main.lua")).not.toBe(proposal);
    await light.press("Enter");
    const said = newsText(await light.received(UPDATED));
    expect(said).not.toContain(MODIFIED);
    await light.expectWritten(proposal);
  });

  test("writes what the user has changed, and accepted with :w", async () => {
    const proposal = await light.propose('"one"', '"two"');
    await light.neovim.terminal.type("GA -- mine");
    await light.press("Escape");
    await light.neovim.terminal.type(":w");
    await light.press("Enter");
    expect(newsText(await light.received("updated successfully"))).toContain(MODIFIED);
    await light.expectWritten(proposal.replace("return M\n", "return M -- mine\n"));
  });

  test("changes nothing with q, and says so to the model", async () => {
    const text = await light.onDisk("main.lua");
    await light.propose('"two"', '"rejected"');
    await light.press("q");
    await light.claude.waitForIdle();
    await light.expectWritten(text);
    await light.expectModelToReceive(REJECTED);
  });

  nightly.test("closes the diff and writes after Yes in the terminal", async () => {
    const proposal = await light.propose('"two"', '"three"');
    await light.claude.answer("Yes");
    expect(newsText(await light.received(UPDATED))).not.toContain(MODIFIED);
    await light.expectWritten(proposal);
  });

  nightly.test("closes the diff and changes nothing after No in the terminal", async () => {
    const text = await light.onDisk("main.lua");
    await light.propose('"three"', '"refused"');
    await light.claude.answer("No");
    await eventually(() => light.neovim.diff(), null);
    await light.claude.waitForIdle();
    await light.expectWritten(text);
    await light.expectModelToReceive(REJECTED);
  });

  // This test comes last, because it breaks the file.
  test("sends with an edit's result what it broke", async () => {
    await light.neovim.startServer("main.lua", light.home);
    await light.propose("return M", "return WRONG");
    await light.press("Enter");
    const said = newsText(await light.received(UPDATED));
    expect(said).toContain("<new-diagnostics>");
    expect(said).toContain("return WRONG");
  });
});

nightly.describe.each(NEOVIMS)("further edits in $name", (version) => {
  const light = new FirstLight(version);

  test("mentions the reason for a rejection in the prompt of a CLI elsewhere", async () => {
    const { neovim, claude, model } = light;
    const text = await light.onDisk("main.lua");
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

  test("makes a new file in a folder that does not exist", async () => {
    const file = light.path("deep/er/new.lua");
    const content = 'return "grüße 🦊"\n';
    const write = { tool: "Write", input: { file_path: file, content } };
    light.model.script([[write], [{ text: "Done." }]]);
    await light.claude.prompt("Write a new file");
    await light.shown(content, 1);
    expect(existsSync(light.path("deep"))).toBe(false);
    await light.press("Enter");
    expect(newsText(await light.received("File created successfully at:"))).not.toContain(MODIFIED);
    expect(await light.onDisk("deep/er/new.lua")).toBe(content);
  });

  test("writes the rest, to the byte, where a hunk was dropped", async () => {
    const text = await light.onDisk("main.lua");
    const wanted = text.replace("-- line 5\n", "-- LINE 5\n");
    const content = wanted.replace("-- line 60\n", "-- LINE 60\n");
    const write = { tool: "Write", input: { file_path: light.main, content } };
    light.model.script([read(light.main), [write], [{ text: "Done." }]]);
    await light.claude.prompt("Change two lines");
    await light.shown(content);
    await light.neovim.terminal.type("]cgr");
    await eventually(
      async () => (await light.neovim.diff())?.proposed.lines.join("\n"),
      wanted.trimEnd(),
    );
    await light.press("Enter");
    // An edit says "… proposed changes before accepting them", a write says this.
    await light.received("The user modified your proposed content before accepting");
    await light.expectWritten(wanted);
  });

  test("asks twice for a file that was saved while its diff waited", async () => {
    const saved = (await light.onDisk("main.lua")).replace("-- line 80", "-- saved by hand");
    await light.propose('"zero"', '"two"');
    await writeFile(light.main, saved);
    await light.neovim.terminal.waitFor("was written since");
    await light.press("Enter");
    await light.neovim.terminal.waitFor("then accept again");
    await light.press("Enter");
    await light.received("File content has changed since it was last read");
    await light.claude.waitForIdle();
    await light.expectWritten(saved);
  });
});
