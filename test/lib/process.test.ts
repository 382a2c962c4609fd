import { eventually } from "#test";
import { isAlive } from "../../src/lib/process";

test("a process that has ended does not run, also while its parent does not wait for it", async () => {
  await using parent = Bun.spawn(["sh", "-c", "sleep 0.1 & echo $!; exec sleep 30"], {
    stdout: "pipe",
  });
  const { value } = await parent.stdout.getReader().read();
  const child = Number(new TextDecoder().decode(value));
  await eventually("the end", () => !isAlive(child));
  expect(isAlive(parent.pid)).toBe(true);
});
