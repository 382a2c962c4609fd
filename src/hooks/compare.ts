import { existsSync } from "node:fs";
import { message } from "../lib/errors";
import type { Log } from "../lib/log";
import { join } from "../lib/platform";
import { noteIncomplete, reviewFolder } from "../review/journal/folder";
import { pruneSometimes } from "../review/journal/prune";
import type { Found } from "../review/record/compare";
import { compareInTurns } from "../review/record/comparison-request";
import { HookCall } from "./call";

/** For one comparison: Neovim loads each file. */
const MAX_FILES = 50;

/**
 * `hook compare ROOT`, which our hooks start in the background. It records the changes of the work tree that no record
 * explains, and makes Neovim check those files before Claude may end its turn. Never throws.
 */
export async function compare(root: string, log: Log): Promise<void> {
  try {
    for (let all = compareInTurns(root); all; all = compareInTurns(root)) {
      for (const found of all) await reportFound(root, found, log);
    }
    await pruneSometimes(reviewFolder(root), async () => {
      // Loaded only here: most comparisons prune nothing.
      const { waitingIn } = await import("../review/state/entry");
      return waitingIn(root);
    });
  } catch (error) {
    log.warn(`The work tree of ${root} was not compared: ${message(error)}`);
    noteIncomplete(reviewFolder(root));
  }
}

async function reportFound(
  root: string,
  { session, prompt, paths }: Found,
  log: Log,
): Promise<void> {
  const input = { session_id: session, cwd: root, prompt_id: prompt };
  const call = new HookCall(input, log);
  const present = paths.map((path) => join(root, path)).filter((path) => existsSync(path));
  try {
    for (const path of present.slice(0, MAX_FILES)) {
      await call.ask("session_edited", { path, created: false });
    }
  } catch (error) {
    log.info(`Neovim could not be informed of changed files: ${message(error)}`);
  } finally {
    call.close();
  }
}
