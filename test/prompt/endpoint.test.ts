import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { needs, nightly, restoresEnv, temporaryFolder } from "#test";
import { dirname, IS_WINDOWS, join } from "../../src/lib/platform";
import { PromptEndpoint } from "../../src/prompt/endpoint";

let folder: string;
let endpoint: PromptEndpoint;
restoresEnv("PATH", "CLAUDE_CONFIG_DIR");
beforeEach(() => {
  folder = temporaryFolder();
  process.env.CLAUDE_CONFIG_DIR = join(folder, "claude");
  endpoint = new PromptEndpoint();
});

const git = (args: string[], input = "") =>
  execFileSync("git", ["-c", "user.email=a@b", "-c", "user.name=n", ...args], {
    cwd: folder,
    input,
    stdio: ["pipe", "pipe", "ignore"],
  });
const write = (name: string, text = "") => {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};
const asked = async (method: "files" | "commands", word = "") =>
  (await endpoint.requests[method]({ folder, word })) as { text: string; detail?: string }[];

describe("files", () => {
  test("leaves out private files, and no other", async () => {
    for (const name of ["a.ts", ".env", "b/.env", "b/c d.ts", ...(IS_WINDOWS ? [] : ['b/"c".ts'])])
      write(name);
    git(["init", "-q"]);
    expect((await asked("files")).map(({ text }) => text)).toEqual(["a.ts", "b/c d.ts"]);
    expect(await asked("files", ".env")).toEqual([]);
  });

  nightly.test("says that there are too many, and asks git once", async () => {
    git(["init", "-q"]);
    const blob = git(["hash-object", "-w", "--stdin"]).toString().trim();
    const all = Array.from({ length: 50_001 }, (_, i) => `100644 ${blob}\t${i % 100}/${i}\n`);
    git(["update-index", "--index-info"], all.join(""));
    const counted = join(folder, ".git/count");
    const bin = write(
      ".git/bin/git",
      `#!/bin/sh\necho "$@" >> '${counted}'\nexec '${Bun.which("git")}' "$@"\n`,
    );
    chmodSync(bin, 0o755);
    process.env.PATH = `${dirname(bin)}:${process.env.PATH}`;
    const lists = () => readFileSync(counted, "utf8").match(/ls-files/g)?.length;
    const item = { text: "12", detail: "this project has too many files" };
    const both = await Promise.all([asked("files", "12"), asked("files", "12")]);
    expect(both).toEqual([[item], [item]]);
    expect(lists()).toBe(1);
    expect(await asked("files", "12")).toEqual([item]);
    expect(lists()).toBe(1);
  });
});

needs("symlinks")("reads folders of commands once that links lead to", async () => {
  write(".claude/commands/a/release.md", "---\ndescription: 'Ship it'\n---\n");
  for (let i = 0; i < 200; i++) symlinkSync(".", join(folder, `.claude/commands/a/link${i}`));
  expect(await asked("commands", "/rel")).toEqual([{ text: "/release", detail: "Ship it" }]);
});

needs("symlinks")("reads no folder of thousands, and nothing that links lead to", async () => {
  write(".claude/commands/a/one.md");
  write("other/two.md");
  symlinkSync("../../other", join(folder, ".claude/commands/a/link"));
  symlinkSync("../../../other/two.md", join(folder, ".claude/commands/a/two.md"));
  mkdirSync(join(folder, ".claude/commands/many"));
  for (let i = 0; i < 4_000; i++) {
    symlinkSync("../a/one.md", join(folder, `.claude/commands/many/zz-that-is-not-read-${i}.md`));
  }
  expect(await asked("commands", "/zz")).toEqual([]);
  for (const text of ["/one", "/two"]) expect(await asked("commands", text)).toEqual([{ text }]);
});

needs("any bytes in a name")(
  "leaves out names with line ends, control and invisible characters",
  async () => {
    for (const name of ["zz", "zz\nrm", "zz\u001b[31m", "zz\u202e"]) {
      write(`.claude/commands/${name}.md`);
      write(`src/${name}`);
    }
    git(["init", "-q"]);
    expect(await asked("commands", "/zz")).toEqual([{ text: "/zz" }]);
    expect(await asked("files", "src/zz")).toEqual([{ text: "src/zz" }]);
  },
);
