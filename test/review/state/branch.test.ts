import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { committedFiles } from "../../../src/review/git/committed";
import { Git } from "../../../src/review/git/run";
import type { Listed } from "../../../src/review/service";
import type { ShownFile } from "../../../src/review/shown";
import { outcomeOf } from "../../support/outcome";
import { nightly } from "../../support/toolchain";
import { World } from "./world";

const TEN = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join("");

/** What a branch has otherwise than its base: git's repositories, as the service lists them. */
describe("a branch", () => {
  let world: World;
  let root: string;
  beforeEach(() => {
    world = new World();
    root = join(world.root, "repository");
    mkdirSync(root);
    git("init", "-q", "-b", "main");
  });
  afterEach(() => world[Symbol.dispose]());

  function git(...args: string[]): string {
    const who = ["-c", "user.name=a", "-c", "user.email=b", "-c", "protocol.file.allow=always"];
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
    const { success, stdout, stderr } = Bun.spawnSync(["git", "-C", root, ...who, ...args], {
      env,
    });
    if (!success) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout.toString().trim();
  }
  const at = (name: string) => `repository/${name}`;
  const write = (name: string, text: string | undefined) => world.write(at(name), text);
  function commit(files: Record<string, string | undefined> = {}): string {
    for (const [name, text] of Object.entries(files)) write(name, text);
    git("add", "-A");
    git("commit", "-q", "--allow-empty", "-m", "x");
    return git("rev-parse", "HEAD");
  }
  const list = (base?: string, more: object = {}) =>
    world.service.answer("list", { branch: { root, base }, ...more }) as Promise<Listed>;
  const shown = ({ path, kind, hunk_count, binary, from, mode }: ShownFile) => ({
    name: path.slice(root.length + 1),
    kind,
    hunks: hunk_count,
    ...(binary && { binary }),
    ...(from && { from: from.slice(root.length + 1) }),
    ...(mode && { mode: [mode.before, mode.after] }),
  });
  const files = async (base?: string, more: object = {}) =>
    (await list(base, more)).files.map(shown);
  const file = (name: string, text?: string) =>
    world.service.answer("file", {
      branch: { root },
      path: join(root, name),
      ...(text !== undefined && { text: Buffer.from(text).toString("base64") }),
    }) as Promise<ShownFile | undefined>;

  describe("its base", () => {
    const since = async (base?: string) => (await list(base)).since;

    test("is the default branch of the remote that it is pushed to", async () => {
      const first = commit({ a: TEN });
      git("update-ref", "refs/remotes/origin/trunk", first);
      git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk");
      const second = commit({ a: "" });
      expect(await since()).toBe(`origin/trunk (${first.slice(0, 8)})`);
      git("update-ref", "refs/remotes/fork/dev", second);
      git("symbolic-ref", "refs/remotes/fork/HEAD", "refs/remotes/fork/dev");
      for (const [name, value] of [
        ["remote.fork.url", root],
        ["remote.fork.fetch", "+refs/heads/*:refs/remotes/fork/*"],
        ["branch.main.remote", "fork"],
        ["branch.main.merge", "refs/heads/dev"],
      ] as const) {
        git("config", name, value);
      }
      expect(await since()).toBe(`fork/dev (${second.slice(0, 8)})`);
      git("symbolic-ref", "-d", "refs/remotes/fork/HEAD");
      expect(await since()).toBe(`origin/trunk (${first.slice(0, 8)})`);
    });

    test("is else main, or master, where both had the same commit last", async () => {
      const first = commit({ a: TEN });
      git("switch", "-q", "-c", "topic");
      commit({ b: TEN });
      git("switch", "-q", "main");
      commit({ a: "other\n" });
      git("switch", "-q", "topic");
      expect(await since()).toBe(`main (${first.slice(0, 8)})`);
      expect(await files()).toEqual([{ name: "b", kind: "created", hunks: 1 }]);
      git("branch", "-m", "main", "master");
      git("switch", "-q", "--detach");
      expect(await since()).toBe(`master (${first.slice(0, 8)})`);
      git("branch", "-D", "master");
      expect(await outcomeOf(list())).toThrow(
        "has no origin/HEAD, main or master: name the base, as in :Claude review branch develop",
      );
      expect(await since("HEAD~1")).toBe(`HEAD~1 (${first.slice(0, 8)})`);
    });

    test.each(["none", "--all", "--since=1.day", "HEAD..main", "-", "a b", "", "HEAD^{tree}"])(
      "is no commit: %j",
      async (base) => {
        commit({ a: TEN });
        expect(await outcomeOf(list(base))).toThrow(
          `${root} has no branch, tag or commit of the name ${base}`,
        );
      },
    );

    test("shares no commit with HEAD, or there is none, or no repository", async () => {
      expect(await outcomeOf(list())).toThrow(`${root} has no commit yet`);
      commit({ a: TEN });
      git("switch", "-q", "--orphan", "island");
      commit({ b: TEN });
      expect(await outcomeOf(list("main"))).toThrow("main and HEAD have no commit in common");
      const nowhere = { branch: { root: world.root } };
      expect(await outcomeOf(world.service.answer("list", nowhere))).toThrow(
        "is in no git repository",
      );
    });
  });

  describe("its files", () => {
    beforeEach(() => {
      commit({
        a: TEN,
        gone: `gone\n${TEN}`,
        old: `old\n${TEN}`,
        run: TEN,
        bin: "\0one",
        moved: `${TEN}${TEN}`,
        keep: TEN,
      });
      git("switch", "-q", "-c", "topic");
    });

    test("are what was committed, what was not, and what git does not know yet", async () => {
      commit({ a: TEN.replace("line 2\n", "LINE 2\n"), new: "new\n" });
      write("a", TEN.replace("line 2\n", "LINE 2\n").replace("line 9\n", "LINE 9\n"));
      write("staged", "staged\n");
      git("add", "staged");
      write("untracked", "untracked\n");
      write(".gitignore", "ignored\n");
      write("ignored", "ignored\n");
      expect(await files()).toEqual([
        { name: ".gitignore", kind: "created", hunks: 1 },
        { name: "a", kind: "changed", hunks: 2 },
        { name: "new", kind: "created", hunks: 1 },
        { name: "staged", kind: "created", hunks: 1 },
        { name: "untracked", kind: "created", hunks: 1 },
      ]);
      const { files: all, counts } = await list();
      expect(counts).toEqual({ files: 5, hunks: 6, added: 6, removed: 2 });
      expect(all[1]?.hunks.map((hunk) => [hunk.old, hunk.new, hunk.owners])).toEqual([
        [[2, 1], [2, 1], []],
        [[9, 1], [9, 1], []],
      ]);
      expect(all.flatMap(({ owners }) => owners)).toEqual([]);
    });

    test("were deleted, moved, are binary, links, or have another mode: a row each", async () => {
      git("mv", "old", "same");
      git("mv", "moved", "edited");
      write("edited", `${TEN}${TEN.replace("line 5\n", "LINE 5\n")}`);
      chmodSync(join(root, "run"), 0o755);
      write("bin", "\0two");
      commit({ gone: undefined });
      write("keep", undefined);
      symlinkSync("a", join(root, "keep"));
      expect(await files()).toEqual([
        { name: "bin", kind: "binary", hunks: 0, binary: true },
        { name: "edited", kind: "renamed", hunks: 1, from: "moved" },
        { name: "gone", kind: "deleted", hunks: 1 },
        { name: "keep", kind: "symlink", hunks: 1 },
        { name: "run", kind: "mode", hunks: 0, mode: [0o644, 0o755] },
        { name: "same", kind: "renamed", hunks: 1, from: "old" },
      ]);
      const base = { branch: { root }, path: join(root, "gone") };
      const found = (await world.service.answer("base", base)) as { text: Uint8Array };
      expect(Buffer.from(found.text).toString()).toBe(`gone\n${TEN}`);
    });

    test("have git's line ends as a checkout has them, and no text where a filter makes it", async () => {
      git("config", "core.autocrlf", "true");
      git("config", "filter.made.clean", `touch ${world.path("ran")}; cat`);
      git("config", "filter.made.required", "true");
      write("keep", TEN.replaceAll("\n", "\r\n"));
      write("a", TEN.replaceAll("\n", "\r\n").replace("line 2", "LINE 2"));
      write(".git/info/attributes", "old filter=made\n");
      write("old", "other\n");
      expect(await files()).toEqual([
        { name: "a", kind: "changed", hunks: 1 },
        { name: "old", kind: "binary", hunks: 0, binary: true },
      ]);
      expect(world.read("ran")).toBeUndefined();
    });

    test("are read one by one where git has lost one, or a name has two lines", async () => {
      symlinkSync("a", join(root, "link"));
      const head = commit({ "two\nlines": TEN, b: `b\n${TEN}`, c: "c" });
      git("branch", "-f", "main", "HEAD");
      const lost = git("rev-parse", "HEAD:b");
      rmSync(join(root, ".git/objects", lost.slice(0, 2), lost.slice(2)));
      const texts = (...names: string[]) => {
        const found = Git.in(root)?.wait(committedFiles(head, names));
        return names.map((name) => {
          const bytes = found?.get(name)?.bytes;
          return bytes && Buffer.from(bytes).toString();
        });
      };
      expect(texts("a", "b", "c", "link")).toEqual([TEN, undefined, "c", "a"]);
      expect(texts("a", "c", "two\nlines")).toEqual([TEN, "c", TEN]);
      write("b", "other\n");
      const advice = `git diff ${git("rev-parse", "main")} may say why, or fetch what is missing`;
      expect(await outcomeOf(list())).toThrow(advice);
    });

    test("no program of the repository's configuration runs", async () => {
      const touch = `touch ${world.path("ran")}`;
      for (const name of ["core.fsmonitor", "diff.external", "diff.x.command", "diff.x.textconv"]) {
        git("config", name, touch);
      }
      write(".gitattributes", "* diff=x\n");
      write("a", "other\n");
      expect(await files()).toHaveLength(2);
      expect(world.read("ran")).toBeUndefined();
    });

    nightly.test(
      "of submodules are left out, and so are other repositories and what is not checked out",
      async () => {
        const inner = join(world.root, "inner");
        mkdirSync(inner);
        Bun.spawnSync(["git", "-C", inner, "init", "-q"]);
        const who = ["-c", "user.name=a", "-c", "user.email=b"];
        Bun.spawnSync(["git", "-C", inner, ...who, "commit", "-q", "--allow-empty", "-m", "x"]);
        git("submodule", "--quiet", "add", inner, "sub");
        commit({ a: "other\n", "far/b": TEN });
        git("worktree", "add", "-q", "tree");
        git("sparse-checkout", "set", "--no-cone", "/a", "/sub", "/.gitmodules");
        const { files: all, incomplete } = await list();
        expect(all.map(shown).map(({ name }) => name)).toEqual([".gitmodules", "a"]);
        expect(incomplete).toEqual(["the submodule sub is left out"]);
      },
    );

    test("are those of the folders that are named", async () => {
      commit({ a: "other\n", "src/b": TEN, "src/c": TEN });
      expect(await files("main", { paths: [join(root, "src")] })).toEqual([
        { name: "src/b", kind: "created", hunks: 1 },
        { name: "src/c", kind: "created", hunks: 1 },
      ]);
      expect(await files("main", { paths: [root] })).toHaveLength(3);
      expect(await files("main", { paths: [join(world.root, "elsewhere")] })).toEqual([]);
    });

    test("behind a symlink that took the place of their folder are deleted", async () => {
      commit({ "dir/passwd": TEN });
      rmSync(join(root, "dir"), { recursive: true });
      symlinkSync("/etc", join(root, "dir"));
      expect(await files("HEAD")).toEqual([
        { name: "dir", kind: "created", hunks: 1 },
        { name: "dir/passwd", kind: "deleted", hunks: 1 },
      ]);
    });

    test("are listed, too, if git was told not to look at them", async () => {
      commit({ a: TEN, b: TEN, "src/c": TEN });
      git("update-index", "--assume-unchanged", "a", "b");
      git("update-index", "--skip-worktree", "src/c");
      write("a", "other\n");
      write("src/c", "other\n");
      expect((await files("HEAD")).map(({ name }) => name)).toEqual(["a", "src/c"]);
      const paths = [join(root, "src")];
      expect((await files("HEAD", { paths })).map(({ name }) => name)).toEqual(["src/c"]);
    });

    nightly.test("more than 2000 are cut, which is said", async () => {
      for (let i = 0; i < 2001; i++) write(`many/${i}`, "");
      const { files: all, incomplete } = await list();
      expect(all).toHaveLength(2000);
      expect(incomplete).toEqual(["only 2000 of 2001 files are listed: name a folder of them"]);
    });

    test("follow the texts of buffers, the disk, the index and the branch", async () => {
      const texts = (name: string, text: string) => ({
        texts: [{ path: join(root, name), text: Buffer.from(text).toString("base64") }],
      });
      expect(await files("main", texts("a", TEN.replace("line 3\n", "")))).toEqual([
        { name: "a", kind: "changed", hunks: 1 },
      ]);
      expect((await file("a", `more\n${TEN}`))?.hunks.map(({ new: rows }) => rows)).toEqual([
        [1, 1],
      ]);
      expect(await file("a", TEN)).toBeUndefined();
      expect(await file("../outside", TEN)).toBeUndefined();
      expect(await files()).toEqual([]);
      write("a", "other\n");
      chmodSync(join(root, "a"), 0o755);
      expect(await files()).toEqual([
        { name: "a", kind: "changed", hunks: 1, mode: [0o644, 0o755] },
      ]);
      write("a", TEN);
      chmodSync(join(root, "a"), 0o644);
      expect(await files()).toEqual([]);
      commit({ a: "other\n" });
      expect(await files()).toHaveLength(1);
      git("branch", "-f", "main", "HEAD");
      expect(await files()).toEqual([]);
    });

    nightly.test("are read once by many who ask at the same time", async () => {
      commit({ a: "other\n", "src/b": TEN });
      const all = await Promise.all(Array.from({ length: 10 }, () => list()));
      expect(new Set(all.map(({ version }) => version)).size).toBe(1);
      expect(await outcomeOf(list("nowhere"))).toThrow("of the name nowhere");
      expect(await files()).toHaveLength(2);
    });

    test("the journal's are others, and an answer about the one is none about the other", async () => {
      write("b", "");
      const branch = await list();
      const review = (await world.service.answer("list", { known: branch.version })) as Listed;
      expect(review.files).toEqual([]);
      expect(review.since).toBeUndefined();
      expect(
        await world.service.answer("list", { branch: { root }, known: branch.version }),
      ).toEqual({
        unchanged: true,
      });
    });
  });
});
