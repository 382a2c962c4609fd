import { eventually, NEWEST, TestNeovim } from "#test";
import { isAlive } from "../../src/lib/process";

test("a process that has ended is not alive, even before its parent waits for it", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST, setup: false });
  const script = "sleep 0.1 & echo $!; exec sleep 1000";
  const parent = Bun.spawn(["sh", "-c", script], { stdout: "pipe" });
  const { value } = await parent.stdout.getReader().read();
  const pid = Number(new TextDecoder().decode(value));
  await eventually("the end", () => !isAlive(pid));
  expect(Bun.spawnSync(["ps", "-o", "stat=", "-p", `${pid}`]).stdout.toString()).toStartWith("Z");
  const inLua = "return vim.tbl_map(require('port').programs.is_alive, ...)";
  expect(await neovim.lua(inLua, [pid, parent.pid])).toEqual([false, true]);
  expect(isAlive(parent.pid)).toBe(true);
  parent.kill("SIGKILL");
});
