import { eventually, NEWEST, perBlock, TestNeovim } from "#test";
import { isAlive } from "../../src/lib/process";

describe("a process", () => {
  const neovim = perBlock(() => TestNeovim.start({ version: NEWEST, setup: false }));
  const isAliveInLua = (pid: number) =>
    neovim.lua<boolean>("return require('port').programs.is_alive(...)", pid);

  test("that has ended is not alive, even before its parent waits for it", async () => {
    const script = "sleep 0.1 & echo $!; exec sleep 1000";
    const parent = Bun.spawn(["sh", "-c", script], { stdout: "pipe" });
    try {
      const { value } = await parent.stdout.getReader().read();
      const pid = Number(new TextDecoder().decode(value));
      await eventually("the end", () => !isAlive(pid));
      expect(Bun.spawnSync(["ps", "-o", "stat=", "-p", `${pid}`]).stdout.toString()).toStartWith(
        "Z",
      );
      expect([await isAliveInLua(pid), await isAliveInLua(parent.pid)]).toEqual([false, true]);
      expect(isAlive(parent.pid)).toBe(true);
    } finally {
      parent.kill("SIGKILL");
    }
  });
});
