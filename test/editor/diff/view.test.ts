import { describe, expect, test } from "bun:test";
import { claims } from "../../support/claims";
import { eventually } from "../../support/eventually";
import { NEOVIMS } from "../../support/toolchain";
import { openDiff } from "../attached";
import { desk } from "../desk";

/* Diffs as a user sees them: Neovim in a terminal, a client at the executable's socket. */
const OLD = Array.from({ length: 40 }, (_, i) => `line ${i + 1};\n`).join("");
const NEW = OLD.replace("line 10;", "LINE 10;")
  .replace("line 20;\n", "")
  .replace("line 30;", "LINE 30;");

test.each(NEOVIMS)(
  "an auto-save plugin that writes everything accepts nothing, in $name",
  async (version) => {
    claims("Only you accept an edit");
    await using d = await desk({ version, columns: 150, rows: 44 }, OLD);
    const { neovim, client, main } = d;
    const { terminal } = neovim;
    await neovim.lua(`
    _G.saves = 0
    _G.saver = vim.uv.new_timer()
    saver:start(0, 20, vim.schedule_wrap(function() saves = saves + 1 vim.cmd("silent! wall") end))
    return true`);
    const saves = () => neovim.lua<number>("return saves");
    for (const layout of ["vertical", "inline"]) {
      await neovim.lua(
        `require("port").config.setup({ diff = { layout = "${layout}" } }) return true`,
      );
      const answer = openDiff(client, main, NEW);
      await terminal.waitFor("hunk 1/3");
      await terminal.type("GAmine");
      await terminal.press("Escape");
      const enough = (await saves()) + 5;
      await eventually("five saves", async () => (await saves()) > enough);
      await terminal.waitFor("hunk");
      await terminal.press("Enter");
      expect(await answer).toEqual(["FILE_SAVED", NEW.replace("line 40;", "line 40;mine")]);
    }
  },
);

describe.each(NEOVIMS)("in a narrow terminal, $name", (version) => {
  test("a diff comes inline, and says how to accept it", async () => {
    await using d = await desk({ version, columns: 52, rows: 44 }, OLD);
    const { neovim, client, main } = d;
    const { terminal } = neovim;
    const answer = openDiff(client, main, NEW);
    const wanted = [/\bline 10;[^\n]*\n[^\n]*\bLINE 10;/, /<CR> accept$/m];
    const isRight = (screen: string) => wanted.every((part) => part.test(screen));
    await terminal.waitUntil(isRight, `${wanted.join(", ")}`);
    await terminal.type("ga");
    await terminal.waitFor(/hunk 2\/3 .*<CR> accept 1 of 3 hunks$/m);
    await terminal.press("Enter");
    expect(await answer).toEqual(["FILE_SAVED", OLD.replace("line 10;", "LINE 10;")]);
  });
});

/** What the bars show in two windows side by side, by the columns of the screen. */
const widths: [columns: number, bars: RegExp][] = [
  [91, /^ main\.txt \(on disk\) +│ main\.txt {2}hunk 1\/3 .*q reject {2}<CR> accept$/],
  [
    140,
    /^ main\.txt \(on disk\) +│ main\.txt {2}hunk 1\/3 {2}\+2 −3 +ga gr {2}q reject {2}<CR> accept$/,
  ],
  [
    220,
    /│ main\.txt \(proposed\) {2}hunk 1\/3 {2}\+2 −3 +\]c \[c move {2}ga gr accept\/drop hunk {2}q reject {2}<CR> accept$/,
  ],
];
describe.each(NEOVIMS)("the bars of $name", (version) => {
  test.each(widths)("at %d columns: the key that accepts is cut last", async (columns, bars) => {
    await using d = await desk({ version, columns: columns, rows: 44 }, OLD);
    const { neovim, client, main } = d;
    const { terminal } = neovim;
    const answer = openDiff(client, main, NEW);
    const isRight = (screen: string) =>
      bars.test(
        screen
          .split("\n")
          .find((row) => row.includes("hunk 1/3"))
          ?.trimEnd() ?? "",
      );
    await terminal.waitUntil(isRight, `${bars}`);
    await terminal.type(":Claude diff reject\r");
    await answer;
  });
});
