import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { NEWEST, ROOT, temporaryFolder } from "#test";
import { drifted, generatedFiles } from "../../scripts/docs";
import { WIDTH } from "../../scripts/docs/vimdoc";
import { join } from "../../src/lib/platform";

const { binary } = NEWEST;
const DOC = join(ROOT, "doc");

const neovim = (command: string) =>
  Bun.spawnSync([binary, "--clean", "--headless", command, "+qa!"], { stdin: "ignore" });

test("generated files match the options, commands and tools: otherwise run `bun run docs`", () => {
  expect(drifted(generatedFiles(binary))).toEqual([]);
});

describe("doc/", () => {
  test("has no tag twice, and no link without a target", () => {
    const folder = temporaryFolder();
    try {
      cpSync(DOC, folder, { recursive: true });
      const quoted = folder.replaceAll("'", "''");
      const { stderr } = neovim(`+exe 'helptags ' .. fnameescape('${quoted}')`);
      expect(stderr.toString()).toBe("");
      const known = new Set([...tags(join(folder, "tags")), ...neovimTags()]);
      const links = [...helpTexts()].flatMap(([, text]) =>
        [...withoutCode(text).matchAll(/(?<=^|[\s(,])\|([^\s|]+)\|/gm)].map((match) => match[1]),
      );
      expect(links.length).toBeGreaterThan(20);
      expect(links.filter((link) => !known.has(link as string))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("has its tags after a build, for those who clone it into a package of their own", () => {
    expect(tags(join(DOC, "tags"))).toContain("claude-code-setup");
  });

  test("fits into a help window", () => {
    for (const [name, text] of helpTexts()) {
      const long = text.split("\n").filter((line) => line.length > WIDTH + 12);
      expect([name, long]).toEqual([name, []]);
    }
  });
});

function* helpTexts(): Generator<[string, string]> {
  for (const name of readdirSync(DOC).filter((entry) => entry.endsWith(".txt"))) {
    yield [name, readFileSync(join(DOC, name), "utf8")];
  }
}

/** Without the blocks between `>` and `<`, in which a bar means nothing. */
function withoutCode(text: string): string {
  return text.replaceAll(/ ?>\w*\n(?:[ \t].*\n|\n)*/g, "\n");
}

function tags(path: string): string[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .map((line) => line.split("\t")[0] ?? "");
}

function neovimTags(): string[] {
  const { stdout } = neovim("+lua io.write(vim.env.VIMRUNTIME)");
  return tags(join(stdout.toString(), "doc/tags"));
}
