import { writeFileSync } from "node:fs";
import { BOTH_NEOVIMS, eventually, TestNeovim } from "#test";
import { join } from "../../../src/lib/platform";

/*
 * The exact selection: text and ends, for each visual mode, while it lasts and once it was left
 * by <Esc>. Positions are 0-based; columns count UTF-16 code units; the end is just after the last
 * selected character.
 */
const TEXT = [
  "one two three", // 1
  "\tfunction()", // 2
  "grüße 🦊 fox", // 3
  "", // 4
  "cafe\u0301 au lait", // 5: e with a combining accent
  "short", // 6
  "the last line", // 7
];

type Place = [line: number, column: number];
type Case = [
  name: string,
  keys: string,
  text: string,
  from: Place,
  to: Place,
  selection?: "exclusive",
];

const CASES: Case[] = [
  ["one character", "v", "o", [0, 0], [0, 1]],
  ["a word", "wve", "two", [0, 4], [0, 7]],
  ["backwards", "wevb", "two", [0, 4], [0, 7]],
  ["over lines", "wvjll", "two three\n\tfu", [0, 4], [1, 3]],
  ["to the line end, which is not counted", "wv$", "two three", [0, 4], [0, 13]],
  ["multibyte: the last one whole", "3Gve", "grüße", [2, 0], [2, 5]],
  ["a surrogate pair", "3Gwv", "🦊", [2, 6], [2, 8]],
  ["after a surrogate pair", "3Gwwve", "fox", [2, 9], [2, 12]],
  ["a combining accent goes with its letter", "5Gve", "cafe\u0301", [4, 0], [4, 5]],
  ["from an empty line", "4Gvj", "\nc", [3, 0], [4, 1]],
  ["one line", "wV", "one two three", [0, 0], [0, 13]],
  ["lines", "2GVj", "\tfunction()\ngrüße 🦊 fox", [1, 0], [2, 12]],
  ["lines, the last one empty", "3GVj", "grüße 🦊 fox\n\n", [2, 0], [4, 0]],
  ["an empty line", "4GV", "\n", [3, 0], [4, 0]],
  ["lines upwards", "2GVk", "one two three\n\tfunction()", [0, 0], [1, 11]],
  ["up to the last line", "6GVG", "short\nthe last line", [5, 0], [6, 13]],
  ["the whole buffer", "ggVG", TEXT.join("\n"), [0, 0], [6, 13]],
  ["a block", "5G<C-v>jll", "caf\nsho", [4, 0], [5, 3]],
  ["a block from its lower left corner", "6G<C-v>kll", "caf\nsho", [4, 0], [5, 3]],
  ["a block from its upper right corner", "5Gll<C-v>jhh", "caf\nsho", [4, 0], [5, 3]],
  ["a block to the line ends", "6G2l<C-v>j$", "ort\ne last line", [5, 2], [6, 13]],
  [
    "a block to the line ends, the last one shorter",
    "1G4l<C-v>2j$",
    "two three\n    function()\ne 🦊 fox",
    [0, 4],
    [2, 12],
  ],
  ["a block over multibyte text", "3Gl<C-v>2jl", "rü\n\naf", [2, 1], [4, 3]],
  ["a block ending in a surrogate pair", "gg4l<C-v>2j2l", "two \n    \ne 🦊", [0, 4], [2, 8]],
  ["a block over a shorter line", "5G9l<C-v>2jl", "ai\n\nli", [4, 10], [6, 11]],
  ["select mode", "wgh<S-Right>", "two t", [0, 4], [0, 9]],
  ["exclusive: the last one is not selected", "wvl", "t", [0, 4], [0, 5], "exclusive"],
  ["exclusive, block", "5G<C-v>jll", "ca\nsh", [4, 0], [5, 2], "exclusive"],
  ["exclusive, lines", "6GV", "short", [5, 0], [5, 5], "exclusive"],
];

describe.each(BOTH_NEOVIMS)("$name", (version) => {
  let neovim: TestNeovim;
  let file: string;

  beforeAll(async () => {
    neovim = await TestNeovim.start({ version });
    file = join(neovim.cwd, "text.txt");
    writeFileSync(file, `${TEXT.join("\n")}\n`);
    await neovim.command(`edit ${file}`);
    await eventually("the executable at work", async () => (await selected()) !== undefined);
  });
  afterAll(() => neovim[Symbol.asyncDispose]());

  const selected = async () => {
    const answer = await neovim.lua<{ value?: Record<string, unknown> }>(
      `return require("port").dispatcher.call("selection", {})`,
    );
    return answer.value;
  };

  test.each(CASES)("%s", async (_name, keys, text, from, to, selection = undefined) => {
    await neovim.command(`set selection=${selection ?? "inclusive"}`);
    await neovim.type(`<Esc><Esc>gg0${keys}`);
    const at = ([line, character]: Place) => ({ line, character });
    const expected = { path: file, text, start: at(from), end: at(to), empty: false };
    expect(await selected()).toMatchObject(expected);
    await neovim.type("<Esc>");
    await eventually("normal mode", async () => (await neovim.api.mode).mode === "n");
    expect(await selected()).toMatchObject(expected);
    await neovim.type("gg0l");
    expect(await selected()).toMatchObject({ text: "", empty: true, mode: "n" });
  });
});
