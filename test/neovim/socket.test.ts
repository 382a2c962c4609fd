import { NEWEST, outcomeOf, TestNeovim } from "#test";
import { NeovimRpc } from "../../src/neovim/rpc";

/** More than the system buffers for a reader that does not read. */
const LARGE = "x".repeat(4 * 1024 * 1024);

test("delivers messages whole and in order once a busy Neovim takes them", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST, setup: false });
  const rpc = await NeovimRpc.connect(await neovim.lua<string>("return vim.v.servername"));
  const exec = (code: string, ...args: unknown[]) => rpc.request("nvim_exec_lua", [code, args]);
  const note = "TAKEN = TAKEN or {} table.insert(TAKEN, #(...))";
  await Promise.all([
    exec("vim.uv.sleep(300)"),
    exec(note, LARGE),
    exec(note, "small"),
    exec(note, LARGE),
  ]);
  expect(await exec("return TAKEN")).toEqual([LARGE.length, 5, LARGE.length]);
  expect(await exec("return ...", LARGE)).toBe(LARGE);
  rpc.close();
});

test("rejects what Neovim has not answered when it ends", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST, setup: false });
  const rpc = await NeovimRpc.connect(await neovim.lua<string>("return vim.v.servername"));
  const unanswered = rpc.request("nvim_exec_lua", ["vim.uv.sleep(5000)", []]);
  neovim.process.kill("SIGKILL");
  expect(await outcomeOf(unanswered)).toThrow("Neovim is gone");
  expect(rpc.closed).toBe(true);
  expect(await outcomeOf(rpc.request("nvim_get_mode", []))).toThrow("Neovim is gone");
});
