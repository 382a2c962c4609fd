import { isolatedEnv, NEWEST, ROOT, run, temporaryFolder } from "#test";
import { join } from "../../src/lib/platform";

test("scripts/demo plays an accepted edit and a reviewed one to the end", async () => {
  const home = temporaryFolder();
  // The program that `scripts/demo` ends in; everything before it is the build, which the tests have already done.
  const { code, stdout, stderr } = await run([process.execPath, join(ROOT, "scripts/demo.ts")], {
    cwd: home,
    env: { ...isolatedEnv(home), NVIM_0_12: NEWEST.binary },
    timeout: 60_000,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const steps = [
    "Claude connects to that port",
    "<CR> in Neovim accepts it",
    ":Claude review lists every hunk",
    "gr undoes it",
    "Neovim ends",
  ];
  for (const step of steps) expect(stdout).toContain(step);
});
