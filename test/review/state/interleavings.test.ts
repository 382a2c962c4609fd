import fc from "fast-check";
import { nightly } from "#test";
import { prune } from "../../../src/review/journal/prune";
import type { Listed, ReviewService } from "../../../src/review/service";
import type { ShownDecision } from "../../../src/review/shown";
import { waitingIn } from "../../../src/review/state/entry";
import { FUZZ_TIMEOUT_MS, tries } from "../../fuzz/effort";
import { rowsOf } from "./actors";
import { acts } from "./acts";
import { base64, type Call, World } from "./world";

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

type Decide = Extract<Act, { part: unknown }>;

class Play {
  service: ReviewService;
  /** Lines that the user wrote, and nobody but an undo could take away. */
  readonly users = new Set<string>();
  #count = 0;

  constructor(readonly world: World) {
    this.service = world.service;
  }

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
        this.service = this.world.another();
        return;
      case "back":
        await this.service.answer("back", {}).catch(() => {});
        return;
      default:
        return this.#decide(act);
    }
  }

  /** Whatever Claude changes, the text without its changes stays. */
  #claude(act: { file: number }, text: string | undefined, by: Call): void {
    const name = this.#name(act);
    const base = this.#base(name);
    this.world.claude({ [name]: text }, by);
    expect(this.#base(name)).toBe(base);
  }

  /** Whatever is decided, taking it back gives what was there; an undo leaves the text without Claude's changes. */
  async #decide(act: Decide): Promise<void> {
    const { do: what, file, hunk, part, rows, of, inBuffer, reversed } = act;
    const name = FILES[file] as string;
    const path = this.world.path(name);
    const scope = of === undefined ? {} : { scope: "session", session: of };
    const before = await this.state();
    const shown = ((await this.service.answer("list", scope)) as Listed).files;
    const found = shown.find((one) => one.path === path)?.hunks ?? [];
    const chosen = part === "hunk" && found[hunk % (found.length + 1)];
    const text = inBuffer ? this.world.read(name) : undefined;
    const request = {
      path,
      ...(text !== undefined && { text: base64(text) }),
      ...(chosen && { hunks: [chosen.id] }),
      ...(part === "rows" && { range: [rows[0] + 1, rows[0] + 1 + rows[1]] }),
    };
    const base = this.#base(name);
    const done = await this.service.answer(what, { ...scope, files: [request] });
    const { decision } = this.#applied(done as ShownDecision);
    if (what === "undo") expect(this.#base(name)).toBe(base);
    if (decision === undefined || !reversed) return;
    const now = text === undefined ? undefined : this.world.read(name);
    const files = now === undefined ? [] : [{ path, text: base64(now) }];
    const back = (await this.service.answer("back", { decision, files })) as ShownDecision;
    for (const { edits } of this.#applied(back).files) {
      if (edits?.length) await this.service.answer("back", { decision, path });
    }
    expect(await this.state()).toEqual(before);
  }

  /** What Neovim does with a buffer that has no unsaved changes: it takes the edits, and writes. */
  #applied(done: ShownDecision): ShownDecision {
    for (const { path, edits, eol } of done.files) {
      if (!edits || edits.length === 0) continue;
      const name = path.slice(this.world.root.length + 1);
      const rows = rowsOf(this.world.read(name));
      const lines = rows.map((row) => row.replace(/\n$/, ""));
      for (const { first, count, expected, lines: now } of edits) {
        expect(lines.slice(first - 1, first - 1 + count)).toEqual(expected.map(latin1));
        lines.splice(first - 1, count, ...now.map(latin1));
      }
      this.world.write(name, lines.join("\n") + (eol && lines.length > 0 ? "\n" : ""));
    }
    return done;
  }

  async state(service = this.service): Promise<{ list: Listed; disk: (string | undefined)[] }> {
    const list = (await service.answer("list", {})) as Listed;
    return { list, disk: FILES.map((name) => this.world.read(name)) };
  }

  #base(name: string): string {
    const found = this.service.base({ path: this.world.path(name) });
    return found ? Buffer.from(found.text).toString("latin1") : (this.world.read(name) ?? "");
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

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

const Played = fc.tuple(fc.constantFrom(...STARTS), fc.array(Act, { maxLength: 20 }));

function whatever(check: (play: Play) => Promise<void>, runs: number) {
  return () =>
    fc.assert(
      fc.asyncProperty(Played, async ([start, acts]) => {
        using world = new World();
        for (const name of FILES) world.write(name, start);
        const play = new Play(world);
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
    await play.service.answer("done", {});
    const after = await play.state();
    expect(after.disk).toEqual(disk);
    expect(after.list.files).toEqual([]);
  }, 40),
  FUZZ_TIMEOUT_MS,
);

test(
  "undoes all, and leaves every row of the user's",
  whatever(async (play) => {
    const { list } = await play.state();
    const files = list.files.map(({ path }) => ({ path }));
    await play.service.answer("undo", { files, keep_both: true });
    const after = await play.state();
    expect(after.list.files).toEqual([]);
    expect(usersLines(play)).toEqual([]);
  }, 60),
  FUZZ_TIMEOUT_MS,
);

test(
  "undoes a session, and takes it back",
  whatever(async (play) => {
    const before = await play.state();
    const scope = { scope: "session", session: "A" };
    const { files } = (await play.service.answer("list", scope)) as Listed;
    const request = { ...scope, files: files.map(({ path }) => ({ path })), keep_both: true };
    const { decision } = (await play.service.answer("undo", request)) as ShownDecision;
    expect(((await play.service.answer("list", scope)) as Listed).files).toEqual([]);
    if (decision !== undefined) await play.service.answer("back", { decision });
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
