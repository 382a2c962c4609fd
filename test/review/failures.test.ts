import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import {
  ALL,
  EXECUTABLE,
  eventually,
  expectMode,
  needs,
  nightly,
  run,
  temporaryFolder,
} from "#test";
import { join } from "../../src/lib/platform";
import { isGone } from "../../src/lib/process";
import { Blobs } from "../../src/review/journal/blobs";
import { incompleteSince } from "../../src/review/journal/folder";
import { JournalReader } from "../../src/review/journal/read";
import { requestComparison } from "../../src/review/record/comparison-request";
import { inMount } from "../support/mount";
import { Recorded } from "./recorded";

/** Runs a hook under the shell's `limits`, or kills it after this many milliseconds. */
const hook = (
  world: Recorded,
  event: string,
  input: object,
  { limits = "true", ...killed }: { limits?: string; timeout?: number } = {},
) =>
  run(["sh", "-c", `${limits}; exec "$0" hook ${event}`, EXECUTABLE], {
    ...{ cwd: world.root, env: world.env, ...killed },
    stdin: new Blob([JSON.stringify(world.given(input))]),
  });

const edited = (world: Recorded, originalFile: string, use: string) => ({
  tool_name: "Edit",
  tool_use_id: use,
  tool_input: { file_path: world.path("a.txt") },
  tool_response: { originalFile },
});

describe("a full disk", () => {
  needs("a shell")("is noted, and lets Claude continue, even if it cuts off a line", async () => {
    using world = new Recorded({ "a.txt": "one\n" });
    await world.prompt();
    expect(incompleteSince(world.folder)).toBeUndefined();
    world.write("a.txt", "two\n");
    // A journal that ends just below the limit: part of the next line fits.
    await world.hook("session-end", { session_id: "x".repeat(400) });
    const limits = "trap '' XFSZ; ulimit -f 1";
    const begin = Date.now();
    const result = await hook(world, "post-tool-use", edited(world, "one\n", "u1"), { limits });
    expect(result).toEqual({ stdout: "", stderr: "", code: 0 });
    expect(incompleteSince(world.folder)).toBeGreaterThanOrEqual(Math.floor(begin / 1000) * 1000);
    expect(world.files).toEqual([]);
    // There is room again.
    world.write("a.txt", "three\n");
    await world.hook("post-tool-use", edited(world, "two\n", "u2"));
    expect(world.files).toEqual(['a.txt: "two\\n" > "three\\n"']);
  });

  test("loses nothing, and is reported by decisions and the list", async () => {
    const folder = temporaryFolder();
    const mount = join(folder, "disk");
    mkdirSync(mount);
    const bun = await inMount(mount, "size=512k", process.execPath, folder);
    if (bun === null) return;
    const program = join(import.meta.dir, "full-disk.ts");
    const { stdout, stderr } = Bun.spawnSync([bun, program, mount]);
    expect(stderr.toString()).toBe("");
    const { full, free } = JSON.parse(stdout.toString());
    expect(full).toMatchObject({
      hook: { code: 0, stdout: "", stderr: "" },
      keep: expect.stringMatching(/no space/i),
      undo: expect.stringMatching(/no space/i),
      isWhole: true,
      isReported: true,
      list: { incomplete: [expect.stringContaining("a change could not be recorded")] },
    });
    expect(full.list.files).toHaveLength(1);
    expect(free).toEqual({ undo: expect.stringContaining("decision"), isUndone: true });
  });

  needs("a shell")("lets the Stop hook answer", async () => {
    using world = new Recorded();
    const limits = "trap '' XFSZ; ulimit -f 0";
    const { stdout, code } = await hook(world, "stop", {}, { limits });
    expect({ stdout, code }).toEqual({ stdout: '{"continue":true}\n', code: 0 });
  });
});

nightly.test("leaves a readable journal if it is killed at any moment", async () => {
  using world = new Recorded({ "a.txt": "0\n", "b.txt": "0\n" });
  await world.prompt();
  const rounds = ALL ? 24 : 12;
  for (let i = 1; i <= rounds; i++) {
    const before = readFileSync(world.path("a.txt"), "utf8");
    world.write("a.txt", `${i}\n`);
    const timeout = Math.ceil((i * 60) / rounds);
    await hook(world, "post-tool-use", edited(world, before, `u${i}`), { timeout });
    const call = { tool_name: "Bash", tool_use_id: `b${i}`, tool_input: { command: `${i}` } };
    await hook(world, "pre-tool-use", call);
    world.write("b.txt", `${i}\n`);
    await hook(
      world,
      "post-tool-use-failure",
      { ...call, error: "x", duration_ms: 1 },
      { timeout },
    );
    await killComparison(world);
  }
  await world.stop();

  const reader = new JournalReader(world.folder);
  const { records } = reader.read();
  expect(reader.damaged).toBe(0);
  const blobs = new Blobs(world.folder);
  const hashes = JSON.stringify(records).matchAll(/"blob":"([0-9a-f]{64})"/g);
  for (const [, hash] of hashes) expect(blobs.get(hash as string)).toBeDefined();
  // Nothing that Bash did is lost: each change begins where the previous one ended.
  const texts = world.files
    .filter((line) => line.startsWith("b.txt: "))
    .map((line) => line.slice(7));
  expect(texts.at(0)).toStartWith('"0\\n" >');
  expect(texts.at(-1)).toEndWith(`> "${rounds}\\n"`);
  texts.reduce((last, text) => {
    expect(text.split(" > ")[0]).toBe(last.split(" > ")[1] as string);
    return text;
  });
  expect(readdirSync(world.folder).filter((name) => name.endsWith(".lock"))).toEqual([]);
  expectMode(join(world.folder, "journal.jsonl"), 0o600);
});

/** The process that holds the lock, by the lock. No one can take the lock over until it is gone. */
async function killComparison(world: Recorded): Promise<void> {
  try {
    const pid = Number(readFileSync(join(world.folder, "compare.lock"), "utf8").split(" ")[0]);
    if (pid > 1) process.kill(pid, "SIGKILL");
    await eventually("its end", () => isGone({ pid }));
  } catch {
    // It has ended, or is about to begin.
  }
}

needs("a shell")("compares once for each request", async () => {
  using world = new Recorded({ "a.txt": "one\n" });
  await world.prompt();
  const [request, done] = [join(world.folder, "compare.request"), join(world.home, "done")];
  // Each comparison continues until the next one is requested.
  const git = `#!/bin/sh
    while [ ! -e '${request}' ] && [ ! -e '${done}' ]; do sleep 0.01; done
    exec '${Bun.which("git")}' "$@"`;
  mkdirSync(join(world.home, "bin"));
  writeFileSync(join(world.home, "bin/git"), git, { mode: 0o755 });
  world.env.PATH = `${world.home}/bin:${world.env.PATH}`;
  requestComparison(world.folder);
  const child = Bun.spawn([EXECUTABLE, "hook", "compare", world.root], { env: world.env });
  for (let asked = 0; asked < 8; asked++) {
    await eventually("the next comparison", () => !existsSync(request));
    requestComparison(world.folder);
  }
  writeFileSync(done, "");
  await child.exited;
  expect(existsSync(request)).toBe(false);
});
