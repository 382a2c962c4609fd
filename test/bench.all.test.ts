import { join } from "node:path";
import { ROOT } from "#test";

/** Measures ours once more as another plugin, when everything that measuring needs is already loaded. */
const PEER = ["--name", "peer", "--runtimepath", ROOT, "--setup", 'require("claude-code").setup()'];

test("the bench measures us and another plugin beside the floors", async () => {
  const program = join(ROOT, "bench/main.ts");
  const only = ["startup", "cursor", "round-trips", "diff"].flatMap((name) => ["--only", name]);
  const bench = Bun.spawn([process.execPath, program, "--quick", ...only, ...PEER], {
    stderr: "pipe",
  });
  const [text, complaints] = await Promise.all([
    new Response(bench.stdout).text(),
    new Response(bench.stderr).text(),
  ]);
  expect(await bench.exited, complaints).toBe(0);
  const rows = text.split("\n").filter((line) => line.startsWith("|"));
  const [head = [], , ...figures] = rows.map((row) => row.split("|").map((cell) => cell.trim()));
  expect(head.filter((cell) => /claude|peer/.test(cell))).toEqual(["claude-code.nvim", "peer"]);
  expect(figures.map(([, title]) => title)).toContain("getOpenEditors, 200 buffers, p50");
  for (const [, title, floor, ours, , target, verdict, theirs] of figures) {
    // A difference of two times, as the cursor's floor is, may be lost in noise, even below 0.
    for (const cell of [floor, ours, theirs]) expect(cell, title).toMatch(/^-?\d.* (ms|µs|MB)$/);
    if (target) expect(verdict, title).toMatch(/^(met|MISSED)$/);
  }
}, 180_000);
