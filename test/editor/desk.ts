import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lockFiles } from "../genuine/lock-file";
import { Neovim } from "../genuine/neovim";
import { TestClient } from "../support/client";
import { eventually } from "../support/eventually";

type Options = Omit<Parameters<typeof Neovim.start>[0], "project" | "home" | "files">;

/** What a user sits at: main.txt in a Neovim in a terminal; and a client at the executable's socket. */
export async function desk(options: Options, text: string) {
  const root = await realpath(await mkdtemp(join(tmpdir(), "desk-")));
  const [project, home] = [join(root, "project"), join(root, "home")];
  for (const folder of [project, join(home, "tmp"), join(home, "run")])
    await mkdir(folder, { recursive: true });
  const main = join(project, "main.txt");
  await writeFile(main, text);
  const neovim = await Neovim.start({ ...options, project, home, files: [main] });
  const lock = await eventually("a lock file", async () => (await lockFiles(home))[0] ?? false);
  const client = await TestClient.open(lock, "claude-code");
  return {
    neovim,
    client,
    main,
    async [Symbol.asyncDispose]() {
      client.close();
      await neovim.close();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
