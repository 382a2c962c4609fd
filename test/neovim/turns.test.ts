import { NEOVIMS, outcomeOf, TestNeovim } from "#test";
import { NeovimRpc } from "../../src/neovim/rpc";

const AT_ONCE = 16;

/** How many requests run before something else that is due in the meantime. */
const COUNT = `
  _G.ran, _G.most = 0, 0
  local function again()
    _G.most, _G.ran = math.max(_G.most, _G.ran), 0
    vim.defer_fn(again, 1)
  end
  again()
`;

async function connect(neovim: TestNeovim): Promise<NeovimRpc> {
  return NeovimRpc.connect(await neovim.lua<string>("return vim.v.servername"));
}

test.each(NEOVIMS)("lets $name do other things between many requests", async (version) => {
  await using neovim = await TestNeovim.start({ version, setup: false });
  const rpc = await connect(neovim);
  await neovim.lua(COUNT);

  const requests = Array.from({ length: 200 }, (_, index) =>
    rpc.request("nvim_exec_lua", ["vim.uv.sleep(1) _G.ran = _G.ran + 1 return ...", [index]]),
  );
  expect(await Promise.all(requests)).toEqual(requests.map((_, index) => index));

  expect(await neovim.lua<number>("return _G.most")).toBeWithin(1, 2 * AT_ONCE);
  rpc.close();
});

test.each(NEOVIMS)("never sends $name a request that is late before its turn", async (version) => {
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
