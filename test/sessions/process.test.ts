import { type ChildProcess, spawn } from "node:child_process";
import { eventually } from "#test";
import { placeOf, programsByPs } from "../../src/sessions/place";

let parent: ChildProcess;
afterEach(() => parent.kill("SIGKILL"));

/** Runs a shell that prints its child's process id. */
async function childOf(script: string): Promise<number> {
  parent = spawn("sh", ["-c", script]);
  return Number(await new Promise((resolve) => parent.stdout?.once("data", resolve)));
}

test("ps says of a process what /proc says", async () => {
  const child = await childOf("sleep 60 & echo $!; wait");
  // Between fork and exec it is a shell, too.
  await eventually("its program", () => programsByPs().get(child)?.name === "sleep");
  const shell = parent.pid as number;
  expect(placeOf(child, process.pid)).toEqual({ where: "here", ancestors: [child, shell] });
  expect(placeOf(child, 0).where).toBe("outside");
  expect(programsByPs().get(child)?.parent).toBe(shell);
  expect(programsByPs().get(shell)).toEqual({ parent: process.pid, name: "sh" });
  process.kill(child);
});
