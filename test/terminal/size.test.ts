import { eventually, NEOVIMS, perBlock } from "#test";
import {
  configure,
  ECHO,
  LATER,
  openEcho,
  reset,
  resize,
  SCREEN,
  startNeovim,
  terminalText,
  windows,
} from "./workbench";

describe.each(NEOVIMS)("the size of Claude's terminal in $name", (version) => {
  const neovim = perBlock(() =>
    startNeovim(version, `{ terminal = { command = ${ECHO}, position = "right" } }`),
  );
  afterEach(async () => {
    await reset(neovim);
    await resize(neovim, SCREEN.width, SCREEN.height);
    await configure(neovim, `{ command = ${ECHO}, position = "right" }`);
    // The next test does not inherit the size that the user chose.
    await neovim.lua(`
      require("port").unload("window")
      require("port").unload("native_terminal")`);
  });

  const open = () => openEcho(neovim);

  const toggle = async () => {
    await neovim.command("Claude");
    await neovim.command("Claude");
    await neovim.inMode("t");
  };

  /** Columns or lines, in the order of the windows; the terminal's are negative. */
  const sizes = async (of: "width" | "height" = "width") =>
    (await windows(neovim)).map((one) => (one.terminal ? -one[of] : one[of]));

  test("makes the program redraw even if it changes only for a moment", async () => {
    // Neovim has lost a row, and the program gets no signal for the size that it has.
    const row = 'i=$((i + 1)); printf "\\033[$i;1H\\033[Krow$i of drawing $n."';
    const draw = `n=$((n + 1)); i=0; while [ $i -lt $(stty size | cut -d" " -f1) ]; do ${row}; done`;
    const program = `${LATER} draw() { ${draw}; }; trap draw WINCH; draw; sleep 600 & while :; do wait; done`;
    await configure(neovim, `{ command = { "sh", "-c", [[${program}]] }, position = "right" }`);
    await neovim.command("Claude");
    /** The number of the drawing that fills the terminal. */
    const drawn = async () => {
      const text = await terminalText(neovim);
      const n = Number(/ (\d+)\.$/.exec(text)?.[1]);
      const row = (_: unknown, i: number) => `row${i + 1} of drawing ${n}.`;
      return text === Array.from({ length: SCREEN.height - 2 }, row).join("\n") ? n : 0;
    };
    await eventually("all rows", async () => (await drawn()) === 1);
    await neovim.command("wincmd p");
    await neovim.command("tabnew");
    await neovim.command("tabclose");
    await eventually("all rows again", async () => (await drawn()) > 1);
  });

  const greedy: [position: "right" | "bottom", command: string, sizes: number[]][] = [
    ["right", "vertical resize 118", [10, -109]],
    ["bottom", "resize 26", [3, -24]],
  ];
  test.each(greedy)(
    "leaves room for other windows when the user resizes it at the %s",
    async (...row) => {
      const [position, command, expected] = row;
      await configure(neovim, `{ command = ${ECHO}, position = "${position}" }`);
      await open();
      await neovim.command(command);
      await toggle();
      expect(await sizes(position === "right" ? "width" : "height")).toEqual(expected);
    },
  );

  const shares: [position: string, split: string, options: string, during: number[]][] = [
    ["right", "vsplit", "equalalways", [38, 37, -43]],
    ["left", "vsplit", "equalalways", [-43, 38, 37]],
    ["right", "vsplit", "equalalways eadirection=hor", [38, 37, -43]],
    ["right", "vsplit", "equalalways eadirection=ver", [60, 15, -43]],
    ["right", "vsplit", "noequalalways", [60, 15, -43]],
    ["bottom", "split", "equalalways", [8, 8, -10]],
    ["bottom", "split", "noequalalways", [14, 2, -10]],
    ["top", "split", "noequalalways", [-10, 3, 13]],
  ];
  test.each(shares)("takes its share at the %s from windows of a %s: %s", async (...row) => {
    const [position, split, options, during] = row;
    const direction = split === "split" ? "height" : "width";
    await neovim.command(split);
    const before = await sizes(direction);
    await neovim.command(`set ${options}`);
    await configure(neovim, `{ command = ${ECHO}, position = "${position}" }`);
    await open();
    expect(await sizes(direction)).toEqual(during);
    expect(await neovim.lua("return vim.o.equalalways")).toBe(!options.startsWith("no"));
    await neovim.command("Claude");
    await eventually("the old sizes", async () => expect(await sizes(direction)).toEqual(before));
    await neovim.command("set equalalways& eadirection&");
  });

  test("follows the screen, in another tab page as well", async () => {
    await open();
    await resize(neovim, 40, SCREEN.height);
    await resize(neovim, 150, SCREEN.height);
    expect(await sizes()).toEqual([95, -54]);
    await toggle();
    expect(await sizes()).toEqual([95, -54]);
    await neovim.command("tabnew");
    await resize(neovim, 40, SCREEN.height);
    await resize(neovim, 120, SCREEN.height);
    await neovim.command("tabprevious");
    expect(await sizes()).toEqual([76, -43]);
  });

  test("stays as the user set it when the screen changes", async () => {
    await open();
    await neovim.command("vertical resize 50");
    await resize(neovim, 40, SCREEN.height);
    await resize(neovim, 150, SCREEN.height);
    expect(await sizes()).toEqual([99, -50]);
    await toggle();
    expect(await sizes()).toEqual([99, -50]);
    await resize(neovim, 120, SCREEN.height);
    expect(await sizes()).toEqual([69, -50]);
  });
});
