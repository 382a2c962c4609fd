import { expect } from "bun:test";
import fc from "fast-check";
import { message } from "../../../src/lib/errors";
import { Actors } from "./actors";
import { Act, Addition, Change, FILES, linesOf, Play, STARTS } from "./play";

/** A rule, and how often a test run tries it. */
export interface Property {
  says: string;
  acts: fc.Arbitrary<Act>;
  holds: (play: Play) => Promise<void>;
  runs: number;
}

/**
 * The properties of the review. Hooks record what each actor does. All lines differ, so that a small model knows
 * the author of each.
 */
export const PROPERTIES = {
  whose: {
    says: "each line is Claude's, or the user's, as it was written",
    acts: Change,
    holds: isWhose,
    runs: 12,
  },
  session: {
    says: "undoing all of a session leaves the text without its edits, and taking that back restores it",
    acts: Change,
    holds: isWithoutSession,
    runs: 8,
  },
  restore: {
    says: "the files before a turn, with the user's later lines",
    acts: Addition,
    holds: isRestored,
    runs: 12,
  },
  restored: {
    says: "decisions about turns, taken back in reverse order, change no byte",
    acts: Act,
    holds: isRestoredAndBack,
    runs: 12,
  },
  keep: {
    says: "with decisions in between: a Neovim that has just started sees the same; keeping all leaves the disk",
    acts: Act,
    holds: isKept,
    runs: 8,
  },
  undo: {
    says: "with decisions in between: undoing all leaves each row of the user's, and none of Claude's pending",
    acts: Act,
    holds: isUndone,
    runs: 8,
  },
} satisfies Record<string, Property>;

/** A property of fast-check, over this many acts. */
export function played({ acts, holds }: Property, maxLength: number) {
  const all = fc.array(acts, { maxLength, size: "max" });
  const Played = fc.tuple(fc.constantFrom(...STARTS), all);
  return fc.asyncProperty(Played, ([start, all]) => play(start, all, [holds]));
}

/** Plays some acts, with the same text in the first two files; then each of `holds` must hold, in turn. */
export async function play(
  start: string | undefined,
  acts: readonly Act[],
  holds: readonly Property["holds"][],
): Promise<void> {
  using world = new Actors({ [FILES[0] as string]: start, [FILES[1] as string]: start });
  const play = new Play(world);
  try {
    for (const act of acts) await play.act(act);
    for (const whose of ["A", "B"]) world.stopped(whose);
    for (const one of holds) await one(play);
  } catch (error) {
    throw new Error(`${message(error)}\nafter\n${world.journal()}`);
  }
}

async function isWhose(play: Play): Promise<void> {
  for (const name of FILES) {
    if (await play.isUnknown(name)) continue;
    expect(play.base(name)).toEqual(play.model.base(name));
  }
}

async function isWithoutSession(play: Play): Promise<void> {
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
}

async function decideTurn({ world }: Play, method: "undo" | "keep", scope: object) {
  const request = { session: "A", ...scope };
  const files = (await world.list(request)).files.map(({ path }) => ({ path }));
  const { plan } = await (
    world.service.answer("plan", request) as Promise<{ plan?: string[] }>
  ).catch(() => ({ plan: undefined }));
  const done = await world[method](files, { ...request, keep_both: true, plan });
  expect(done).not.toHaveProperty("changed");
  return done.decision;
}

async function isRestored(play: Play): Promise<void> {
  for (const name of FILES) if (await play.isUnknown(name)) return;
  const users = play.users();
  const claudes = (text: string | undefined) =>
    text === undefined ? [] : linesOf(text).filter((line) => !/^ ?u\d/.test(line));
  for (const [i, texts] of [...play.begun.entries()].reverse()) {
    await decideTurn(play, "undo", { scope: "since", turn: i + 1 });
    const now = FILES.map((name) => claudes(play.world.read(name)));
    expect(now).toEqual(texts.map(claudes));
    expect(play.lost(users)).toEqual([]);
  }
}

async function isRestoredAndBack(play: Play): Promise<void> {
  const turns = [...play.begun.keys()];
  const methods = ["undo", "undo", "keep"] as const;
  for (const order of [turns, turns.toReversed()]) {
    const decisions = [];
    for (const turn of order) {
      const before = await play.state();
      const scope = { scope: turn % 2 ? "turn" : "since", turn: turn + 1 };
      const decision = await decideTurn(play, methods[turn % 3] ?? "undo", scope);
      if (decision !== undefined) decisions.push({ before, decision });
    }
    for (const { before, decision } of decisions.reverse()) {
      await play.world.back({ decision });
      expect(await play.state()).toEqual(before);
    }
  }
}

async function isKept(play: Play): Promise<void> {
  const before = await play.state();
  expect(await play.state(play.world.another())).toEqual(before);
  await play.world.service.answer("done", {});
  const after = await play.state();
  expect(after.disk).toEqual(before.disk);
  expect(after.files).toEqual([]);
}

async function isUndone(play: Play): Promise<void> {
  const users = play.users();
  const { files } = await play.state();
  const paths = files.map(({ path }) => ({ path }));
  await play.world.undo(paths, { keep_both: true });
  const left = (await play.state()).files.filter(({ cannot_undo }) => cannot_undo === undefined);
  expect(left).toEqual([]);
  expect(play.lost(users)).toEqual([]);
}
