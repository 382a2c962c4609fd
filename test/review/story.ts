import { lstatSync, readlinkSync, statSync, symlinkSync } from "node:fs";
import { outcomeOf } from "#test";
import { message } from "../../src/lib/errors";
import { commitKept } from "../../src/review/commit/commit";
import type { Listed } from "../../src/review/service";
import type { ShownDecision } from "../../src/review/shown";
import { ReviewedProject } from "../../src/review/state/reviewed-project";
import { commitAll, git } from "./repository";
import { World } from "./state/world";

/**
 * Titles and stories of a text: "# title", and below it the steps. `[a|b]` is `a` in one story, and `b` in
 * another one.
 */
export function titled(text: string): [title: string, story: string][] {
  return text
    .split(/^\s*# /m)
    .slice(1)
    .flatMap((row) => {
      const [, first = ""] = /\[(.*?)\]/.exec(row) ?? [];
      return first.split("|").map((_, i) => {
        const one = row.replace(/\[(.*?)\]/g, (_all, choice: string) => choice.split("|")[i] ?? "");
        return one.split(/\n(.*)/s, 2) as [title: string, story: string];
      });
    });
}

/** Tests, each of which plays a story in a project of its own. */
export function stories(first: string, second?: string): void {
  const [begin, all] = second === undefined ? ["", first] : [first, second];
  test.each(titled(all))("%s", async (_title, story) => {
    using world = new World();
    await play(world, `${begin}; ${story}`);
  });
}

export const stepsOf = (story: string) => story.split(/\s*[;\n]\s*/).filter((one) => one.trim());

/**
 * Plays a story. Files are `name=line line`, `-name` (no such file), `name=line < old` (moved from there) and
 * `name@target` (a symlink), separated by ", ".
 *
 * | `user FILES`, `A FILES` | the user writes files; Claude does, in session A; `A git …` runs and stages, too |
 * | `keep FILE#2, FILE 3-5` | decides about a file, its second hunk (as of `see`, if that came before), or rows 3 to 5 |
 * | `undo FILE of A: words` | undoes what session A changed; refused, or in conflict, with these words |
 * | `undo! FILE` | undoes all, the rows that the user has edited, too |
 * | `back`, `back undo` | takes the last decision back, or the last undo |
 * | `u FILES` | Neovim's own undo takes the last undo back, and its buffer is written |
 * | `restart`, `see` | another Neovim goes on; remembers the list |
 * | `is FILE changed 1>2@3` | the list: kind, and old size, new size and row of each hunk; `is nothing` |
 * | `same`, `disk FILES`, `mode FILE 755` | the list is as it was at `see`; files are so |
 * | `git … => out` | git, and what it prints; `commit` is all that there is, by the user; `repository FILES` |
 * | `commits`, `commits: words` | `:Claude commit`; it is refused with these words |
 * | `HEAD FILES`, `tree 100644 FILE` | what is committed |
 * | `prompt`, `begin`, `end`, `stop`, `later` | hooks of session A, and of a command of it; 5 ms pass |
 * | `mark`, `begin at mark` | the command began then, and only now it is recorded |
 */
export async function play(world: World, story: string): Promise<void> {
  const teller = new Teller(world);
  for (const step of stepsOf(story)) {
    try {
      await teller.step(step.trim());
    } catch (error) {
      throw new Error(`${step}: ${message(error)}`);
    }
  }
}

/** The message is written, as `:wq` does. */
export const WRITES = "printf 'by the test\\n' >";

/** `:Claude commit`: what is kept. */
export async function commitOf({ root }: { root: string }, editor = WRITES, more: object = {}) {
  const project = new ReviewedProject(root);
  await project.catchUp();
  return commitKept(project, { draft: false, texts: new Map(), ...more }, editor);
}

const CALL = { session: "A", tool: "Bash", use: "u1" } as const;
/** Changes this long after a call are not the call's: times are in whole milliseconds. */
const LATER_MS = 5;

class Teller {
  #seen: Listed | undefined;
  #mark = 0;
  #undone: string | undefined;

  constructor(readonly world: World) {}

  async step(step: string): Promise<unknown> {
    const { world } = this;
    const [, verb = "", rest = ""] = /^([^\s:]+):?\s*(.*)$/.exec(step) ?? [];
    switch (verb) {
      case "user":
        return this.#write(rest);
      case "repository":
        this.#write(rest);
        return commitAll(world.root, filesIn(rest).texts);
      case "chmod":
        return world.chmod(...modeIn(rest));
      case "keep":
      case "undo":
      case "undo!":
        return this.#decide(verb, rest);
      case "back":
        return rest ? this.#backUndo(rest) : world.back();
      case "u":
        await world.back({
          decision: this.#undone,
          path: world.path(rest.split("=")[0] as string),
        });
        return this.#write(rest);
      case "restart":
        world.service = world.another();
        return;
      case "see":
        this.#seen = await world.list();
        return;
      case "same":
        return expect(await world.list()).toEqual(this.#seen as Listed);
      case "is":
        await world.service.summary();
        return expect((await world.summary()).join(", ")).toBe(rest.replace(/^nothing$/, ""));
      case "disk":
        return this.#disk(rest);
      case "mode": {
        const [name, mode] = modeIn(rest);
        return expect(octal(statSync(world.path(name)).mode)).toBe(octal(mode));
      }
      case "git":
        return this.#git(rest);
      case "tree": {
        const files = git(world.root, "ls-tree", "-r", "HEAD").replace(/(\d+) blob \w+\t/g, "$1 ");
        return expect(files.trim().split("\n").join(", ")).toBe(rest);
      }
      case "HEAD": {
        for (const [name, text] of Object.entries(filesIn(rest).texts)) {
          expect(git(world.root, "cat-file", "blob", `HEAD:${name}`)).toBe(text as string);
        }
        return;
      }
      case "commits": {
        const outcome = await outcomeOf(commitOf(world));
        if (rest) expect(outcome).toThrow(rest);
        else expect(outcome).not.toThrow();
        return;
      }
      case "commit":
        git(world.root, "add", "-A");
        return git(world.root, "commit", "-q", "--allow-empty", "-m", "by the user");
      case "prompt":
        return this.#prompt();
      case "begin":
        return world.record({
          type: "begin",
          ...CALL,
          ...(rest === "at mark" && { at: this.#mark }),
        });
      case "mark":
        this.#mark = Date.now();
        return;
      case "end": {
        const head = rest === "at HEAD" && { head: git(world.root, "rev-parse", "HEAD").trim() };
        return world.record({ type: "change", ...CALL, source: "bash", files: [], ...head });
      }
      case "stop":
        if (!rest) return world.stop();
        return world.record({ type: "stop", session: "A", background: true });
      case "later":
        return Bun.sleep(LATER_MS);
      default:
        return this.#claude(verb, rest);
    }
  }

  /** As hooks record it: with the commit that HEAD names. */
  #prompt(): void {
    const head = git(this.world.root, "rev-parse", "HEAD").trim();
    const prompt = crypto.randomUUID();
    this.world.record({ type: "prompt", session: "A", prompt, text: "go", head });
  }

  #write(rest: string): void {
    const { texts, links } = filesIn(rest);
    for (const [name, text] of Object.entries(texts)) this.world.write(name, text);
    for (const [name, target] of Object.entries(links)) symlinkSync(target, this.world.path(name));
  }

  #claude(session: string, rest: string): void {
    if (!/^[A-Z]$/.test(session)) throw new Error("no such step");
    const [, how, what = ""] = /^(chmod|git)? ?(.*)$/.exec(rest) ?? [];
    if (how === "chmod") {
      const [name, mode] = modeIn(what);
      const before = statSync(this.world.path(name)).mode & 0o777;
      return this.world.claudeChmod(name, before, mode, session);
    }
    const { texts, from } = filesIn(what);
    if (how !== "git") return void this.world.claude(texts, { session, from });
    const use = crypto.randomUUID();
    this.world.record({ type: "begin", session, tool: "Bash", use });
    this.world.claude(texts, { session, tool: "Bash", source: "bash", use, from });
    git(this.world.root, "add", "-A");
  }

  async #decide(verb: string, rest: string): Promise<void> {
    const [, names = "", session, words] = /^(.*?)(?: of (\w))?(?:: (.*))?$/.exec(rest) ?? [];
    const listed = this.#seen ?? (await this.world.list());
    const files = names.split(", ").map((one) => {
      const [, name = "", hunk, first, last] = /^(.*?)(?:#(\d))?(?: (\d+)-(\d+))?$/.exec(one) ?? [];
      const path = this.world.path(name);
      const shown = listed.files.find((file) => file.path === path)?.hunks ?? [];
      const hunks = hunk && { hunks: [shown[Number(hunk) - 1]?.id] };
      return { path, ...hunks, ...(first && { range: [Number(first), Number(last)] }) };
    });
    const request = {
      ...(session && { scope: "session", session }),
      ...(verb.endsWith("!") && { keep_both: true }),
    };
    const done = await this.world[verb === "keep" ? "keep" : "undo"](files, request);
    const said = done.files.flatMap(saidOf).join("; ");
    if (words === undefined) expect(said).toBe("");
    else expect(said).toContain(words);
    if (verb !== "keep") this.#undone = done.decision;
  }

  /** Takes the last undo back, whatever was decided since; `undo: words`: it is refused. */
  async #backUndo(rest: string): Promise<void> {
    const [, words] = /^undo(?:: (.*))?$/.exec(rest) ?? [];
    const outcome = await outcomeOf(this.world.back({ decision: this.#undone }));
    if (words === undefined) expect(outcome).not.toThrow();
    else expect(outcome).toThrow(words);
  }

  #disk(rest: string): void {
    const { texts, links } = filesIn(rest);
    const { world } = this;
    const isLink = (name: string) => lstatSync(world.path(name)).isSymbolicLink();
    for (const [name, text] of Object.entries(texts)) {
      expect(`${name}: ${world.read(name)}`).toBe(`${name}: ${text}`);
    }
    for (const [name, target] of Object.entries(links)) {
      expect(isLink(name) && readlinkSync(world.path(name))).toBe(target);
    }
  }

  #git(rest: string): void {
    const [, args = "", printed] = /^(.*?)(?:\s=>\s?(.*))?$/.exec(rest) ?? [];
    const out = git(this.world.root, ...args.split(" ")).trimEnd();
    if (printed !== undefined) expect(out.split("\n").join("|")).toBe(printed);
  }
}

const octal = (mode: number) => (mode & 0o7777).toString(8);

function modeIn(words: string): [name: string, mode: number] {
  const [name = "", mode = ""] = words.split(" ");
  return [name, Number.parseInt(mode, 8)];
}

export function filesIn(words: string) {
  const texts: Record<string, string | undefined> = {};
  const from: Record<string, string> = {};
  const links: Record<string, string> = {};
  for (const one of words.split(", ").filter(Boolean)) {
    const [, gone] = /^-(.*)$/.exec(one) ?? [];
    const [, link = "", target] = /^([^=]*?)@(.*)$/.exec(one) ?? [];
    const [, name = "", lines = "", old] = /^(.*?)=(.*?)(?: < (.*))?$/s.exec(one) ?? [];
    if (gone) texts[gone] = undefined;
    else if (target) links[link] = target;
    else texts[name] = textOf(lines);
    if (old) from[name] = old;
  }
  return { texts, from, links };
}

/** A line for each word. */
export const textOf = (words: string) =>
  words
    .split(" ")
    .map((word) => word && `${word}\n`)
    .join("");

/** Why a decision about a file was not made: `claude: II > zwei` is a conflict with what Claude had written. */
function saidOf(file: ShownDecision["files"][number]): string[] {
  const { problem, conflicts } = file;
  const words = (lines: Uint8Array[]) => lines.map((line) => Buffer.from(line)).join(" ");
  const between = conflicts?.map(
    ({ by, claude, now }) => `${by}: ${words(claude)} > ${words(now)}`,
  );
  const staged = "staged" in file ? ["it stays in the index"] : [];
  return [...(problem ? [problem] : []), ...(between ?? []), ...staged];
}
