import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { NeovimVersion } from "#test";
import { Claude } from "../support/claude";
import { newUser } from "../support/claude-home";
import { Model } from "../support/model";
import { type LockFile, lockFiles } from "./lock-file";
import { Neovim } from "./neovim";

/** A project, a home, and the three who meet there: the model's stand-in, Neovim, the CLI. */
export interface Bench {
  project: string;
  home: string;
  model: Model;
  neovim: Neovim;
  claude: Claude;
  lock: LockFile;
  /** Starts the CLI again, after `claude.close()`. */
  startClaude(): Promise<void>;
  dispose(): Promise<void>;
}

/** Both sides of a diff fit in the window of either of two files. */
const COLUMNS = 190;

/** Opens `files` side by side in Neovim, waits for its lock file and starts the CLI with its port. */
export async function startBench(
  version: NeovimVersion,
  files: Record<string, string>,
): Promise<Bench> {
  const undo: (() => unknown)[] = [];
  const dispose = async () => {
    for (const step of undo.reverse()) await step();
  };
  try {
    const { root, home, project } = await newUser(files);
    undo.push(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
    const paths = Object.keys(files).map((name) => join(project, name));
    const model = new Model();
    undo.push(() => model.stop());
    const neovim = await Neovim.start({ version, project, home, files: paths, columns: COLUMNS });
    undo.push(() => neovim.close());
    const lock = await neovim.eventually(
      "the lock file",
      async () => (await lockFiles(home))[0] ?? false,
    );
    const start = () => Claude.start({ project, model, port: lock.port, home });
    const bench = { project, home, model, neovim, claude: await start(), lock, dispose };
    undo.push(() => bench.claude.close());
    await bench.claude.waitForEditor();
    const startClaude = async () => {
      bench.claude = await start();
    };
    return Object.assign(bench, { startClaude });
  } catch (error) {
    await dispose();
    throw error;
  }
}
