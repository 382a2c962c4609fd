import { expect, test } from "bun:test";
import fc from "fast-check";
import { message } from "../../../src/lib/errors";
import { FUZZ_TIMEOUT_MS, tries } from "../../fuzz/effort";
import { Actors } from "./actors";
import { FOUND } from "./found";
import { Act, Change, FILES, linesOf, Play, STARTS } from "./play";

/*
 * The four properties of the review, with each actor through what hooks do for it: all lines are
 * unlike each other, so that a model of some lines knows whose they are.
 */

function whatever(act: fc.Arbitrary<Act>, check: (play: Play) => Promise<void>, runs: number) {
  const Played = fc.tuple(fc.constantFrom(...STARTS), fc.array(act, { maxLength: 12 }));
  return () =>
    fc.assert(
      fc.asyncProperty(Played, async ([start, acts]) => {
        using world = new Actors({ [FILES[0] as string]: start, [FILES[1] as string]: start });
        const play = new Play(world);
        try {
          for (const one of acts) await play.act(one);
          for (const whose of ["A", "B"]) world.stopped(whose);
          await check(play);
        } catch (error) {
          throw new Error(`${message(error)}\nafter\n${world.journal()}`);
        }
      }),
      { numRuns: tries(runs) + FOUND.length, endOnFailure: true, examples: FOUND },
    );
}

test(
  "each line is Claude's, or the user's, as it was written",
  whatever(
    Change,
    async (play) => {
      for (const name of FILES) {
        if (await play.isUnknown(name)) continue;
        expect(play.base(name)).toEqual(play.model.base(name));
      }
    },
    12,
  ),
  FUZZ_TIMEOUT_MS,
);

test(
  "undoing all of a session leaves the text without its edits, and taking it back gives it again",
  whatever(
    Change,
    async (play) => {
      for (const name of FILES) if (await play.isUnknown(name)) return;
      const before = await play.state();
      const scope = { scope: "session", session: "A" };
      const { files } = await play.world.list(scope);
      const paths = files.map(({ path }) => ({ path }));
      const { decision } = await play.world.undo(paths, { ...scope, keep_both: true });
      const texts = FILES.map((name) => linesOf(play.world.read(name)).sort());
      expect(texts).toEqual(FILES.map((name) => play.model.base(name, "A")));
      expect((await play.world.list(scope)).files).toEqual([]);
      if (decision !== undefined) await play.world.back({ decision });
      expect(await play.state()).toEqual(before);
    },
    8,
  ),
  FUZZ_TIMEOUT_MS,
);

test(
  "with decisions in between: a Neovim that has just started sees the same; keeping all leaves the disk",
  whatever(
    Act,
    async (play) => {
      const before = await play.state();
      expect(await play.state(play.world.another())).toEqual(before);
      await play.world.service.answer("done", {});
      const after = await play.state();
      expect(after.disk).toEqual(before.disk);
      expect(after.files).toEqual([]);
    },
    8,
  ),
  FUZZ_TIMEOUT_MS,
);

test(
  "with decisions in between: undoing all leaves each row of the user's, and none of Claude's pending",
  whatever(
    Act,
    async (play) => {
      const users = play.users();
      const { files } = await play.state();
      const paths = files.map(({ path }) => ({ path }));
      await play.world.undo(paths, { keep_both: true });
      const left = (await play.state()).files.filter(
        ({ cannot_undo }) => cannot_undo === undefined,
      );
      expect(left).toEqual([]);
      expect(play.lost(users)).toEqual([]);
    },
    8,
  ),
  FUZZ_TIMEOUT_MS,
);
