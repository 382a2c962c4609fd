import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Report } from "../bench/report";
import { ROOT } from "./support/neovim";

/** Ours once more as another plugin: what it takes to measure one is then there. */
const PEER = ["--name", "peer", "--runtimepath", ROOT, "--setup", 'require("claude-code").setup()'];

test("the bench measures us and another plugin beside the floors", async () => {
  const program = join(ROOT, "bench/main.ts");
  const only = ["startup", "cursor", "round-trips", "diff"].flatMap((name) => ["--only", name]);
  const bench = Bun.spawn([process.execPath, program, "--quick", "--json", ...only, ...PEER], {
    stderr: "pipe",
  });
  const [text, complaints] = await Promise.all([
    new Response(bench.stdout).text(),
    new Response(bench.stderr).text(),
  ]);
  expect(await bench.exited, complaints).toBe(0);
  const report = JSON.parse(text) as Report;
  expect(report.subjects).toEqual(["claude-code.nvim", "peer"]);
  const ids = report.lines.map(({ id }) => id);
  expect(ids).toContain("editors-p50");
  for (const line of report.lines) {
    expect(Object.keys(line.values), line.id).toEqual(report.subjects);
    // A difference of two times, as the cursor's floor is, may be lost in noise, even below 0.
    expect(Number.isFinite(line.floor), line.id).toBe(true);
    if (line.target !== undefined) expect(line.met, line.id).toBeBoolean();
  }
}, 180_000);
