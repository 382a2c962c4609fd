import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually";
import { BOTH_NEOVIMS, TestNeovim } from "../../support/neovim";

/*
 * What exactly is selected: text and ends, for each visual mode, while it lasts and once it was left
 * by <Esc>. Positions are 0-based; columns count UTF-16 code units; the end is just behind the last
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

interface Case {
  keys: string;
  text: string;
  start: [number, number];
  end: [number, number];
  selection?: "exclusive";
}

const CASES: Record<string, Case> = {
  "one character": { keys: "v", text: "o", start: [0, 0], end: [0, 1] },
  "a word": { keys: "wve", text: "two", start: [0, 4], end: [0, 7] },
  backwards: { keys: "wevb", text: "two", start: [0, 4], end: [0, 7] },
  "over lines": { keys: "wvjll", text: "two three\n\tfu", start: [0, 4], end: [1, 3] },
  "to the line end, which is not counted": {
    keys: "wv$",
    text: "two three",
    start: [0, 4],
    end: [0, 13],
  },
  "multibyte: the last one whole": { keys: "3Gve", text: "grüße", start: [2, 0], end: [2, 5] },
  "a surrogate pair": { keys: "3Gwv", text: "🦊", start: [2, 6], end: [2, 8] },
  "behind a surrogate pair": { keys: "3Gwwve", text: "fox", start: [2, 9], end: [2, 12] },
  "a combining accent goes with its letter": {
    keys: "5Gve",
    text: "cafe\u0301",
    start: [4, 0],
    end: [4, 5],
  },
  "from an empty line": { keys: "4Gvj", text: "\nc", start: [3, 0], end: [4, 1] },
  "one line": { keys: "wV", text: "one two three", start: [0, 0], end: [0, 13] },
  lines: {
    keys: "2GVj",
    text: "\tfunction()\ngrüße 🦊 fox",
    start: [1, 0],
    end: [2, 12],
  },
  "lines, the last one empty": {
    keys: "3GVj",
    text: "grüße 🦊 fox\n\n",
    start: [2, 0],
    end: [4, 0],
  },
  "an empty line": { keys: "4GV", text: "\n", start: [3, 0], end: [4, 0] },
  "lines upwards": {
    keys: "2GVk",
    text: "one two three\n\tfunction()",
    start: [0, 0],
    end: [1, 11],
  },
  "up to the last line": {
    keys: "6GVG",
    text: "short\nthe last line",
    start: [5, 0],
    end: [6, 13],
  },
  "the whole buffer": {
    keys: "ggVG",
    text: TEXT.join("\n"),
    start: [0, 0],
    end: [6, 13],
  },
  "a block": { keys: "5G<C-v>jll", text: "caf\nsho", start: [4, 0], end: [5, 3] },
  "a block from its lower left corner": {
    keys: "6G<C-v>kll",
    text: "caf\nsho",
    start: [4, 0],
    end: [5, 3],
  },
  "a block from its upper right corner": {
    keys: "5Gll<C-v>jhh",
    text: "caf\nsho",
    start: [4, 0],
    end: [5, 3],
  },
  "a block to the line ends": {
    keys: "6G2l<C-v>j$",
    text: "ort\ne last line",
    start: [5, 2],
    end: [6, 13],
  },
  "a block to the line ends, the last one shorter": {
    keys: "1G4l<C-v>2j$",
    text: "two three\n    function()\ne 🦊 fox",
    start: [0, 4],
    end: [2, 12],
  },
  "a block over multibyte text": {
    keys: "3Gl<C-v>2jl",
    text: "rü\n\naf",
    start: [2, 1],
    end: [4, 3],
  },
  "a block ending in a surrogate pair": {
    keys: "gg4l<C-v>2j2l",
    text: "two \n    \ne 🦊",
    start: [0, 4],
    end: [2, 8],
  },
  "a block over a shorter line": {
    keys: "5G9l<C-v>2jl",
    text: "ai\n\nli",
    start: [4, 10],
    end: [6, 11],
  },
  "select mode": {
    keys: "wgh<S-Right>",
    text: "two t",
    start: [0, 4],
    end: [0, 9],
  },
  "exclusive: the last one is not selected": {
    keys: "wvl",
    text: "t",
    start: [0, 4],
    end: [0, 5],
    selection: "exclusive",
  },
  "exclusive, block": {
    keys: "5G<C-v>jll",
    text: "ca\nsh",
    start: [4, 0],
    end: [5, 2],
    selection: "exclusive",
  },
  "exclusive, lines": {
    keys: "6GV",
    text: "short",
    start: [5, 0],
    end: [5, 5],
    selection: "exclusive",
  },
};

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

  test.each(Object.entries(CASES))("%s", async (_name, wanted) => {
    await neovim.command(`set selection=${wanted.selection ?? "inclusive"}`);
    await neovim.type(`<Esc><Esc>gg0${wanted.keys}`);
    const expected = {
      path: file,
      text: wanted.text,
      start: { line: wanted.start[0], character: wanted.start[1] },
      end: { line: wanted.end[0], character: wanted.end[1] },
      empty: false,
    };
    expect(await selected()).toMatchObject(expected);
    await neovim.type("<Esc>");
    await eventually("normal mode", async () => (await neovim.api.mode).mode === "n");
    expect(await selected()).toMatchObject(expected);
    await neovim.type("gg0l");
    expect(await selected()).toMatchObject({ text: "", empty: true, mode: "n" });
  });
});
