import { renameSync, symlinkSync } from "node:fs";
import fc from "fast-check";
import { claims, isolatedEnv, lacks, NEOVIMS, needs } from "#test";
import { basename } from "../../src/lib/platform";
import { tries } from "../fuzz/effort";
import { Project } from "../hooks/project";
import { disguises, spellings, uris } from "../support/spellings";
import { call, connect } from "./client";

/* No spelling of a private file's path gives its text, whether or not the file is open. */
const SECRET = "very-secret-value";
const LINKS = lacks("symlinks") ? [] : ["link-", "second-"];
const FILES = [".env", "sub/.Env.local", "keys/id_rsa", ".ssh/config", "up/server.pem.bak"];

describe.each(NEOVIMS)("nvim-lsp with $name", (version) => {
  let project: Project;
  let client: Awaited<ReturnType<typeof connect>>;

  beforeAll(async () => {
    project = await Project.open(version);
    for (const name of FILES) {
      const path = project.write(name, `ERROR=${SECRET}\n`.repeat(30));
      if (LINKS.length === 0) continue;
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

  const linked = FILES.flatMap((name) =>
    ["", ...LINKS].map((kind) => (kind ? `${kind}${basename(name)}` : name)),
  );

  /** Asks for the files in many spellings, and for lists of files. */
  async function expectNothing(): Promise<void> {
    const path = fc.constantFrom(...linked.map((name) => project.path(name)));
    const asked = fc.sample(
      path.chain((one) => fc.oneof(spellings(one, project.folder), disguises(one), uris(one))),
      { numRuns: tries(50), seed: 20_261_123 },
    );
    // As many as one call may name.
    for (let at = 0; at < asked.length; at += 50) {
      const file_paths = asked.slice(at, at + 50);
      const answer = JSON.stringify(await call(client, "get_diagnostics", { file_paths }));
      expect(answer).not.toContain(SECRET);
    }
    for (const file_path of asked) {
      const answer = await call(client, "get_diagnostic_context", { file_path, line: 20 });
      expect([file_path, JSON.stringify(answer)]).toEqual([
        file_path,
        expect.not.stringContaining(SECRET),
      ]);
    }
    const lists = JSON.stringify([
      await call(client, "get_diagnostics"),
      await call(client, "get_diagnostic_summary"),
      await call(client, "editor_buffers", { include_special: true }),
    ]);
    for (const name of [SECRET, ...FILES]) expect(lists).not.toContain(basename(name));
  }

  test("gives no part of files that are not open, in any spelling", async () => {
    claims("No spelling makes a private file public");
    await expectNothing();
  });

  needs("symlinks")(
    "gives no part of a file whose name leads alternately to a public and a private file",
    async () => {
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
        expect(JSON.stringify(answers)).not.toContain(SECRET);
        if (round % 2 === 0) await project.neovim.command("silent! checktime");
        else await project.neovim.command("silent! edit");
      }
    },
  );

  test("gives no part of open files", async () => {
    for (const name of FILES) {
      await project.neovim.command(`edit ${project.path(name)}`);
      for (const kind of LINKS)
        await project.neovim.command(`edit ${project.path(`${kind}${basename(name)}`)}`);
    }
    await project.neovim.command("edit main.lua");
    await Bun.sleep(50);
    await expectNothing();
  });
});
