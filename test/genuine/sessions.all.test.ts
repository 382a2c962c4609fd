import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Claude } from "../support/claude";
import { Model } from "../support/model";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { NEWEST } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { type Bench, startBench } from "./bench";
import { eventually } from "./eventually";
import type { Layout } from "./neovim";

/*
 * Two genuine CLIs (Claude Code 2.1.330) in one Neovim, each with a model of its own. Only the newest
 * Neovim: how a diff looks and behaves in each is the subject of test/editor/diff.
 */
/** Of an edit "… proposed changes before accepting them", of a write "… content before accepting it". */
const MODIFIED = /The user modified your proposed (changes|content) before accepting/;

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`);
const TEXT = `${LINES.join("\n")}\n`;

requireNamespace();
describe("two sessions", twoSessions);

function twoSessions() {
  let bench: Bench;
  let second: { claude: Claude; model: Model };
  let before: Layout;

  beforeAll(async () => {
    bench = await startBench(NEWEST, { "a.txt": TEXT, "b.txt": TEXT });
    const model = new Model();
    const { project, home, lock } = bench;
    const claude = await Claude.start({ project, home, model, port: lock.port, further: "b.log" });
    second = { claude, model };
    await claude.waitForEditor();
  });

  afterAll(async () => {
    await second?.claude.close();
    second?.model.stop();
    await bench?.dispose();
  });

  beforeEach(async () => {
    await bench.claude.recover();
    for (const name of ["a.txt", "b.txt"]) await writeFile(file(name), TEXT);
    await bench.neovim.lua("vim.cmd.checktime() return true");
    before = await bench.neovim.layout();
  });

  const file = (name: string) => join(bench.project, name);
  const onDisk = (name: string) => readFile(file(name), "utf8");

  /** What stands above the diff, as drawn. */
  const bar = () =>
    bench.neovim.lua<string>(
      "return vim.api.nvim_eval_statusline(vim.wo.winbar, { use_winbar = true, winid = vim.api.nvim_get_current_win() }).str",
    );
  const showing = (words: RegExp) => eventually(async () => words.test(await bar()), true, 30_000);

  async function propose(who: { claude: Claude; model: Model }, name: string, news: string[]) {
    const edits = news.flatMap((line) => edit(file(name), `${line}\n`, `${line.toUpperCase()}\n`));
    who.model.script([read(file(name)), edits, say("Done.")]);
    await who.claude.prompt(`Change ${name}`);
  }

  test("edits of both wait in a row; each receives its own answers alone", async () => {
    const { neovim } = bench;
    await propose(bench, "a.txt", ["line 3"]);
    await showing(/ a\.txt .*hunk 1\/1/);
    await propose(second, "b.txt", ["line 7"]);
    await showing(/\[1\/2\] a\.txt/);
    await neovim.terminal.type("]f");
    await showing(/\[2\/2\] b\.txt/);
    await neovim.terminal.press("Enter");
    const received = newsText(
      await second.model.nextRequest((r) => newsText(r).includes("updated")),
    );
    expect(received).not.toMatch(MODIFIED);
    await eventually(() => onDisk("b.txt"), TEXT.replace("line 7\n", "LINE 7\n"));
    await showing(/\[1\/2\] a\.txt/);
    expect(await onDisk("a.txt")).toBe(TEXT);
    await neovim.terminal.press("q");
    await bench.claude.waitForIdle();
    expect(await onDisk("a.txt")).toBe(TEXT);
    await eventually(() => neovim.layout(), before);
  });

  test("a prompt to one leaves the other's diff alone", async () => {
    await propose(bench, "a.txt", ["line 3"]);
    await showing(/ a\.txt .*hunk 1\/1/);
    second.model.script([say("Hello, human.")]);
    await second.claude.prompt("Hello");
    await second.claude.terminal.waitFor("Hello, human.");
    await second.claude.waitForIdle();
    await showing(/ a\.txt .*hunk 1\/1/);
    await bench.neovim.terminal.press("Enter");
    await eventually(() => onDisk("a.txt"), TEXT.replace("line 3\n", "LINE 3\n"));
    await eventually(() => bench.neovim.layout(), before);
  });

  test("one hunk of an edit dropped: the CLI writes the rest, to the byte", async () => {
    bench.model.script([
      read(file("a.txt")),
      [{ tool: "Write", input: { file_path: file("a.txt"), content: changed(3, 12, 25) } }],
      say("Done."),
    ]);
    await bench.claude.prompt("Change three lines");
    await showing(/hunk 1\/3/);
    await bench.neovim.terminal.type("]cgr");
    await showing(/hunk 2\/2/);
    await bench.neovim.terminal.press("Enter");
    const received = newsText(
      await bench.model.nextRequest((r) => newsText(r).includes("updated")),
    );
    expect(received).toMatch(MODIFIED);
    await eventually(() => onDisk("a.txt"), changed(3, 25));
    await eventually(() => bench.neovim.layout(), before);
  });

  test("one dies while both wait: its diff goes, the other's is answered", async () => {
    await propose(second, "b.txt", ["line 7"]);
    await showing(/ b\.txt .*hunk 1\/1/);
    await propose(bench, "a.txt", ["line 3"]);
    await showing(/\[1\/2\] b\.txt/);
    await second.claude.close();
    await showing(/\[2\/2\] a\.txt/);
    await bench.neovim.terminal.press("Enter");
    await eventually(() => onDisk("a.txt"), TEXT.replace("line 3\n", "LINE 3\n"));
    expect(await onDisk("b.txt")).toBe(TEXT);
    await eventually(() => bench.neovim.layout(), before);
  });
}

function changed(...numbers: number[]): string {
  const lines = LINES.map((line, i) => (numbers.includes(i + 1) ? line.toUpperCase() : line));
  return `${lines.join("\n")}\n`;
}
