import { type ChildProcess, spawn } from "node:child_process";
import { eventually, NEWEST, TestNeovim } from "#test";
import { isAlive } from "../../src/lib/process";
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

test("a process that has ended does not run, also while its parent does not wait for it", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST, setup: "{ auto_start = false }" });
  const child = await childOf("sleep 0.1 & echo $!; exec sleep 60");
  const isKnown = () => neovim.lua<boolean>(`return require("port").programs.is_alive(...)`, child);
  await eventually("its end", async () => !isAlive(child) && !(await isKnown()));
  expect(isAlive(parent.pid as number)).toBe(true);
});
