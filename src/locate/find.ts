import { EditorBusyError, EditorRefusal } from "../editor/port";
import { message } from "../lib/errors";
import type { Log } from "../lib/log";
import type { Plugin } from "../neovim/plugin";
import type { Binding } from "./binding";
import { candidates } from "./candidates";
import { whyUnsafe } from "./socket";

/** Neovim answers within a few ms unless it is busy. */
const ANSWER_MS = 1_000;

/** What Neovim said to the first call, and the connection for further ones. */
export interface Found {
  plugin: Plugin;
  value: unknown;
}

/**
 * Finds the Neovim for a CLI that works in `places` and asks it a first question. Undefined, with
 * the reasons in the log, if there is none; rejects with EditorBusyError if it does not answer, and
 * with EditorRefusal. `binding` remembers the one that was found.
 */
export async function findNeovim(
  places: readonly string[],
  method: string,
  params: object,
  log: Log,
  binding?: Binding,
): Promise<Found | undefined> {
  for (const { address, origin } of candidates(places, binding)) {
    const reason = whyUnsafe(address);
    if (reason) {
      log.warn(`Not used: ${address} (by ${origin}): ${reason}`);
      continue;
    }
    let plugin: Plugin | undefined;
    try {
      // Loaded only here: a hook without a Neovim is done in two thirds of the time.
      const connection = await import("../neovim/plugin");
      plugin = await connection.Plugin.connect(address);
      const value = await plugin.call(method, params, ANSWER_MS);
      binding?.set(address);
      return { plugin, value };
    } catch (error) {
      plugin?.close();
      if (error instanceof EditorBusyError || error instanceof EditorRefusal) throw error;
      log.warn(`Not used: ${address} (by ${origin}): ${message(error)}`);
    }
  }
  return undefined;
}
