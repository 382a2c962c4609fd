import { expect, test } from "bun:test";
import { eventually } from "../support/eventually";
import { NEOVIMS, TestNeovim } from "../support/neovim";

/** An object that nobody holds, and the collection. */
const WASTE = `
  _G.waste = setmetatable({ {} }, { __mode = "v" })
  require("port").slices.collect_garbage()`;

const STILL_THERE = "return _G.waste[1] ~= nil";

test.each(NEOVIMS)("garbage is collected a slice at a time in $name", async (version) => {
  await using neovim = await TestNeovim.start({ version, setup: false });
  await neovim.lua(WASTE);
  await eventually("the collection", async () => expect(await neovim.lua(STILL_THERE)).toBe(false));
});

test.each(NEOVIMS)(
  "where a configuration stopped that in $name, nothing is done",
  async (version) => {
    await using neovim = await TestNeovim.start({ version, setup: false });
    await neovim.lua('collectgarbage("stop")');
    await neovim.lua(WASTE);
    const kilobytes = () => neovim.lua<number>('return collectgarbage("count")');
    const before = await kilobytes();
    await Bun.sleep(100);
    expect(await neovim.lua<boolean>(STILL_THERE)).toBe(true);
    expect((await kilobytes()) - before).toBeLessThan(1_000);
  },
);
