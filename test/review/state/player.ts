import { expect } from "bun:test";
import type { Listed } from "../../../src/review/service";
import type { ShownDecision } from "../../../src/review/shown";
import { rowsOf } from "./actors";
import { base64, type World } from "./world";

interface Decide {
  do: "keep" | "undo";
  /** A session, if the decision is only about its changes. */
  of: string | undefined;
  reversed: boolean;
}

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

/** Decides about files of a world, and sees what each decision must and must not change. */
export class Player<Its extends World> {
  constructor(
    readonly world: Its,
    readonly names: readonly string[],
  ) {}

  async state(service = this.world.service) {
    const { files, counts } = (await service.answer("list", {})) as Listed;
    return { files, counts, disk: this.names.map((name) => this.world.read(name)) };
  }

  baseText(name: string): string {
    const found = this.world.service.base({ path: this.world.path(name) });
    return found ? latin1(found.text) : (this.world.read(name) ?? "");
  }

  /** Returns a hunk of a file; one of the numbers means none. */
  protected async hunk(name: string, number: number, of: string | undefined) {
    const { files } = await this.world.list(scopeOf(of));
    const found = files.find(({ path }) => path === this.world.path(name))?.hunks ?? [];
    return found[number % (found.length + 1)];
  }

  /** Taking a decision back restores the earlier text; an undo leaves the text without Claude's changes. */
  protected async decide(
    act: Decide,
    name: string,
    what: object,
    { text, check = () => {} }: { text?: string | undefined; check?: () => void } = {},
  ): Promise<void> {
    const { service } = this.world;
    const path = this.world.path(name);
    const before = await this.state();
    const bases = this.names.map((one) => this.baseText(one));
    const file = { path, ...(text !== undefined && { text: base64(text) }), ...what };
    const done = await service.answer(act.do, { ...scopeOf(act.of), files: [file] });
    const { decision } = this.#applied(done as ShownDecision);
    check();
    if (act.do === "keep") expect((await this.state()).disk).toEqual(before.disk);
    else expect(this.names.map((one) => this.baseText(one))).toEqual(bases);
    if (decision === undefined || !act.reversed) return;
    const now = text === undefined ? undefined : this.world.read(name);
    const files = now === undefined ? [] : [{ path, text: base64(now) }];
    const back = (await service.answer("back", { decision, files })) as ShownDecision;
    for (const { edits } of this.#applied(back).files) {
      if (edits?.length) await service.answer("back", { decision, path });
    }
    expect(await this.state()).toEqual(before);
  }

  /** Neovim takes the edits into a buffer without unsaved changes, and writes. */
  #applied(done: ShownDecision): ShownDecision {
    for (const { path, edits, eol } of done.files) {
      if (!edits || edits.length === 0) continue;
      const name = path.slice(this.world.root.length + 1);
      const lines = rowsOf(this.world.read(name)).map((row) => row.replace(/\n$/, ""));
      for (const { first, count, expected, lines: now } of edits) {
        expect(lines.slice(first - 1, first - 1 + count)).toEqual(expected.map(latin1));
        lines.splice(first - 1, count, ...now.map(latin1));
      }
      this.world.write(name, lines.join("\n") + (eol && lines.length > 0 ? "\n" : ""));
    }
    return done;
  }
}

export const scopeOf = (session: string | undefined) =>
  session === undefined ? {} : { scope: "session", session };
