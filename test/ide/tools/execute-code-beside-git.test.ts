import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCode } from "../../../src/ide/tools/execute-code/run";
import { command, Git } from "../../../src/review/git/run";
import { temporaryFolder } from "../../support/neovim";

test("the end of a run leaves a git of the review alone", async () => {
  const folder = temporaryFolder();
  const path = process.env.PATH;
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/git"), "#!/bin/sh\nsleep 0.5\necho done\n");
  chmodSync(join(folder, "bin/git"), 0o755);
  process.env.PATH = `${join(folder, "bin")}:${path}`;
  try {
    const git = Git.in(folder)?.run(command(["status"]));
    await Bun.sleep(100);
    const { signal } = new AbortController();
    const limits = { cwd: folder, timeoutMs: 10_000, maxOutputBytes: 100, signal };
    const run = await runCode("exit 3", { command: ["/bin/sh"], ...limits });
    expect(run.exitCode).toBe(3);
    expect(await git).toMatchObject({ code: 0, stdout: Buffer.from("done\n") });
  } finally {
    process.env.PATH = path;
    rmSync(folder, { recursive: true });
  }
});
