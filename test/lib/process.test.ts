import { join } from "node:path";
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

test("a process knows when it was started, also if the program was loaded late", async () => {
  const module = join(import.meta.dir, "../../src/lib/process");
  const program = `import { startedAt } from ${JSON.stringify(module)};
    console.log(Math.round(startedAt()), Math.round(performance.timeOrigin));`;
  const before = Date.now();
  await using late = Bun.spawn(
    ["sh", "-c", 'sleep 0.5; exec "$0" -e "$1"', process.execPath, program],
    { stdout: "pipe" },
  );
  const [started = 0, loaded = 0] = (await new Response(late.stdout).text()).split(" ").map(Number);
  // Elsewhere it is when the program was loaded.
  if (process.platform !== "linux") return expect(started).toBe(loaded);
  // It is known to 10 ms.
  expect(started).toBeGreaterThanOrEqual(before - 20);
  expect(loaded - started).toBeGreaterThanOrEqual(480);
});
