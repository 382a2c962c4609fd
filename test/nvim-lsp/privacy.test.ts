import { renameSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { claims, isolatedEnv, NEOVIMS } from "#test";
import { tries } from "../fuzz/effort";
import { Project } from "../hooks/project";
import { disguises, spellings, uris } from "../support/spellings";
import { call, connect } from "./client";

/* No spelling of a private file's path gives its text, whether anybody has it open or not. */
const SECRET = "ERROR=very-secret-value";
const FILES = [".env", "sub/.Env.local", "keys/id_rsa", ".ssh/config", "up/server.pem.bak"];

/** Ways to name one file, by its name below the project. */
const SPELLINGS: [string, (name: string, folder: string) => string][] = [
  ["as it is", (name) => name],
  ["absolute", (name, folder) => join(folder, name)],
  ["with a slash behind", (name) => `${name}/`],
  ["with slashes behind", (name, folder) => `${join(folder, name)}///`],
  ["with a dot behind", (name) => `${name}/.`],
  ["with dots behind", (name, folder) => `${folder}/${name}/././`],
  ["up and down", (name) => `${name}/../${basename(name)}`],
  ["up and down, with a slash", (name) => `${name}/x/../../${basename(name)}/`],
  ["doubled slashes", (name, folder) => join(folder, name).replaceAll("/", "//")],
  ["dots between", (name) => `./././${name.replaceAll("/", "/./")}/.`],
  ["the project by another way", (name, folder) => `/proc/self/root${folder}/${name}/.`],
  ["a link", (name) => `link-${basename(name)}`],
  ["a link with a slash", (name) => `link-${basename(name)}/`],
  ["a link to a link", (name) => `./second-${basename(name)}/.`],
  ["a URI", (name, folder) => `file://${folder}/${name}`],
  ["percent signs", (name) => name.replaceAll(".", "%2E")],
  ["a URI with percent signs", (name, folder) => `file://${folder}/${name.replaceAll("e", "%65")}`],
  ["backslashes", (name) => name.replaceAll("/", "\\")],
  ["capitals", (name) => name.toUpperCase()],
];

describe.each(NEOVIMS)("nvim-lsp with $name", (version) => {
  let project: Project;
  let client: Awaited<ReturnType<typeof connect>>;

  beforeAll(async () => {
    project = await Project.open(version);
    for (const name of FILES) {
      const path = project.write(name, `${SECRET}\n`.repeat(30));
      symlinkSync(path, project.path(`link-${basename(name)}`));
      symlinkSync(`./link-${basename(name)}`, project.path(`second-${basename(name)}`));
    }
    await project.neovim.command(`edit ${project.write("main.lua", "fine\n")}`);
    client = await connect(project.folder, isolatedEnv(project.neovim.home));
  });
  afterAll(async () => {
    await client.close();
    await project[Symbol.asyncDispose]();
  });

  /** Does an answer hold the text, or one that lists files the name? */
  async function leaks(path: string, name: string): Promise<boolean> {
    const lists = [
      await call(client, "get_diagnostics", { file_paths: [path] }),
      await call(client, "get_diagnostics"),
      await call(client, "get_diagnostic_summary"),
      await call(client, "editor_buffers", { include_special: true }),
    ];
    const context = await call(client, "get_diagnostic_context", { file_path: path, line: 20 });
    return (
      JSON.stringify(lists).includes(basename(name)) ||
      JSON.stringify([lists, context]).includes("very-secret-value")
    );
  }

  async function leaking(): Promise<string[]> {
    const found: string[] = [];
    for (const name of FILES) {
      for (const [how, spell] of SPELLINGS) {
        if (await leaks(spell(name, project.folder), name)) found.push(`${name} ${how}`);
      }
    }
    return found;
  }

  test("of files that nobody has open", async () => {
    expect(await leaking()).toEqual([]);
  });

  test("of files that nobody has open, in spellings that nobody wrote down", async () => {
    claims("No spelling makes a private file public");
    const path = fc.constantFrom(...FILES.map((name) => project.path(name)));
    const asked = fc.sample(
      path.chain((one) => fc.oneof(spellings(one, project.folder), disguises(one), uris(one))),
      { numRuns: tries(50), seed: 20_261_123 },
    );
    // As many as one call may name.
    for (let at = 0; at < asked.length; at += 50) {
      const file_paths = asked.slice(at, at + 50);
      const answer = JSON.stringify(await call(client, "get_diagnostics", { file_paths }));
      expect(answer).not.toContain("very-secret-value");
    }
    for (const file_path of asked) {
      const answer = await call(client, "get_diagnostic_context", { file_path, line: 20 });
      expect([file_path, JSON.stringify(answer)]).toEqual([
        file_path,
        expect.not.stringContaining("very-secret-value"),
      ]);
    }
  });

  test("of a file whose name leads now to a public one, now to a private one", async () => {
    const [link, draft] = [project.path("now.txt"), project.path("draft.txt")];
    const targets = [project.write("public.txt", "fine\n".repeat(30)), project.path(".env")];
    let swaps = 0;
    const swap = () => {
      symlinkSync(targets[swaps++ % 2] as string, draft);
      renameSync(draft, link);
    };
    swap();
    await project.neovim.command(`edit ${link}`);
    using swapping = new DisposableStack();
    swapping.adopt(setInterval(swap, 1), clearInterval);
    for (let round = 0; round < tries(40) || swaps <= 50; round++) {
      const answers = [
        await call(client, "get_diagnostics", { file_paths: [link] }),
        await call(client, "get_diagnostic_context", { file_path: link, line: 20 }),
        await call(client, "editor_context", { lines_before: 50, lines_after: 50 }),
      ];
      expect(JSON.stringify(answers)).not.toContain("very-secret-value");
      if (round % 2 === 0) await project.neovim.command("silent! checktime");
      else await project.neovim.command("silent! edit");
    }
  });

  test("of files that are open", async () => {
    for (const name of FILES) {
      await project.neovim.command(`edit ${project.path(name)}`);
      await project.neovim.command(`edit ${project.path(`second-${basename(name)}`)}`);
    }
    await project.neovim.command("edit main.lua");
    await Bun.sleep(50);
    expect(await leaking()).toEqual([]);
  });
});
