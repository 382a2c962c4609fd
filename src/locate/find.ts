import { EditorBusyError, EditorRefusal } from "../editor/port";
import type { Log } from "../lib/log";
import { Plugin } from "../neovim/plugin";
import { objection } from "../neovim/socket";
import type { Tie } from "./binding";
import { candidates } from "./candidates";

/** A local socket answers at once or not at all. */
const CONNECT_MS = 500;
/** Neovim answers within a few ms unless it is busy. */
const ANSWER_MS = 1_000;

/** What Neovim said to the first call, and the connection for further ones. */
export interface Reached {
  plugin: Plugin;
  value: unknown;
}

/**
 * Finds the Neovim for a CLI that works in `places` and asks it a first question. Undefined, with
 * the reasons in the log, if there is none; rejects with EditorBusyError if it does not answer, and
 * with EditorRefusal. The one that was found is kept to by `tie`.
 */
export async function reach(
  places: readonly string[],
  method: string,
  params: object,
  log: Log,
  tie?: Tie,
): Promise<Reached | undefined> {
  for (const { address, origin } of candidates(places, tie)) {
    const reason = objection(address);
    if (reason) {
      log.warn(`Not used: ${address} (by ${origin}): ${reason}`);
      continue;
    }
    let plugin: Plugin | undefined;
    try {
      plugin = await Plugin.connect(address, CONNECT_MS);
      const value = await plugin.call(method, params, ANSWER_MS);
      tie?.set(address);
      return { plugin, value };
    } catch (error) {
      plugin?.close();
      if (error instanceof EditorBusyError || error instanceof EditorRefusal) throw error;
      log.warn(
        `Not used: ${address} (by ${origin}): ${error instanceof Error ? error.message : error}`,
      );
    }
  }
  return undefined;
}
