import fc from "fast-check";
import { nightly } from "#test";
import { prune } from "../../../src/review/journal/prune";
import type { Listed } from "../../../src/review/service";
import type { ShownDecision } from "../../../src/review/shown";
import { waitingIn } from "../../../src/review/state/entry";
import { FUZZ_TIMEOUT_MS, tries } from "../../fuzz/effort";
import { rowsOf } from "./actors";
import { acts } from "./acts";
import { Player } from "./player";
import { type Call, World } from "./world";

const FILES = ["a", "dir/b"];
const STARTS = ["", "1\n2\n3\n", "\xef\xbb\xbf1\r\n2\r\n", "1\n\xff\n3", undefined];

const edit = {
  file: fc.nat(FILES.length - 1),
  at: fc.nat(8),
  deletes: fc.nat(2),
  inserts: fc.nat(3),
};
const Act = fc.oneof(
  acts(4, ["user"], edit),
  acts(6, ["claude"], {
    session: fc.constantFrom("A", "B"),
    source: fc.constantFrom<("tool" | "bash")[]>("tool", "bash"),
    ...edit,
  }),
  acts(2, ["delete"], { by: fc.constantFrom("user", "A", "B"), file: edit.file }),
  acts(1, ["format"], { file: edit.file }),
  acts(2, ["restart", "back"], {}),
  acts(3, ["keep", "undo"], {
    file: edit.file,
    hunk: fc.nat(4),
    part: fc.constantFrom("file", "hunk", "rows"),
    rows: fc.tuple(fc.nat(8), fc.nat(3)),
    of: fc.constantFrom(undefined, "A", "B"),
    inBuffer: fc.boolean(),
    reversed: fc.boolean(),
  }),
);
type Act = typeof Act extends fc.Arbitrary<infer T> ? T : never;

class Play extends Player<World> {
  /** Lines that the user wrote, and that only an undo could remove. */
  readonly users = new Set<string>();
  #count = 0;

  async act(act: Act): Promise<void> {
    this.#count++;
    switch (act.do) {
      case "user":
        return void this.world.write(this.#name(act), this.#edited(act, "u"));
      case "claude": {
        return this.#claude(act, this.#edited(act, act.session), act);
      }
      case "delete":
        this.#forget(this.#lines(act));
        if (act.by !== "user") return this.#claude(act, undefined, { session: act.by });
        return void this.world.write(this.#name(act), undefined);
      case "format": {
        const text = this.world.read(this.#name(act));
        if (text !== undefined)
          this.world.write(this.#name(act), text.replaceAll(/^([A-Z])/gm, "  $1"));
        return;
      }
      case "restart":
        this.world.service = this.world.another();
        return;
      case "back":
        await this.world.back().catch(() => {});
        return;
      default: {
        const { hunk, part, rows, of, inBuffer } = act;
        const name = this.#name(act);
        const chosen = part === "hunk" && (await this.hunk(name, hunk, of));
        const what = {
          ...(chosen && { hunks: [chosen.id] }),
          ...(part === "rows" && { range: [rows[0] + 1, rows[0] + 1 + rows[1]] }),
        };
        return await this.decide(act, name, what, {
          text: inBuffer ? this.world.read(name) : undefined,
        });
      }
    }
  }

  /** The text without Claude's changes stays, whatever Claude changes. */
  #claude(act: { file: number }, text: string | undefined, by: Call): void {
    const name = this.#name(act);
    const base = this.baseText(name);
    this.world.claude({ [name]: text }, by);
    expect(this.baseText(name)).toBe(base);
  }

  #forget(lines: readonly string[]): void {
    for (const line of this.users) {
      if (lines.some((removed) => removed.includes(line))) this.users.delete(line);
    }
  }

  #name({ file }: { file: number }): string {
    return FILES[file] as string;
  }

  #lines(act: { file: number }): string[] {
    return rowsOf(this.world.read(this.#name(act)));
  }

  #edited(act: { file: number; at: number; deletes: number; inserts: number }, by: string): string {
    const lines = this.#lines(act);
    const at = Math.min(act.at, lines.length);
    const inserted = Array.from({ length: act.inserts }, (_, i) => `${by}${this.#count}.${i}`);
    const removed = lines.splice(at, act.deletes, ...inserted.map((line) => `${line}\n`));
    this.#forget(removed);
    if (by === "u") for (const line of inserted) this.users.add(line);
    return lines.join("");
  }
}

const Played = fc.tuple(fc.constantFrom(...STARTS), fc.array(Act, { maxLength: 20 }));

function whatever(check: (play: Play) => Promise<void>, runs: number) {
  return () =>
    fc.assert(
      fc.asyncProperty(Played, async ([start, acts]) => {
        using world = new World();
        for (const name of FILES) world.write(name, start);
        const play = new Play(world, FILES);
        for (const act of acts) await play.act(act);
        await check(play);
      }),
      { numRuns: tries(runs), endOnFailure: true },
    );
}

const usersLines = (play: Play) => {
  const texts = FILES.map((name) => play.world.read(name) ?? "").join("\n");
  return [...play.users].filter((line) => !texts.includes(line));
};

test(
  "says the same in another Neovim",
  whatever(async (play) => {
    expect(await play.state(play.world.another())).toEqual(await play.state());
  }, 60),
  FUZZ_TIMEOUT_MS,
);

test(
  "keeps all, and leaves the disk",
  whatever(async (play) => {
    const { disk } = await play.state();
    await play.world.service.answer("done", {});
    const after = await play.state();
    expect(after.disk).toEqual(disk);
    expect(after.files).toEqual([]);
  }, 40),
  FUZZ_TIMEOUT_MS,
);

test(
  "undoes all, and leaves every row of the user's",
  whatever(async (play) => {
    const before = await play.state();
    const files = before.files.map(({ path }) => ({ path }));
    await play.world.service.answer("undo", { files, keep_both: true });
    const after = await play.state();
    expect(after.files).toEqual([]);
    expect(usersLines(play)).toEqual([]);
  }, 60),
  FUZZ_TIMEOUT_MS,
);

test(
  "undoes a session, and takes it back",
  whatever(async (play) => {
    const before = await play.state();
    const scope = { scope: "session", session: "A" };
    const { files } = (await play.world.service.answer("list", scope)) as Listed;
    const request = { ...scope, files: files.map(({ path }) => ({ path })), keep_both: true };
    const { decision } = (await play.world.service.answer("undo", request)) as ShownDecision;
    expect(((await play.world.service.answer("list", scope)) as Listed).files).toEqual([]);
    if (decision !== undefined) await play.world.service.answer("back", { decision });
    expect(await play.state()).toEqual(before);
  }, 60),
  FUZZ_TIMEOUT_MS,
);

const HOUR_MS = 60 * 60_000;

nightly.test(
  "changes no list and no hunk by pruning",
  whatever(async ({ world }) => {
    // Larger than all others together: once it is gone, nothing else has to go.
    const large = Array.from({ length: 4_000 }, (_, i) => `${Bun.hash(`${i}`)}\n`).join("");
    world.claude({ large });
    await world.keep([{ path: world.path("large") }]);
    // With the old and new lines of every hunk.
    const shown = async () => ({
      list: await world.list(),
      files: await Promise.all(FILES.map((name) => world.file(name))),
    });
    const before = await shown();
    const bytes = world.blobBytes();
    prune(world.folder, waitingIn(world.root), bytes - 1, Date.now() + 2 * HOUR_MS);
    expect(world.blobBytes()).toBeLessThan(bytes);
    expect(await shown()).toEqual(before);
  }, 60),
  FUZZ_TIMEOUT_MS,
);
