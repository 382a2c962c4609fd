import { mkdirSync, symlinkSync } from "node:fs";
import { needs, stateFolderOf } from "#test";
import { join } from "../../src/lib/platform";
import type { Listed, ReviewService } from "../../src/review/service";
import type { ReviewSummary } from "../../src/review/summary";
import type { EndedCall } from "../../src/review/unrecorded";
import { RecordedHere } from "./recorded";

/* Changes that no hook has recorded, although the CLI's transcript says that Claude made them. */

const FILES = { "a.txt": "one\ntwo\n", "b.txt": "b\n" };

/** A turn of Claude in a repository, which a Neovim's server knows only from the transcript. */
class World extends RecordedHere {
  began = Date.now();

  constructor() {
    super(FILES);
  }

  ended(call: Partial<EndedCall>, folder = this.root): Promise<void> {
    const { began } = this;
    const durationMs = Date.now() - began;
    const whole = {
      session: "one",
      tool: "Edit",
      use: "use-1",
      began,
      durationMs,
      isVague: false,
      ...call,
    };
    return this.service.ended(folder, whole);
  }

  /** Claude edits a file without a hook. */
  edited(name: string, text: string, originalFile: string, folder?: string): Promise<void> {
    this.write(name, text);
    return this.ended({ path: this.path(name), response: { originalFile } }, folder);
  }

  async found() {
    const { files, incomplete, counts } = (await this.service.answer("list", {})) as Listed;
    const summary = (await this.service.summary()) as ReviewSummary &
      Awaited<ReturnType<ReviewService["summary"]>>;
    const problems = summary.problems.filter((one) => one !== undefined);
    // Either all three know of it, or none does.
    expect([incomplete, summary.incomplete]).toEqual([problems, problems.length > 0]);
    expect(counts.files).toBe(files.length);
    return {
      listed: files.map(({ path, kind }) => `${path.slice(this.root.length + 1)} ${kind}`),
      problems,
    };
  }
}

const hooked = async (world: World) => {
  await world.prompt();
  await world.edit("a.txt", "one\nTWO\n");
  await world.bash("true");
  await world.ended({ path: world.path("a.txt") });
  await world.ended({ tool: "Bash", use: "use-2" });
  await world.ended({ tool: "Bash", use: "use-3", prompt: "p1", isVague: true });
  await world.ended({ tool: "Agent", use: "use-4", prompt: "p1" });
  await world.answer("done", {});
};
const OLD = FILES["a.txt"];

test.each<[string, (world: World) => Promise<void>]>([
  ["a hook has recorded", hooked],
  ["changes nothing", (world) => world.edited("a.txt", OLD, OLD)],
  ["reads", (world) => world.ended({ tool: "Read", path: world.path("a.txt") })],
  [
    "our own tools record",
    (world) => world.ended({ tool: "mcp__plugin_claude-code-nvim_nvim-lsp__rename_symbol" }),
  ],
  ["edits a file elsewhere", (world) => world.ended({ path: "/elsewhere/a.txt" })],
  ["belongs to a session in another folder", (world) => world.edited("a.txt", "x\n", OLD, "/")],
])("does not mention a call that %s", async (_what, work) => {
  using world = new World();
  await work(world);
  expect(await world.found()).toEqual({ listed: [], problems: [] });
});

test("lists an edit's lines from the transcript as hunks, and finds other changes by git and time", async () => {
  using world = new World();
  world.write("mine.txt", "before the turn\n");
  await Bun.sleep(80);
  world.began = Date.now();
  await world.edited("a.txt", "one\nTWO\n", "one\ntwo\n");
  const because = expect.stringMatching(/^Claude's hooks have not run since .* other settings/);
  expect(await world.found()).toEqual({ listed: ["a.txt changed"], problems: [because] });
  world.write("b.txt", "B\n");
  await world.ended({ tool: "Bash", use: "use-2", command: "sed", response: { stdout: "" } });
  const listed = ["a.txt changed", "b.txt unseen"];
  expect(await world.found()).toEqual({ listed, problems: [because] });
  await Bun.sleep(80);
  world.write("mine.txt", "after the calls\n");
  const agent = { tool: "Agent", use: "use-3", prompt: "p1", began: Date.now(), durationMs: 0 };
  await world.ended(agent);
  expect(await world.found()).toEqual({
    listed: [...listed, "mine.txt unseen"],
    problems: [because],
  });
  const files = ["a.txt", "b.txt", "mine.txt"].map((name) => ({ path: world.path(name) }));
  await world.service.answer("keep", { files });
  expect(await world.found()).toEqual({ listed: [], problems: [because] });
  // Another Neovim, and this one after a restart.
  expect((await world.list()).incomplete).toEqual([
    expect.stringContaining("could not be recorded"),
  ]);
  await world.service.answer("done", {});
  expect(await world.found()).toEqual({ listed: [], problems: [] });
  expect((await world.list()).incomplete).toEqual([]);
});

test("says why if the CLI runs no hooks", async () => {
  using world = new World();
  world.write("a.txt", "one\nTWO\n");
  const edit = { path: world.path("a.txt"), response: { originalFile: OLD } };
  await world.ended({ ...edit, off: "its CLI has --bare" });
  expect((await world.found()).problems).toEqual([expect.stringContaining("(its CLI has --bare)")]);
  world.write(".claude/settings.json", '{ "disableAllHooks": true }');
  await world.ended({ ...edit, use: "use-2" });
  expect((await world.found()).problems).toEqual([
    expect.stringContaining("(disableAllHooks is true in "),
  ]);
});

needs("symlinks")("says why if the state folder cannot be written", async () => {
  using world = new World();
  const state = stateFolderOf(world.home);
  mkdirSync(state, { recursive: true });
  symlinkSync("/nowhere/review", join(state, "review"));
  await world.edited("a.txt", "one\nTWO\n", "one\ntwo\n");
  const because = expect.stringContaining(`${state} cannot be written`);
  expect(await world.found()).toEqual({ listed: [], problems: [because] });
});
