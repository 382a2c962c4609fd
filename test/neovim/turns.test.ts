import { NEOVIMS, outcomeOf, TestNeovim } from "#test";
import { NeovimRpc } from "../../src/neovim/rpc";

const AT_ONCE = 16;

async function connect(neovim: TestNeovim): Promise<NeovimRpc> {
  return NeovimRpc.connect(await neovim.lua<string>("return vim.v.servername"));
}

test.each(NEOVIMS)("drops a request to $name that is overdue before its turn", async (version) => {
  await using neovim = await TestNeovim.start({ version, setup: false });
  const rpc = await connect(neovim);
  await neovim.lua("_G.ran = {}");

  const busy = Array.from({ length: AT_ONCE }, () =>
    rpc.request("nvim_exec_lua", [
      "if not _G.slept then _G.slept = true vim.uv.sleep(300) end",
      [],
    ]),
  );
  const late = rpc.request("nvim_exec_lua", ["table.insert(_G.ran, 'late')", []], 50);
  const patient = rpc.request("nvim_exec_lua", ["table.insert(_G.ran, 'patient')", []]);

  expect(await outcomeOf(late)).toThrow("did not answer within 50 ms");
  await Promise.all([...busy, patient]);
  expect(await neovim.lua<string[]>("return _G.ran")).toEqual(["patient"]);
  rpc.close();
});
