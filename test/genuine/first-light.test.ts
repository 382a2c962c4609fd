import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newsText, toolResults } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS, type NeovimVersion } from "../support/toolchain";
import { edit, read } from "../support/turns";
import { type Bench, startBench } from "./bench";
import { eventually } from "./eventually";
import { lockFiles } from "./lock-file";
import type { Layout } from "./neovim";

/*
 * The genuine CLI (Claude Code 2.1.330) and a real Neovim, both in real terminals, meet through the
 * compiled executable. Only the model is a stand-in. What the model receives is quoted from the CLI.
 */
const UPDATED = "has been updated successfully. (file state is current in your context";
const MODIFIED = "The user modified your proposed changes before accepting them.";
const REJECTED = "The user doesn't want to proceed with this tool use";
const CREATED = "File created successfully at:";

const FILLER = Array.from({ length: 80 }, (_, line) => `-- line ${line + 3}`).join("\n");
const MAIN = `local M = {}\nM.name = "zero"\n${FILLER}\nreturn M\n`;
const CASE_MS = 90_000;

requireNamespace();
for (const version of NEOVIMS) describe(version.name, () => firstLight(version));

function firstLight(version: NeovimVersion) {
  let bench: Bench;
  let main: string;
  let before: Layout;

  beforeAll(async () => {
    bench = await startBench(version, { "main.lua": MAIN, "other.lua": "return {}\n" });
    main = join(bench.project, "main.lua");
    // A layout with something to lose: uneven windows, a scrolled view, a cursor in the middle.
    await bench.neovim.terminal.type(":botright split | resize 7\r:wincmd t\r40Gzt5l");
    const place = () =>
      bench.neovim.lua("return { vim.fn.winnr('$'), vim.fn.line('.'), vim.fn.col('.') }");
    await eventually(place, [3, 40, 6]);
  }, CASE_MS);

  afterAll(() => bench?.dispose(), CASE_MS);

  beforeEach(async () => {
    await bench.claude.recover();
    await eventually(() => bench.neovim.diff(), null);
    before = await bench.neovim.layout();
  }, CASE_MS);

  afterEach(async () => {
    await eventually(() => bench.neovim.layout(), before);
    expect(await bench.neovim.terminal.screen()).not.toMatch(/Press ENTER|W1[0-9]:|E\d+:/);
  }, CASE_MS);

  const onDisk = (file = main) => readFile(file, "utf8");

  /** The CLI writes after the answer, and Neovim shows it after that. */
  async function expectWritten(text: string) {
    await eventually(() => onDisk(), text);
    await eventually(() => bench.neovim.buffer(main), { text, modified: false });
  }

  async function propose(from: string, to: string): Promise<string> {
    bench.model.script([read(main), edit(main, from, to), [{ text: "Done." }]]);
    const proposal = (await onDisk()).replace(from, to);
    await bench.claude.prompt("Change the name");
    await shown(proposal);
    return proposal;
  }

  /** Waits until Neovim shows the diff, and puts the cursor on the proposed side. */
  async function shown(proposal: string) {
    const { neovim, claude } = bench;
    const diff = await neovim.waitForDiff(proposal).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await claude.editorLog()}`);
    });
    expect(diff.windows).toBe(2);
    await neovim.focus(diff.proposed.window);
  }

  const received = (words: string) =>
    bench.model.nextRequest((request) => newsText(request).includes(words));

  test(
    "the CLI finds the lock file and connects",
    async () => {
      const { lock, model, claude, neovim, project, home } = bench;
      expect(lock.content).toMatchObject({
        pid: await neovim.pid(),
        ideName: "Neovim",
        transport: "ws",
        workspaceFolders: [project],
      });
      expect(lock.content.authToken).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}$/,
      );
      expect([lock.mode, lock.folderMode]).toEqual([0o600, 0o700]);
      expect(await lockFiles(home)).toHaveLength(1);

      model.script([[{ text: "Hello, human." }]]);
      await claude.prompt("Hello");
      const request = await model.nextRequest();
      expect(JSON.stringify(request)).toContain("mcp__ide__getDiagnostics");
      await claude.terminal.waitFor("Hello, human.");
    },
    CASE_MS,
  );

  test(
    "accepted with <CR>: the CLI writes, the buffer follows",
    async () => {
      const proposal = await propose('"zero"', '"one"');
      expect(await onDisk()).not.toBe(proposal);
      await bench.neovim.terminal.press("Enter");
      const said = newsText(await received(UPDATED));
      expect(said).not.toContain(MODIFIED);
      await expectWritten(proposal);
    },
    CASE_MS,
  );

  test(
    "changed by the user, then accepted with :w",
    async () => {
      const proposal = await propose('"one"', '"two"');
      await bench.neovim.terminal.type("GA -- mine");
      await bench.neovim.terminal.press("Escape");
      await bench.neovim.terminal.type(":w");
      await bench.neovim.terminal.press("Enter");
      expect(newsText(await received("updated successfully"))).toContain(MODIFIED);
      await expectWritten(proposal.replace("return M\n", "return M -- mine\n"));
    },
    CASE_MS,
  );

  test(
    "rejected with q: nothing changes, and the model learns of it",
    async () => {
      const text = await onDisk();
      await propose('"two"', '"rejected"');
      await bench.neovim.terminal.press("q");
      await bench.claude.waitForIdle();
      await expectWritten(text);
      await expectModelToReceive(REJECTED);
    },
    CASE_MS,
  );

  test(
    "rejected with a reason, by a CLI elsewhere: its prompt mentions the reason, Enter sends it",
    async () => {
      const { neovim, claude, model } = bench;
      const text = await onDisk();
      await propose('"two"', '"rejected"');
      await neovim.terminal.type(":Claude diff reject names come from the table");
      await neovim.terminal.press("Enter");
      await claude.terminal.waitFor("@ide:rejection:1");
      model.script([[{ text: "Understood." }]]);
      await claude.terminal.press("Enter");
      const news = newsText(await model.nextRequest());
      expect(news).toContain(REJECTED);
      expect(news).toContain(`I rejected your edit of ${main}: names come from the table`);
      await claude.waitForIdle();
      await expectWritten(text);
    },
    CASE_MS,
  );

  test(
    "answered Yes in the terminal: the diff closes, the CLI writes",
    async () => {
      const proposal = await propose('"two"', '"three"');
      await bench.claude.answer("Yes");
      expect(newsText(await received(UPDATED))).not.toContain(MODIFIED);
      await expectWritten(proposal);
    },
    CASE_MS,
  );

  test(
    "answered No in the terminal: the diff closes, nothing changes",
    async () => {
      const text = await onDisk();
      await propose('"three"', '"refused"');
      await bench.claude.answer("No");
      await eventually(() => bench.neovim.diff(), null);
      await bench.claude.waitForIdle();
      await expectWritten(text);
      await expectModelToReceive(REJECTED);
    },
    CASE_MS,
  );

  test(
    "a new file in a folder that does not exist",
    async () => {
      const file = join(bench.project, "deep/er/new.lua");
      const content = 'return "grüße 🦊"\n';
      const write = { tool: "Write", input: { file_path: file, content } };
      bench.model.script([[write], [{ text: "Done." }]]);
      await bench.claude.prompt("Write a new file");
      await shown(content);
      expect(existsSync(join(bench.project, "deep"))).toBe(false);
      await bench.neovim.terminal.press("Enter");
      expect(newsText(await received(CREATED))).not.toContain(MODIFIED);
      expect(await onDisk(file)).toBe(content);
    },
    CASE_MS,
  );

  test(
    "two edits in one turn come one after the other",
    async () => {
      const text = await onDisk();
      const first = text.replace('"three"', '"four"');
      const second = first.replace("local M = {}", "local M = { 1 }");
      const edits = [
        ...edit(main, '"three"', '"four"'),
        ...edit(main, "local M = {}", "local M = { 1 }"),
      ];
      bench.model.script([read(main), edits, [{ text: "Done." }]]);
      await bench.claude.prompt("Change both");
      for (const proposal of [first, second]) {
        await shown(proposal);
        await bench.neovim.terminal.press("Enter");
      }
      const results = toolResults(await received("updated successfully"));
      expect(results).toHaveLength(2);
      for (const result of results) expect(result).toContain(UPDATED);
      await expectWritten(second);
    },
    CASE_MS,
  );

  test(
    "saved while its diff waited: accepting takes a second time, and the CLI reads it again",
    async () => {
      const saved = (await onDisk()).replace("-- line 80", "-- saved by hand");
      await propose('"four"', '"five"');
      await writeFile(main, saved);
      await bench.neovim.terminal.waitFor("was written since");
      await bench.neovim.terminal.press("Enter");
      await bench.neovim.terminal.waitFor("then accept again");
      await bench.neovim.terminal.press("Enter");
      await received("File content has changed since it was last read");
      await bench.claude.waitForIdle();
      await expectWritten(saved);
    },
    CASE_MS,
  );

  /** After a rejection the turn ends without a request; the next prompt carries the news. */
  async function expectModelToReceive(words: string) {
    bench.model.script([[{ text: "Understood." }]]);
    await bench.claude.prompt("Go on");
    expect(newsText(await bench.model.nextRequest())).toContain(words);
    await bench.claude.waitForIdle();
  }
}
