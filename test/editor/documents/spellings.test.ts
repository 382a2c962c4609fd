import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { claims, lacks, onEachNeovim } from "#test";
import { resolvePath, resolveUri } from "../../../src/editor/path";
import { realPath } from "../../../src/lib/paths";
import { dirname, isAbsolute, join, normal } from "../../../src/lib/platform";
import { tries } from "../../fuzz/effort";
import { disguises, spellings, uris } from "../../support/spellings";

/* Both borders, that of the executable and that of the editor, find the same file behind a path. */
const SECRET = "TOKEN=very-secret-value\n";
const FILES = [
  ".env",
  "keys/id_rsa",
  "a b/[1]/server.pem",
  "\u00fcber/%2e.key",
  "u\u0308ber/100%.env",
];
const LINKS: [name: string, target: string][] = [
  ["innocent.txt", ".env"],
  ["folder", "keys"],
  ["sub/up", ".."],
  ["sub/twice.md", "up/innocent.txt"],
  ["loop", "loop"],
  ["gone.txt", "nowhere/.env"],
];
/** Names of links that lead to a private file. */
const OVER_LINKS = lacks("symlinks")
  ? []
  : ["innocent.txt", "folder/id_rsa", "sub/up/.env", "sub/twice.md", "gone.txt"];

onEachNeovim((session) => {
  let root: string;
  beforeAll(() => {
    root = session.neovim.cwd;
    for (const name of [...FILES, "main.lua"]) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), name === "main.lua" ? "public\n" : SECRET);
    }
    mkdirSync(join(root, "sub"), { recursive: true });
    if (OVER_LINKS.length > 0)
      for (const [name, target] of LINKS) symlinkSync(target, join(root, name));
  });

  const one = (names: string[]) => fc.constantFrom(...names.map((name) => join(root, name)));
  const sample = <T>(arbitrary: fc.Arbitrary<T>) =>
    fc.sample(arbitrary, { numRuns: tries(300), seed: 20_261_123 });
  /** Answers for all paths in one call, since each call takes a round trip. */
  const inLua = <T>(source: string, paths: string[]) =>
    session.neovim.lua<T[]>(`return vim.tbl_map(function(path) return ${source} end, ...)`, paths);

  test("finds the same file behind every spelling on both borders", async () => {
    claims("No spelling makes a private file public");
    const names = [...FILES, ...OVER_LINKS, "main.lua", "sub/loop/x", "missing/name.txt"];
    const paths = sample(
      one(names).chain((path) => fc.oneof(spellings(path, root), disguises(path))),
    );
    const absolute = paths.map((path) => (isAbsolute(path) ? path : `${root}/${path}`));
    const found = await inLua<string>(`require("port").paths.real(path)`, absolute);
    expect(found).toEqual(paths.map((path) => realPath(resolvePath(path, root))));
    for (const [i, path] of found.entries()) {
      const name = names.find((known) => join(root, known) === resolvePath(paths[i] ?? "", root));
      if (name && existsSync(join(root, name)))
        expect(path).toBe(normal(realpathSync(join(root, name))));
    }
  });

  test("keeps a private file private in every spelling, disguise and URI", async () => {
    const paths = sample(
      fc.oneof(
        one([...FILES, ...OVER_LINKS]).chain((path) => spellings(path, root)),
        one(FILES).chain(disguises),
        one([...FILES, ...OVER_LINKS])
          .chain(uris)
          .map((uri) => resolveUri(uri)[0]?.path ?? ""),
      ),
    );
    const verdicts = await inLua<boolean>(`require("port").privacy.is_private(path)`, paths);
    expect(paths.filter((_, i) => !verdicts[i])).toEqual([]);
  });

  test("gives no resource with the text of a private file, however its URI is written", async () => {
    for (const name of FILES) await session.edit(join(root, name));
    const asked = sample(one([...FILES, ...OVER_LINKS]).chain(uris)).slice(0, tries(60));
    for (const uri of asked) {
      const answer = await session.client
        .request("resources/read", { uri })
        .then(JSON.stringify, String);
      expect([uri, answer]).toEqual([uri, expect.not.stringContaining("very-secret-value")]);
    }
  });
});
