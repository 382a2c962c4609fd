import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { lockFolder } from "../ide/lock-file";
import { message } from "../lib/errors";
import { isThere } from "../lib/paths";
import { checkCli, checkProxy, foreignTerminal } from "./check-cli";
import type { Facts } from "./facts";
import { error, type Finding, note, ok } from "./finding";

/** In the remote: does a CLI that is started here find the relay? */
export function* checkRelay(facts: Facts): Generator<Finding> {
  const unwritable = writable(lockFolder());
  const found = [checkCli(facts), unwritable, checkProxy(facts), foreignTerminal(facts)];
  yield* found.filter((one) => one !== undefined);
  const relay = facts.locks.find(({ pid, alive }) => alive && pid === undefined);
  if (relay) yield ok(`a relay runs here, on port ${relay.port}, for ${relay.folders.join(", ")}`);
  else yield note("no relay runs here: :Claude starts one from Neovim, by remotes.NAME.relay");
  if (process.getuid?.() === 0) yield note("this is root: files that Claude writes belong to root");
}

function writable(folder: string): Finding | undefined {
  let nearest = folder;
  while (!isThere(nearest)) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.W_OK);
    return undefined;
  } catch (problem) {
    const what = `no lock file can be written to ${folder}, so no CLI finds the relay: ${message(problem)}`;
    return error("lock-folder", what, "mount a folder there that can be written");
  }
}
