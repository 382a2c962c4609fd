import { describe, expect, test } from "bun:test";
import { claims } from "../support/claims";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS, nightly } from "../support/toolchain";
import { eventually } from "./eventually";
import { breaks, changesAndRejects, FirstLight, MODIFIED, REJECTED, UPDATED } from "./first-light";
import { lockFiles } from "./lock-file";

/*
 * The genuine CLI (Claude Code 2.1.330) and a real Neovim, both in real terminals, meet through the
 * compiled executable. Only the model is a stand-in.
 */
requireNamespace();
describe.each(NEOVIMS)("$name", (version) => {
  const light = FirstLight.inBlock(version);

  test("the CLI finds the lock file and connects", async () => {
    claims("Only you can read the token");
    const { lock, model, claude, neovim, project, home } = light.bench;
    expect(lock.content).toMatchObject({
      pid: await neovim.pid(),
      ideName: "Neovim",
      transport: "ws",
      workspaceFolders: [project],
    });
    expect(lock.content.authToken).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}$/);
    expect([lock.mode, lock.folderMode]).toEqual([0o600, 0o700]);
    expect(await lockFiles(home)).toHaveLength(1);

    model.script([[{ text: "Hello, human." }]]);
    await claude.prompt("Hello");
    const request = await model.nextRequest();
    expect(JSON.stringify(request)).toContain("mcp__ide__getDiagnostics");
    await claude.terminal.waitFor("Hello, human.");
  });

  test("accepted with <CR>: the CLI writes, the buffer follows", async () => {
    const proposal = await light.propose('"zero"', '"one"');
    expect(await light.onDisk()).not.toBe(proposal);
    await light.press("Enter");
    const said = newsText(await light.received(UPDATED));
    expect(said).not.toContain(MODIFIED);
    await light.expectWritten(proposal);
  });

  changesAndRejects(light);

  nightly.test("answered Yes in the terminal: the diff closes, the CLI writes", async () => {
    const proposal = await light.propose('"two"', '"three"');
    await light.bench.claude.answer("Yes");
    expect(newsText(await light.received(UPDATED))).not.toContain(MODIFIED);
    await light.expectWritten(proposal);
  });

  nightly.test("answered No in the terminal: the diff closes, nothing changes", async () => {
    const text = await light.onDisk();
    await light.propose('"three"', '"refused"');
    await light.bench.claude.answer("No");
    await eventually(() => light.bench.neovim.diff(), null);
    await light.bench.claude.waitForIdle();
    await light.expectWritten(text);
    await light.expectModelToReceive(REJECTED);
  });

  breaks(light);
});
