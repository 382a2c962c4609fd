import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import {
  claims,
  EXECUTABLE,
  eventually,
  isolatedEnv,
  NEOVIMS,
  needs,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { basename, join } from "../../src/lib/platform";
import { onPath } from "../../src/lib/programs";
import { Attached } from "../editor/attached";

/** Programs that the plugin and the executable look up, and interpreters that npm's `claude` looks up. */
const NAMES = ["claude", "git", "tmux", "curl", "sha256sum", "tar", "sh", "env", "node"];

/** A project with its own of each program, which leaves a mark when it runs. */
function plant(project: string): void {
  mkdirSync(join(project, "tools"));
  for (const name of NAMES) {
    const script = `#!/bin/sh\necho ${name} >>'${join(project, "ran")}'\n`;
    for (const folder of [".", "tools"]) {
      writeFileSync(join(project, folder, name), script, { mode: 0o755 });
    }
  }
}

const project = temporaryFolder();
beforeAll(() => plant(project));

const entries: [what: string, entry: string][] = [
  ["a dot", "."],
  ["an empty one", ""],
  ["a folder of the project", "tools"],
  ["with a slash after it", "./tools/"],
  ["through the parent", `../${basename(project)}`],
];
const named = (entry: string) =>
  entry === "" ? "the empty entry of $PATH" : `the relative entry \`${entry}\` of $PATH`;

describe.each(NEOVIMS)("an entry of $PATH that is not absolute, in $name", (version) => {
  test.concurrent.each(entries)("runs nothing by %s, and says why", async (_, entry) => {
    claims("A project's programs are not run");
    await using a = await Attached.start({
      version,
      cwd: project,
      env: { PATH: `/nonexistent:${entry}`, TMUX: "x" },
    });
    await a.attach();
    const reported = async (name: string) =>
      eventually(name, async () => {
        const messages = (await a.messages()).replaceAll("\n", "");
        expect(messages).toContain(`\`${name}\` is not run: only ${named(entry)} leads to it`);
        expect(messages).toContain("where a project could put a program of its own");
      });
    await a.nvim.command("Claude");
    await reported("claude");
    const message = await a.nvim.lua<string>(
      `return select(2, require("port").tmux.open({ command = { "/bin/cat" }, env = {}, folder = "/" }))`,
    );
    expect(message).toContain("`tmux` is not run");
    expect(existsSync(a.path("ran"))).toBe(false);
  });

  test("gives npm's `claude` in the terminal no interpreter of the project's", async () => {
    claims("A project's programs are not run");
    const bin = temporaryFolder();
    writeFileSync(join(bin, "claude"), "#!/usr/bin/env node\n", { mode: 0o755 });
    const mark = join(bin, "ran");
    writeFileSync(join(bin, "node"), `#!/bin/sh\necho "$PATH" >'${mark}'\n`, { mode: 0o755 });
    await using neovim = await TestNeovim.start({
      version,
      cwd: project,
      ui: { width: 100, height: 30 },
      env: { PATH: `.:tools:${bin}:/usr/bin:/bin` },
    });
    await neovim.command("Claude");
    const path = await eventually("the interpreter", () => {
      const text = existsSync(mark) ? readFileSync(mark, "utf8") : "";
      return text.endsWith("\n") && text.trim();
    });
    expect(path).toBe(`${bin}:/usr/bin:/bin:.:tools`);
    expect(existsSync(join(project, "ran"))).toBe(false);
  });
});

describe("the executable", () => {
  const bin = temporaryFolder();
  const run = async (PATH: string, ...args: string[]) => {
    const child = Bun.spawn([EXECUTABLE, ...args], {
      cwd: project,
      env: { ...isolatedEnv(temporaryFolder()), PATH },
      stdin: "ignore",
      stderr: "inherit",
    });
    return new Response(child.stdout).text();
  };

  test.each(entries)("runs no `claude` by %s, and says why", async (_, entry) => {
    const why = `\`claude\` is not run: only ${named(entry)} leads to it`;
    expect(await run(`${entry}:/nonexistent`, "doctor")).toContain(why);
    expect(onPath("claude", { PATH: "/none" })).toHaveProperty("why", "`claude` is not on $PATH");
    expect(existsSync(join(project, "ran"))).toBe(false);
  });

  needs("symlinks")("gives npm's `claude` no interpreter of the project's", async () => {
    writeFileSync(join(bin, "claude"), "#!/usr/bin/env node\n", { mode: 0o755 });
    symlinkSync("/bin/sh", join(bin, "node"));
    await run(`.:${bin}:/usr/bin:/bin`, "doctor");
    expect(existsSync(join(project, "ran"))).toBe(false);
  });
});
